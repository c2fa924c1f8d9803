package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
)

const secret = "a secret of a test"

// asking starts a program, and returns a Reviewer that asks it, and the outcomes of its reviews.
func asking(t *testing.T, program http.HandlerFunc, timeout time.Duration) (*Reviewer, func() []Outcome) {
	t.Helper()
	server := httptest.NewServer(program)
	t.Cleanup(server.Close)
	var mu sync.Mutex
	var outcomes []Outcome
	r := New(Options{
		URL: server.URL + "/hook?key=hidden", Secret: secret, Timeout: timeout, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Unix(1_700_000_000, 999) },
		Observe: func(o Outcome, _ time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			outcomes = append(outcomes, o)
		},
	})
	return r, func() []Outcome {
		mu.Lock()
		defer mu.Unlock()
		return outcomes
	}
}

func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// TestAnswers: every answer that does not decide is an error.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program http.HandlerFunc
		want    social.Verdict
		outcome Outcome
		message string // of the error; "": none
	}{
		"allow":           {answering(200, `{"decision": "allow", "more": 1}`), social.Verdict{Allowed: true}, Allowed, ""},
		"refuse":          {answering(200, `{"decision": "refuse", "reason": "No adverts"}`), social.Verdict{Reason: "No adverts"}, Refused, ""},
		"no reason":       {answering(200, `{"decision": "refuse"}`), social.Verdict{}, Refused, ""},
		"something else":  {answering(200, `{"decision": "ALLOW"}`), social.Verdict{}, Failed, "neither"},
		"no decision":     {answering(200, `{}`), social.Verdict{}, Failed, "neither"},
		"no JSON":         {answering(200, `allow`), social.Verdict{}, Failed, "JSON"},
		"another shape":   {answering(200, `{"decision": true}`), social.Verdict{}, Failed, "JSON"},
		"nothing":         {answering(200, ``), social.Verdict{}, Failed, "JSON"},
		"another success": {answering(201, `{"decision": "allow"}`), social.Verdict{}, Failed, "201"},
		"a failure":       {answering(500, `{"decision": "allow"}`), social.Verdict{}, Failed, "500"},
		"too much":        {answering(200, `{"decision": "allow"}`+strings.Repeat(" ", maxAnswer)), social.Verdict{}, Failed, "64 KiB"},
		"hanging up":      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, social.Verdict{}, Failed, "EOF"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hook" {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			}
			_, _ = io.WriteString(w, `{"decision": "allow"}`)
		}, social.Verdict{}, Failed, "307"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, outcomes := asking(t, c.program, testtime.Patience())
			verdict, err := r.Review(t.Context(), &social.Publication{Kind: social.PublishComment})
			if verdict != c.want || (err == nil) != (c.message == "") || err != nil && !strings.Contains(withoutURL(err).Error(), c.message) {
				t.Errorf("got %+v, %v", verdict, err)
			}
			if err != nil && strings.Contains(withoutURL(err).Error(), "hidden") {
				t.Errorf("the address is in %q", withoutURL(err))
			}
			if diff := cmp.Diff([]Outcome{c.outcome}, outcomes()); diff != "" {
				t.Errorf("the outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQuestions: what is sent, and the signature, as a program checks it.
func TestQuestions(t *testing.T) {
	t.Parallel()
	ada, post, comment := social.UserID{ID: id.New()}, social.PostID{ID: id.New()}, social.CommentID{ID: id.New()}
	link := social.Content{Link: &social.Link{URL: "https://example.org/<buy>", Title: "Cheap", Text: "Buy & sell"}}
	for name, c := range map[string]struct {
		about social.Publication
		want  map[string]any
	}{
		"a new post": {
			social.Publication{Kind: social.PublishPost, Author: ada, Handle: "ada", Audience: social.AudiencePublic, Content: link},
			map[string]any{
				"kind": "post.create", "author": map[string]any{"id": ada.String(), "handle": "ada"}, "audience": "PUBLIC",
				"type": "LINK", "text": "Buy & sell", "details": []any{"Cheap"}, "urls": []any{"https://example.org/<buy>"},
			},
		},
		"an edited comment": {
			social.Publication{Kind: social.PublishCommentEdit, Author: ada, Handle: "ada", Audience: social.AudienceListed, Post: post, Comment: comment, Text: "no"},
			map[string]any{
				"kind": "comment.edit", "author": map[string]any{"id": ada.String(), "handle": "ada"}, "audience": "LISTED",
				"postId": post.String(), "commentId": comment.String(), "text": "no", "details": []any{}, "urls": []any{},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := asking(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s %v, %v", r.Method, r.Header, err)
				}
				mac := hmac.New(sha256.New, []byte(secret))
				_, _ = fmt.Fprintf(mac, "1700000000.%s", body)
				if want := "t=1700000000,v1=" + hex.EncodeToString(mac.Sum(nil)); r.Header.Get("Plaza-Signature") != want {
					t.Errorf("the signature is %q, want %q", r.Header.Get("Plaza-Signature"), want)
				}
				var got map[string]any
				if err := json.Unmarshal(body, &got); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("the body (-want +got):\n%s", diff)
				}
				answering(200, `{"decision": "allow"}`)(w, r)
			}, testtime.Patience())
			if _, err := r.Review(t.Context(), &c.about); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSlowPrograms: a program that does not answer in time has not decided; neither has one for a
// client that has gone, but that is no failure of the program.
func TestSlowPrograms(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	hanging := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices that the client hangs up
		asked <- struct{}{}
		<-r.Context().Done()
	}
	slow, outcomes := asking(t, hanging, 20*time.Millisecond)
	if verdict, err := slow.Review(t.Context(), &social.Publication{}); verdict.Allowed || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a slow program: %+v, %v", verdict, err)
	}
	if got := outcomes(); len(got) != 1 || got[0] != Failed {
		t.Errorf("the outcomes are %v", got)
	}
	patient, outcomes := asking(t, hanging, testtime.Patience())
	ctx, leave := context.WithCancel(t.Context())
	for len(asked) > 0 {
		<-asked
	}
	go func() {
		<-asked
		leave()
	}()
	if _, err := patient.Review(ctx, &social.Publication{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that has gone: %v", err)
	}
	if got := outcomes(); len(got) != 0 {
		t.Errorf("the outcomes are %v", got)
	}
}

// TestReviewsAreBounded: beyond the limit, reviews wait, and do not reach the program.
func TestReviewsAreBounded(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}, 2*maxReviews), make(chan struct{})
	r, _ := asking(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-goOn
		answering(200, `{"decision": "allow"}`)(w, r)
	}, testtime.Patience())
	var all sync.WaitGroup
	review := func(by *Reviewer) {
		if _, err := by.Review(t.Context(), &social.Publication{}); err != nil {
			t.Error(err)
		}
	}
	for range maxReviews {
		all.Go(func() { review(r) })
	}
	for range maxReviews {
		<-begun
	}
	hurried := *r
	hurried.Timeout = time.Millisecond
	if _, err := hurried.Review(t.Context(), &social.Publication{}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "64 requests are running") {
		t.Errorf("one too many: %v", err)
	}
	all.Go(func() { review(r) })
	close(goOn)
	all.Wait()
	if len(begun) != 1 {
		t.Errorf("%d more have reached the program, want 1", len(begun))
	}
}
