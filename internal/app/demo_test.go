package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"plaza/demo"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/sqlite"
)

// answerOf sends a request to a server's handler, with header names and values in turn.
func answerOf(t *testing.T, s *Server, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	s.Handler.ServeHTTP(recorder, request)
	response := recorder.Result()
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// openFile opens a new embedded database.
func openFile(t *testing.T) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// TestDemoIsServed: with --demo a server has pictures and threads, and the community is active
// while a visitor sends requests.
func TestDemoIsServed(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	c := Config{PublicURL: "https://plaza.example/", AllowedOrigins: []string{"*"}}
	community, err := demo.Seed(t.Context(), st, c.PublicURL)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(st, &c, c.limits(), community)
	const avatar = demo.PicturesPath + "avatars/ada.svg"
	if response, _ := answerOf(t, s, http.MethodGet, avatar); response.StatusCode != http.StatusOK {
		t.Errorf("%s: status %d", avatar, response.StatusCode)
	}
	if s.isWatched() {
		t.Error("the demo counts as watched before the first request")
	}
	query := `{ nodes(ids: ["` + strings.Join(demoOf(community).Threads, `", "`) + `"]) { ... on Post { text } } user(handle: "ada") { avatarUrl } }`
	_, body := answerOf(t, s, http.MethodGet, "/graphql?query="+strings.NewReplacer(" ", "%20", `"`, "%22").Replace(query))
	var answer struct {
		Data struct {
			Nodes []*struct{ Text string }
			User  struct{ AvatarURL string }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Data.Nodes) < 2 || answer.Data.Nodes[0] == nil || answer.Data.User.AvatarURL != "https://plaza.example"+avatar {
		t.Errorf("the demo shows %s", body)
	}
	if !s.isWatched() {
		t.Error("the demo does not count as watched after a request")
	}
}

// vanishing is a store whose database does not answer while it is filled for the first time.
type vanishing struct {
	storage.Store
	again func() error // called at the second attempt
	tried int
}

func (v *vanishing) ImportUsers(ctx context.Context, users []social.NewUser) (int, error) {
	switch v.tried++; v.tried {
	case 1:
		return 0, social.ErrUnavailable
	case 2:
		if err := v.again(); err != nil {
			return 0, err
		}
	}
	return v.Store.ImportUsers(ctx, users)
}

// TestTheDemoWaitsForTheDatabase: the database disappears while the demo fills it. The server is
// alive but not ready, and resumes when the database is back.
func TestTheDemoWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	c := Config{Addr: "127.0.0.1:0", PublicURL: "https://plaza.example/"}
	f, err := c.newFront(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	st := &vanishing{Store: openFile(t), again: func() error {
		for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/livez": http.StatusOK} {
			recorder := httptest.NewRecorder()
			f.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
			if recorder.Code != want {
				t.Errorf("%s: status %d while the database is away, want %d", path, recorder.Code, want)
			}
			if policy := recorder.Header().Get("Content-Security-Policy"); policy == "" {
				t.Errorf("%s has no Content-Security-Policy", path)
			}
		}
		return nil
	}}
	community, err := c.seedDemo(t.Context(), st, f)
	if err != nil || len(community.Threads()) == 0 {
		t.Errorf("the demo was not filled: %v", err)
	}
}

// TestTheDemoEndsWithoutTheDatabase: a server that waits for the database can still be shut down.
func TestTheDemoEndsWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	st := &vanishing{Store: openFile(t), again: func() error {
		end()
		return social.ErrUnavailable
	}}
	open := func(context.Context) (storage.Store, error) { return st, nil }
	if err := Run(ctx, open, Config{Addr: "127.0.0.1:0", Demo: true}); err != nil || st.tried != 2 {
		t.Errorf("after %d attempts: %v", st.tried, err)
	}
}

func TestWithoutDemoNoPictures(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	s := New(st, Config{})
	if response, _ := answerOf(t, s, http.MethodGet, demo.PicturesPath+"avatars/ada.svg"); response.StatusCode != http.StatusNotFound {
		t.Errorf("status %d, want 404", response.StatusCode)
	}
}

func TestSDLIsServed(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	s := New(st, Config{AllowedOrigins: []string{"*"}})
	response, body := answerOf(t, s, http.MethodGet, sdlPath, "Origin", "https://app.example")
	if response.StatusCode != http.StatusOK || !strings.Contains(body, "directive @oneOf on INPUT_OBJECT") || !strings.Contains(body, "type Query {") {
		t.Errorf("status %d: %.200s", response.StatusCode, body)
	}
	if got := response.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin is %q", got)
	}
	if again, _ := answerOf(t, s, http.MethodGet, sdlPath, "If-None-Match", response.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("the same again: status %d, want 304", again.StatusCode)
	}
	if response, _ := answerOf(t, s, http.MethodPost, sdlPath); response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", response.StatusCode)
	}
}
