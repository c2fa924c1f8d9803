package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/social/export"
	"plaza/social/network"
)

// TestWholeExportIsCutOff: when the session ends, or the server shuts down, after the first page,
// the lines so far are sent without an end, and an export that continues behind them has the rest.
func TestWholeExportIsCutOff(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	s := startCheap(st, nil)
	_, token := signUp(t, s, "ada")
	entrance := &gate.Gate{Social: s.social}
	whole := serve(s, "198.51.100.1", http.MethodGet, wholeExportPath, "Bearer "+token).Body.String()
	for name, drains := range map[string]bool{"the session ends": false, "the server shuts down": true} {
		var ending atomic.Bool
		pages := 0
		authenticate := func(ctx context.Context, authorization string) (context.Context, error) {
			if pages++; pages > 1 {
				return ctx, fault.Errorf(fault.CodeUnauthenticated, "", "The session has ended.")
			}
			ending.Store(drains)
			return entrance.Authenticate(ctx, authorization)
		}
		e := &wholeExport{&exports{authenticate: authenticate, refused: s.refused}, export.New(st, s.social, adsSeen{s.ads}), &ending}
		got, aborted := cutOff(t, e, token)
		if aborted == drains {
			t.Errorf("%s: the connection is cut: %v", name, aborted)
		}
		if got == "" || !strings.HasPrefix(whole, got) || strings.Contains(got, `"end"`) || !strings.HasSuffix(got, "\n") {
			t.Fatalf("%s: the export has %q", name, got)
		}
		_, cursor, _ := strings.Cut(got[strings.LastIndex(got, `"cursor":`):], `:"`)
		cursor, _, _ = strings.Cut(cursor, `"`)
		rest := serve(s, "198.51.100.1", http.MethodGet, wholeExportPath+"?after="+cursor, "Bearer "+token).Body.String()
		if got+rest != whole {
			t.Errorf("%s: the rest is %q", name, rest)
		}
		if len(e.running.of) > 0 {
			t.Errorf("%s: the export still counts", name)
		}
	}
}

func cutOff(t *testing.T, e *wholeExport, token string) (body string, aborted bool) {
	t.Helper()
	answer := httptest.NewRecorder()
	defer func() { body, aborted = answer.Body.String(), recover() != nil }()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, wholeExportPath, nil)
	request.Header.Set("Authorization", "Bearer "+token)
	e.ServeHTTP(answer, request)
	return "", false
}

// TestExportsOfAUserAreFew: a server writes maxExports of a user at a time, of whatever kind.
func TestExportsOfAUserAreFew(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	s := startCheap(st, nil)
	session, token := signUp(t, s, "ada")
	entrance := &gate.Gate{Social: s.social}
	e := &wholeExport{&exports{authenticate: entrance.Authenticate, refused: s.refused}, export.New(st, s.social, adsSeen{s.ads}), new(atomic.Bool)}
	comments := &commentExport{e.exports, s.social}
	for range maxExports {
		if !e.running.begin(session.User) {
			t.Fatal("an export is refused")
		}
	}
	if !e.running.begin(social.UserID{}) {
		t.Error("an export of another user is refused")
	}
	for _, want := range []int{http.StatusTooManyRequests, http.StatusOK} {
		for path, handler := range map[string]http.Handler{wholeExportPath: e, exportPath: comments} {
			answer := httptest.NewRecorder()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			request.Header.Set("Authorization", "Bearer "+token)
			handler.ServeHTTP(answer, request)
			if answer.Code != want || want != http.StatusOK && answer.Header().Get("Retry-After") == "" {
				t.Errorf("%s: status %d, want %d", path, answer.Code, want)
			}
		}
		if want != http.StatusOK {
			e.running.end(session.User)
		}
	}
	if n := e.running.of[session.User]; n != maxExports-1 {
		t.Errorf("%d exports count after the others have ended", n)
	}
}

// TestCommentsBehindManyHiddenOnes: someone's comments on a post that they no longer see are more
// than a page passes over; the export has those before.
func TestCommentsBehindManyHiddenOnes(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	s := startCheap(st, nil)
	ada, token := signUp(t, s, "ada")
	ben, _ := signUp(t, s, "ben")
	const hidden = 1_700
	for kind, n := range map[social.AudienceKind]int{social.AudiencePublic: 2, social.AudienceOnlyMe: hidden} {
		p, err := s.social.CreatePost(t.Context(), ben.User, network.NewPost{Content: social.Content{Status: &social.Status{Text: "post"}}, Audience: social.Audience{Kind: kind}})
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			made := time.Now().Add(-time.Hour) // the visible ones come first
			if kind == social.AudienceOnlyMe {
				made = made.Add(time.Minute)
			}
			c := &social.Comment{Post: p.ID, Author: ada.User, Text: string(kind)}
			c.SetID(social.CommentID{ID: id.At(made)})
			if err := st.InsertComment(t.Context(), c, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventCommentAdded, Actor: ada.User, Post: p.ID, Comment: c.ID}); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen := serve(s, "198.51.100.1", http.MethodGet, exportPath, "Bearer "+token).Body.String()
	if lines := strings.Count(seen, "\n"); lines != 2 || strings.Count(seen, `"text":"PUBLIC"`) != 2 {
		t.Errorf("the export has %d lines, want the 2 public comments: %.300s", lines, seen)
	}
	var all strings.Builder
	if err := ExportComments(t.Context(), &all, st, "ada"); err != nil || strings.Count(all.String(), "\n") != hidden+2 {
		t.Errorf("the operator's export has %d lines, %v, want %d", strings.Count(all.String(), "\n"), err, hidden+2)
	}
}
