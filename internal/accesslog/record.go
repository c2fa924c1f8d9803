package accesslog

import (
	"context"
	"log/slog"
	"slices"
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

// addOnce adds an attribute, unless r is nil or has one with its key.
func (r *record) addOnce(attr slog.Attr) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.attrs, func(a slog.Attr) bool { return a.Key == attr.Key }) {
		r.attrs = append(r.attrs, attr)
	}
}

// end returns the attributes that were added. Nothing can be added afterwards.
func (r *record) end() []slog.Attr {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.attrs
}
