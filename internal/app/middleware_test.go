package app

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"plaza/internal/accesslog"
	"plaza/internal/testtime"
)

// TestEventsArriveAtOnce: nothing around the API holds back what a stream of events has flushed.
func TestEventsArriveAtOnce(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	events := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-seen
	})
	log := &accesslog.Log{Logger: slog.New(slog.DiscardHandler), Requests: true, Viewer: func(context.Context) string { return "" }}
	server := httptest.NewServer(log.Around(compressed(events)))
	defer server.Close()
	defer close(seen)
	ctx, cancel := context.WithTimeout(t.Context(), testtime.Patience())
	defer cancel()
	for _, accepted := range []string{"identity", "gzip"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", accepted)
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatalf("%s: %v", accepted, err)
		}
		line, err := bufio.NewReader(response.Body).ReadString('\n')
		if err != nil || line != ": hello\n" {
			t.Errorf("%s: %q, %v", accepted, line, err)
		}
		_ = response.Body.Close()
	}
}
