package accesslog

import (
	"context"
	"log/slog"
	"sync"

	"plaza/transport/request"
)

type recordKey struct{}

// record collects the attributes that the log shows for one HTTP request.
type record struct {
	id string

	mu    sync.Mutex
	attrs []slog.Attr
	ended bool
}

// recordOf returns the record of ctx's request; nil for an operation on a websocket, which has an
// id of its own.
func recordOf(ctx context.Context) *record {
	r, _ := ctx.Value(recordKey{}).(*record)
	if r == nil || r.id != request.ID(ctx) {
		return nil
	}
	return r
}

// add returns false if it is too late, or r is nil.
func (r *record) add(attrs ...slog.Attr) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.attrs = append(r.attrs, attrs...)
	}
	return !r.ended
}

// end returns the attributes that were added. Nothing can be added afterwards.
func (r *record) end() []slog.Attr {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.attrs
}
