package app

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestMetricsHaveTheirOwnAddress serves metrics on another listener, and stops.
func TestMetricsHaveTheirOwnAddress(t *testing.T) {
	t.Parallel()
	at, stop, err := serveMetrics(t.Context(), "127.0.0.1:0", New(openFile(t), Config{}).Metrics)
	if err != nil {
		t.Fatal(err)
	}
	status := func() int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if got := status(); got != http.StatusOK {
		t.Errorf("%s: status %d", at, got)
	}
	stop()
	if got := status(); got != 0 {
		t.Errorf("%s: status %d after the end", at, got)
	}
}

func TestMetricsAddressThatIsTaken(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	addr := listener.Addr().String()
	if _, _, err := serveMetrics(t.Context(), addr, nil); err == nil || !strings.Contains(err.Error(), "metrics on "+addr) {
		t.Errorf("the error is %v", err)
	}
}
