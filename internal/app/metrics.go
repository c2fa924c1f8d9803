package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"plaza/metrics"
	"plaza/storage"
)

// serveMetrics answers Prometheus on a separate listener, at the returned URL, until the returned
// function is called. The listener is separate because metrics are not public. An address of ""
// means no metrics.
func serveMetrics(ctx context.Context, addr string, m *metrics.Metrics) (at string, stop func(), err error) {
	if addr == "" {
		return "", func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("cannot listen for metrics on %s: %w", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      30 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // it always ends with http.ErrServerClosed
	}()
	at = "http://" + listener.Addr().String() + "/metrics"
	slog.InfoContext(ctx, "metrics are open", "metrics", at)
	return at, func() { _ = server.Close(); <-done }, nil
}

// newsPages returns what counts a store's pages of news; nil if it does not.
func newsPages(st storage.Store) func() (recent, older int64) {
	if counter, ok := st.(storage.NewsCounter); ok {
		return counter.NewsPages
	}
	return nil
}
