package plazatest

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/social"
	"plaza/storage"
)

// afterWork delays requests until the background work is done, so that each request sees what
// earlier ones have written.
func afterWork(st storage.Store, next http.Handler) http.Handler {
	writes, isCounted := writesOf.Load(st)
	var idle atomic.Uint64 // how many writes had begun or ended when the last wait began; 0: never waited
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var now uint64
		if isCounted {
			now = writes.(*atomic.Uint64).Load()
		}
		if (now == 0 || now != idle.Load()) && awaitWork(r.Context(), st) {
			idle.Store(now)
		}
		next.ServeHTTP(w, r)
	})
}

// awaitWork waits until no work is left; false: that is unknown.
func awaitWork(ctx context.Context, st social.Worker) bool {
	const longest = 8 * time.Millisecond
	for pause := time.Millisecond; ; pause = min(2*pause, longest) { // the work needs the processor, too
		backlog, err := st.Backlog(ctx)
		if err != nil || backlog.Waiting == 0 {
			return err == nil
		}
		<-time.After(pause)
	}
}

// writesOf has, for each open store of MongoDB, the count of the writes to its database.
var writesOf sync.Map // storage.Store: *atomic.Uint64

// writesTo has the same counts by database: several stores may be open on one.
var writesTo sync.Map // string: *atomic.Uint64

// countingWrites counts commands that may add background work, once when they begin and once when
// they have succeeded, and passes everything on to the next monitor (nil: there is none).
func countingWrites(writes *atomic.Uint64, next *event.CommandMonitor) *event.CommandMonitor {
	count := func(command string) {
		switch command {
		case "insert", "update", "delete", "findAndModify", "commitTransaction":
			writes.Add(1)
		}
	}
	var all event.CommandMonitor
	if next != nil {
		all = *next
	}
	all.Started = both(func(_ context.Context, e *event.CommandStartedEvent) { count(e.CommandName) }, all.Started)
	all.Succeeded = both(func(_ context.Context, e *event.CommandSucceededEvent) { count(e.CommandName) }, all.Succeeded)
	return &all
}

// both calls one function and then the other, unless that is nil.
func both[E any](one, other func(context.Context, E)) func(context.Context, E) {
	if other == nil {
		return one
	}
	return func(ctx context.Context, e E) {
		one(ctx, e)
		other(ctx, e)
	}
}
