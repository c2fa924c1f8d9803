package mongotest

import "go.mongodb.org/mongo-driver/v2/event"

// IsHeartbeat reports whether a command belongs to a store's heartbeat, which also looks for changed
// settings. It is sent at any time, beside everything else.
func IsHeartbeat(e *event.CommandStartedEvent) bool {
	collection, _ := e.Command.Lookup(e.CommandName).StringValueOK()

	return collection == "servers" || collection == "settings"
}
