package accesslog

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// logged serves a request, and returns these attributes from the log.
func logged(t *testing.T, handler http.HandlerFunc, change func(*http.Request), names ...string) map[string]any {
	t.Helper()
	var text strings.Builder
	l := &Log{Logger: slog.New(slog.NewJSONHandler(&text, nil)), Requests: true, Viewer: func(context.Context) string { return "" }}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	change(request)
	func() {
		defer func() { _ = recover() }() // as net/http does
		l.Around(handler).ServeHTTP(httptest.NewRecorder(), request)
	}()
	var record map[string]any
	if err := json.Unmarshal([]byte(text.String()), &record); err != nil {
		t.Fatalf("%v: %s", err, text.String())
	}
	found := map[string]any{}
	for _, name := range names {
		if value, ok := record[name]; ok {
			found[name] = value
		}
	}
	return found
}

// TestAuditWithoutRequest: what a command does has no request, so its record names none.
func TestAuditWithoutRequest(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	Audit(t.Context(), slog.New(slog.NewJSONHandler(&text, nil)), slog.String("act", "right granted"), slog.String("code", ""))
	if said := text.String(); !strings.Contains(said, `"act":"right granted"`) || strings.Contains(said, "requestId") || strings.Contains(said, "code") {
		t.Error(said)
	}
}

// TestOutcomes: the log contains the answer that a client got, not how its request was written.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	upgrade := func(r *http.Request) { r.Header.Set("Upgrade", "websocket") }
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		change  func(*http.Request)
		want    map[string]any
	}{
		"nothing written": {func(http.ResponseWriter, *http.Request) {}, func(*http.Request) {}, map[string]any{"status": 200.0}},
		"not upgraded":    {func(http.ResponseWriter, *http.Request) {}, upgrade, map[string]any{"status": 200.0}},
		"early hints": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		}, upgrade, map[string]any{"status": 418.0}},
		"cut": {cut, upgrade, map[string]any{"aborted": true}},
		"cut in the middle": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("half"))
			cut(w, r)
		}, func(*http.Request) {}, map[string]any{"aborted": true}},
	} {
		if diff := cmp.Diff(c.want, logged(t, c.handler, c.change, "status", "aborted")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTraces: a trace is recognized only in the form that the specification allows.
func TestTraces(t *testing.T) {
	t.Parallel()
	trace, span := strings.Repeat("0a", 16), strings.Repeat("b1", 8)
	for header, valid := range map[string]bool{
		"00-" + trace + "-" + span + "-01":                    true,
		"cc-" + trace + "-" + span + "-01":                    true,
		"cc-" + trace + "-" + span + "-01-later":              true,
		"00-" + trace + "-" + span + "-01-later":              false,
		"cc-" + trace + "-" + span + "-01later":               false,
		"ff-" + trace + "-" + span + "-01":                    false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":  false,
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": false,
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":   false,
		"00-" + trace + "-" + span:                            false,
		" 00-" + trace + "-" + span + "-01":                   false,
		"":                                                    false,
	} {
		want := map[string]any{}
		if valid {
			want["trace"] = trace
		}
		set := func(r *http.Request) { r.Header.Set("Traceparent", header) }
		if diff := cmp.Diff(want, logged(t, func(http.ResponseWriter, *http.Request) {}, set, "trace")); diff != "" {
			t.Errorf("%q: %s", header, diff)
		}
	}
}
