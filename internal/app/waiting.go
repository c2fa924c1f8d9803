package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"plaza/internal/front"
	"plaza/social"
	"plaza/storage"
)

const (
	// askAgainAfter is the pause between two attempts to use a database that does not answer. An
	// attempt takes some seconds.
	askAgainAfter = time.Second
	// stillWaitingEvery is how often the server logs that it still waits.
	stillWaitingEvery = 30 * time.Second
)

// awaitStore opens the database for the server, and waits for a database that does not answer.
// Meanwhile the server listens but is not ready; the front is then already open. It returns every
// error of the database except ErrUnavailable, and ctx's error.
func (c *Config) awaitStore(ctx context.Context, open func(context.Context) (storage.Store, error)) (storage.Store, *front.Front, error) {
	st, err := open(ctx)
	if err == nil || !errors.Is(err, social.ErrUnavailable) || ctx.Err() != nil {
		return st, nil, err
	}
	f, notListening := c.newFront(ctx)
	if notListening != nil {
		return nil, nil, notListening
	}
	err = c.tryAgain(ctx, f, err, func(ctx context.Context) (err error) {
		st, err = open(ctx)
		return err
	})
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return st, f, nil
}

// tryAgain repeats an operation that has failed with err until the database answers. Meanwhile the
// front is open, but not ready. It returns all errors except ErrUnavailable, and that one, too, if
// ctx has ended.
func (c *Config) tryAgain(ctx context.Context, f *front.Front, err error, try func(context.Context) error) error {
	f.Open(guarded(c.cors().Handler(http.HandlerFunc(notReady))))
	slog.WarnContext(ctx, "the database does not answer: waiting for it, not ready", "error", err, "addr", f.Address())
	logged := time.Now()
	for errors.Is(err, social.ErrUnavailable) && ctx.Err() == nil {
		if time.Since(logged) > stillWaitingEvery {
			slog.WarnContext(ctx, "still waiting for the database", "error", err)
			logged = time.Now()
		}
		pause(ctx, askAgainAfter)
		err = try(ctx)
	}
	if err == nil {
		slog.InfoContext(ctx, "the database answers")
	}
	return err
}

// newFront opens the listener. It answers nothing yet: connections wait.
func (c *Config) newFront(ctx context.Context) (*front.Front, error) {
	listener, err := front.Listen(ctx, c.Addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", c.Addr, err)
	}
	return front.New(listener), nil
}

// notReady answers requests for a server whose database does not answer yet.
func notReady(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/livez" {
		writeStatus(w, http.StatusOK, "ok")
		return
	}
	w.Header().Set("Retry-After", "5") // seconds
	writeStatus(w, http.StatusServiceUnavailable, "the database does not answer: this server waits for it")
}
