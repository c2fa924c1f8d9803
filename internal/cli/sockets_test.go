package cli

import (
	"strings"
	"testing"
)

func TestSocketLimits(t *testing.T) {
	t.Parallel()
	got, err := socketLimits(map[string]int{"user": 7, "address": 0, "signed-out-operations": 3})
	if err != nil || got.User != 7 || got.Client != 0 || got.SignedOutOperations != 3 || got.Operations != 100 || got.Server == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for name, limit := range map[string]int{"usr": 5, "user": -1, "operations": 0, "signed-out-operations": 0} {
		if _, err := socketLimits(map[string]int{name: limit}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%d: %v", name, limit, err)
		}
	}
}

// TestMostSockets: there are always files for other things.
func TestMostSockets(t *testing.T) {
	t.Parallel()
	for files, want := range map[uint64]int{0: 0, 64: 32, 299: 149, 300: 112, 1024: 655, 1 << 20: 786_319, 1 << 63: 1_000_000} {
		if got := mostSockets(files); got != want {
			t.Errorf("with %d files there may be %d sockets, want %d", files, got, want)
		}
	}
}
