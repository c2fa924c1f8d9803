package mdbtest

import (
	"context"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"
)

// Holder keeps commands on one collection from going on until they are released, whatever their
// deadlines.
type Holder struct {
	Name, Collection string
	left             atomic.Int64 // how many commands are still to be held
	held             atomic.Int64
	released         chan struct{}
}

// NewHolder holds nothing yet. It looks at the commands with this name on a collection.
func NewHolder(name, collection string) *Holder {
	return &Holder{Name: name, Collection: collection, released: make(chan struct{})}
}

// Hold holds n commands from now on.
func (h *Holder) Hold(n int64) { h.left.Store(n) }

// Held is how many commands are, or were, held.
func (h *Holder) Held() int64 { return h.held.Load() }

// Release lets all of them go on.
func (h *Holder) Release() { close(h.released) }

// Started is for an event.CommandMonitor.
func (h *Holder) Started(_ context.Context, e *event.CommandStartedEvent) {
	if c, _ := e.Command.Lookup(e.CommandName).StringValueOK(); e.CommandName == h.Name && c == h.Collection {
		h.Wait()
	}
}

// Wait waits for the release, if a command is to be held.
func (h *Holder) Wait() {
	if h.left.Add(-1) >= 0 {
		h.held.Add(1)
		<-h.released
	}
}
