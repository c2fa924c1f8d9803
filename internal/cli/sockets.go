package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plaza/transport/connections"
)

// socketLimits returns the default limits of websockets, with the changes of --socket-limit.
func socketLimits(changes map[string]int) (connections.Limits, error) {
	limits := connections.Limits{
		Server: mostSockets(openFiles()), Client: 1000, SignedOut: 200, User: 100, Operations: 100, SignedOutOperations: 20,
	}
	byName := map[string]*int{
		"server": &limits.Server, "address": &limits.Client, "signed-out": &limits.SignedOut, "user": &limits.User,
		"operations": &limits.Operations, "signed-out-operations": &limits.SignedOutOperations,
	}
	for name, limit := range changes {
		switch changed := byName[name]; {
		case changed == nil:
			return limits, fmt.Errorf("--socket-limit (PLAZA_SOCKET_LIMITS): %q is not one of %s", name, strings.Join(slices.Sorted(maps.Keys(byName)), ", "))
		case limit < 0 || limit == 0 && strings.HasSuffix(name, "operations"):
			return limits, fmt.Errorf("--socket-limit (PLAZA_SOCKET_LIMITS): %s=%d is too low: use 0 (unlimited) or more, and for operations 1 or more", name, limit)
		default:
			*changed = limit
		}
	}
	return limits, nil
}

// mostSockets leaves file descriptors for requests, the database and the rest of the server:
// without a free one, new connections would wait instead of being refused. 0 files means that the
// number is unknown.
func mostSockets(files uint64) int {
	const others, most = 150, 1_000_000
	if files < 2*others {
		return int(files / 2)
	}
	return int(min((files-others)*3/4, most))
}
