package measure

import (
	"context"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"
)

// Wire counts the traffic between a store and MongoDB.
type Wire struct {
	commands, answered atomic.Int64
}

// Monitor counts a driver's commands when they are answered. It does not watch their start, because
// the driver would then copy each command, and the copying would be measured too.
func (w *Wire) Monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			w.commands.Add(1)
			w.answered.Add(int64(len(e.Reply)))
		},
		Failed: func(context.Context, *event.CommandFailedEvent) { w.commands.Add(1) },
	}
}

func (w *Wire) totals() (commands, answered int64) {
	if w == nil {
		return 0, 0
	}
	return w.commands.Load(), w.answered.Load()
}
