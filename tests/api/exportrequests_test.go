package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage"
)

// TestRequestsForExports: only a GET of a session gets an export.
func TestRequestsForExports(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	program := newAccessToken(t, ada, "WRITE_POSTS", "WRITE_GRAPH", "WRITE_PROFILE").program
	for _, c := range []struct {
		method, token, allow string
		want                 int
	}{
		{http.MethodGet, ada.Token, "", http.StatusOK},
		{http.MethodGet, program.Token, "", http.StatusForbidden},
		{http.MethodHead, ada.Token, "GET", http.StatusMethodNotAllowed},
		{http.MethodPost, ada.Token, "GET", http.StatusMethodNotAllowed},
		{http.MethodDelete, ada.Token, "GET", http.StatusMethodNotAllowed},
	} {
		response := requestExport(t, t.Context(), c.method, plazatest.Person{URL: plaza.URL, Token: c.token}, "")
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != c.want || response.Header.Get("Allow") != c.allow || strings.Contains(string(body), `"profile"`) != (c.want == http.StatusOK) {
			t.Errorf("%s: %d, Allow %q, want %d: %s, %v", c.method, response.StatusCode, response.Header.Get("Allow"), c.want, body, err)
		}
	}
}

// TestProgramsExportCommentsWithTheScope: without it, they would read comments on posts that are not
// public.
func TestProgramsExportCommentsWithTheScope(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	ada.Comment(t, ada.Status(t, "diary", map[string]any{"kind": "ONLY_ME"}), "note to self")
	for _, c := range []struct {
		scopes []string
		want   int
	}{
		{scopesWithout("READ_FEED"), http.StatusForbidden},
		{[]string{"READ_FEED"}, http.StatusOK},
	} {
		status, body := download(t, plaza.URL, "Bearer "+newAccessToken(t, ada, c.scopes...).program.Token)
		if status != c.want || strings.Contains(body, "note to self") != (c.want == http.StatusOK) {
			t.Errorf("with %v: %d %s, want %d", c.scopes, status, body, c.want)
		}
	}
}

func requestExport(t *testing.T, ctx context.Context, method string, p plazatest.Person, cursor string) *http.Response { //nolint:revive // ctx may end before the test
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, exportAt(p.URL, cursor), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// TestExportsAreLimited: a limit makes an export wait that has begun, and refuses those that have
// not.
func TestExportsAreLimited(t *testing.T) {
	t.Parallel()
	plaza := plazatest.ServeLimited(t, plazatest.Engines[0].Open(t))
	ada := plaza.As(t, "ada")
	lines := linesOf(t, plaza.URL, ada, "")
	// Nearly all pages are behind the last record, and have no record.
	last := lines[len(lines)-2].Cursor
	for range 100 {
		response := requestExport(t, t.Context(), http.MethodGet, ada, last)
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusTooManyRequests {
			if response.Header.Get("Retry-After") == "" {
				t.Error("the refusal has no Retry-After")
			}
			return
		}
		if response.StatusCode != http.StatusOK || string(body) != lines[len(lines)-1].text {
			t.Fatalf("status %d: %s", response.StatusCode, body)
		}
	}
	t.Error("no limit refuses an export")
}

// pausing is a store that, when it is armed, pauses the next read of circles until the reader
// leaves or the test resumes it.
type pausing struct {
	storage.Store
	armed                 atomic.Bool
	reached, resume, left chan struct{}
}

func newPausing(st storage.Store) *pausing {
	return &pausing{Store: st, reached: make(chan struct{}, 1), resume: make(chan struct{}, 1), left: make(chan struct{}, 1)}
}

// CirclesOf implements social.Graph.
func (s *pausing) CirclesOf(ctx context.Context, user social.UserID, p social.Page) ([]*social.Circle, error) {
	if s.armed.Swap(false) {
		s.reached <- struct{}{}
		select {
		case <-s.resume:
		case <-ctx.Done():
			s.left <- struct{}{}
		}
	}
	return s.Store.CirclesOf(ctx, user, p)
}

// TestSignOutEndsAnExport: an export that is under way has no more pages after its session has
// ended, and no end.
func TestSignOutEndsAnExport(t *testing.T) {
	t.Parallel()
	st := newPausing(plazatest.Engines[0].Open(t))
	plaza := plazatest.Serve(t, st)
	ada := plaza.As(t, "ada")
	ada.Status(t, "a post", plazatest.Public)
	st.armed.Store(true)
	response := requestExport(t, t.Context(), http.MethodGet, ada, "")
	defer func() { _ = response.Body.Close() }()
	<-st.reached
	ada.Do(t, "mutation { signOut { userErrors { code } } }", nil, nil)
	st.resume <- struct{}{}
	body, err := io.ReadAll(response.Body)
	if err == nil {
		t.Error("the connection is not cut")
	}
	for text, want := range map[string]bool{`"type":"profile"`: true, `"type":"session"`: true, `"type":"post"`: false, `"type":"end"`: false} {
		if strings.Contains(string(body), text) != want {
			t.Errorf("%s in the export: %v, want %v: %s", text, !want, want, body)
		}
	}
}

// TestClientsThatLeaveEndTheirExports: the work on an export ends with its connection, and it no
// longer counts as one that is under way.
func TestClientsThatLeaveEndTheirExports(t *testing.T) {
	t.Parallel()
	st := newPausing(plazatest.Engines[0].Open(t))
	plaza := plazatest.Serve(t, st)
	ada := plaza.As(t, "ada")
	for range 3 {
		ctx, leave := context.WithCancel(t.Context())
		st.armed.Store(true)
		var response *http.Response
		testtime.Eventually(t, "an export begins", func() bool {
			response = requestExport(t, ctx, http.MethodGet, ada, "")
			if response.StatusCode != http.StatusOK {
				_ = response.Body.Close() // the export before still counts
			}
			return response.StatusCode == http.StatusOK
		})
		<-st.reached
		leave()
		<-st.left
		_ = response.Body.Close()
	}
}
