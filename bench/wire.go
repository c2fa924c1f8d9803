package bench

import (
	"context"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"
)

// Wire counts what goes between a store and MongoDB.
type Wire struct {
	commands, answered atomic.Int64
}

// Monitor tells the wire of a driver's commands.
func (w *Wire) Monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started:   func(context.Context, *event.CommandStartedEvent) { w.commands.Add(1) },
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { w.answered.Add(int64(len(e.Reply))) },
	}
}

func (w *Wire) totals() (commands, answered int64) {
	if w == nil {
		return 0, 0
	}
	return w.commands.Load(), w.answered.Load()
}
