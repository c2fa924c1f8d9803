package mdbtest

import (
	"context"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"
)

// Holder blocks commands on one collection until they are released, whatever their deadlines.
type Holder struct {
	Name, Collection string
	left             atomic.Int64 // how many more commands to block
	held             atomic.Int64
	released         chan struct{}
}

// NewHolder returns a Holder for commands with this name on a collection. It blocks nothing yet.
func NewHolder(name, collection string) *Holder {
	return &Holder{Name: name, Collection: collection, released: make(chan struct{})}
}

// Hold blocks the next n commands.
func (h *Holder) Hold(n int64) { h.left.Store(n) }

// Held returns how many commands are or were blocked.
func (h *Holder) Held() int64 { return h.held.Load() }

// Release lets all blocked commands continue.
func (h *Holder) Release() { close(h.released) }

// Started is for an event.CommandMonitor.
func (h *Holder) Started(_ context.Context, e *event.CommandStartedEvent) {
	if c, _ := e.Command.Lookup(e.CommandName).StringValueOK(); e.CommandName == h.Name && c == h.Collection {
		h.Wait()
	}
}

// Wait waits for the release if the command is to be blocked.
func (h *Holder) Wait() {
	if h.left.Add(-1) >= 0 {
		h.held.Add(1)
		<-h.released
	}
}
