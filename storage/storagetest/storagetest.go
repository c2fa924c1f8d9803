// Package storagetest is the suite that every storage engine must pass: a case for each obligation
// of the contract in package social ([Run]), and a model test, which plays random histories of the
// product over the engine and over a plain in-memory model, and compares every result ([RunModel]).
package storagetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"plaza/social"
	"plaza/storage"
)

// Open opens a new, empty store, and registers its cleanup with t.
type Open = func(t *testing.T) storage.Store

// testCase tests one obligation, on a separate store.
type testCase struct {
	name string
	run  func(w *world)
}

// noun is the part of the contract about one noun.
type noun struct {
	name  string
	cases []testCase
}

func nouns() []noun {
	return []noun{
		{"Store", storeCases},
		{"Users", userCases},
		{"Profiles", profileCases},
		{"Sessions", sessionCases},
		{"Identities", identityCases},
		{"Emails", emailCases},
		{"LeftHandles", leftHandleCases},
		{"Invitations", invitationCases},
		{"Circles", circleCases},
		{"Graph", graphCases},
		{"Posts", postCases},
		{"Feeds", feedCases},
		{"Comments", commentCases},
		{"Notifications", notificationCases},
		{"Cases", caseCases},
		{"Decisions", decisionCases},
		{"Standings", standingCases},
		{"IdempotencyKeys", idempotencyCases},
		{"Importer", importerCases},
		{"Deletion", deletionCases},
		{"EventLog", eventCases},
		{"Concurrency", concurrencyCases},
		{"ThreadConcurrency", threadConcurrencyCases},
	}
}

// Run runs the suite. Each case gets a new store from open; all cases of all nouns run in parallel.
func Run(t *testing.T, open Open) {
	t.Helper()
	runNouns(t, open, nouns())
}

// RunSome runs only the cases of some nouns.
func RunSome(t *testing.T, open Open, names ...string) {
	t.Helper()
	some := slices.DeleteFunc(nouns(), func(n noun) bool { return !slices.Contains(names, n.name) })
	if len(some) != len(names) {
		t.Fatalf("some of %v are not nouns of the contract", names)
	}
	runNouns(t, open, some)
}

func runNouns(t *testing.T, open Open, nouns []noun) {
	t.Helper()
	for _, n := range nouns {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range n.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(newWorld(t, open))
				})
			}
		})
	}
}

var storeCases = []testCase{
	{"PingAnswers", pingAnswers},
	{"AnEndedContextEndsCalls", anEndedContextEndsCalls},
	{"EmptyInputsGiveEmptyMaps", emptyInputsGiveEmptyMaps},
	{"AnEmptyStoreHasNothing", anEmptyStoreHasNothing},
}

func pingAnswers(w *world) {
	w.ok(w.Ping(w.ctx), "Ping")
}

func anEndedContextEndsCalls(w *world) {
	user := w.user()
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	post := statusBy(user)
	for name, call := range map[string]func() error{
		"Users":      func() error { _, err := w.Users(ctx, []social.UserID{user.ID}); return err },
		"News":       func() error { _, err := w.News(ctx, user.ID, social.Page{Limit: 1}); return err },
		"InsertPost": func() error { return w.InsertPost(ctx, post, event(social.EventPostCreated)) },
	} {
		err := call()
		if !errors.Is(err, context.Canceled) && !errors.Is(err, social.ErrUnavailable) {
			w.t.Errorf("%s with an ended context: %v, want context.Canceled or ErrUnavailable", name, err)
		}
	}
}

func emptyInputsGiveEmptyMaps(w *world) {
	user := w.user()
	post := w.status(user)
	w.comment(post, nil, user)
	for name, call := range map[string]func() (int, error){
		"Users":          func() (int, error) { return size(w.Users(w.ctx, nil)) },
		"UsersByHandle":  func() (int, error) { return size(w.UsersByHandle(w.ctx, nil)) },
		"Profiles":       func() (int, error) { return size(w.Profiles(w.ctx, nil)) },
		"Circles":        func() (int, error) { return size(w.Circles(w.ctx, nil)) },
		"Members":        func() (int, error) { return size(w.Members(w.ctx, nil)) },
		"Relations":      func() (int, error) { return size(w.Relations(w.ctx, nil)) },
		"People":         func() (int, error) { return size(w.People(w.ctx, user.ID, nil)) },
		"Followers":      func() (int, error) { return size(w.Followers(w.ctx, nil)) },
		"Following":      func() (int, error) { return size(w.Following(w.ctx, nil)) },
		"Posts":          func() (int, error) { return size(w.Posts(w.ctx, nil)) },
		"Histories":      func() (int, error) { return size(w.Histories(w.ctx, nil)) },
		"Votes":          func() (int, error) { return size(w.Votes(w.ctx, user.ID, nil)) },
		"Reactions":      func() (int, error) { return size(w.Reactions(w.ctx, user.ID, nil)) },
		"Wall":           func() (int, error) { return size(w.Wall(w.ctx, nil)) },
		"PostsBy":        func() (int, error) { return size(w.PostsBy(w.ctx, nil)) },
		"Comments":       func() (int, error) { return size(w.Comments(w.ctx, nil)) },
		"CommentsBySlug": func() (int, error) { return size(w.CommentsBySlug(w.ctx, nil)) },
		"Thread":         func() (int, error) { return size(w.Thread(w.ctx, nil)) },
		"LatestComments": func() (int, error) { return size(w.LatestComments(w.ctx, nil, nil, 3)) },
		"CommentsBy":     func() (int, error) { return size(w.CommentsBy(w.ctx, nil)) },
		"MutedThreads":   func() (int, error) { return size(w.MutedThreads(w.ctx, nil)) },
		"Cases":          func() (int, error) { return size(w.Cases(w.ctx, nil)) },
		"NewestReports":  func() (int, error) { return size(w.NewestReports(w.ctx, nil, 3)) },
		"ImportUsers":    func() (int, error) { return w.ImportUsers(w.ctx, nil) },
		"ImportCircles":  func() (int, error) { return w.ImportCircles(w.ctx, nil) },
		"ImportMemberships": func() (int, error) {
			return w.ImportMemberships(w.ctx, nil, nil)
		},
	} {
		if n, err := call(); n != 0 || err != nil {
			w.t.Errorf("%s of nothing: %d entries, %v; want none", name, n, err)
		}
	}
}

func anEmptyStoreHasNothing(w *world) {
	missing, nowhere := newUserID(), newPostID()
	page := social.Page{Limit: 10}
	list := []social.List[social.UserID]{{Of: missing, Page: page}}
	for name, call := range map[string]func() (int, error){
		"Users":      func() (int, error) { return size(w.Users(w.ctx, []social.UserID{missing, {}})) },
		"Posts":      func() (int, error) { return size(w.Posts(w.ctx, []social.PostID{nowhere, {}})) },
		"Histories":  func() (int, error) { return entries(w.Histories(w.ctx, []social.PostID{nowhere, {}})) },
		"CirclesOf":  func() (int, error) { return length(w.CirclesOf(w.ctx, missing, page)) },
		"Followers":  func() (int, error) { return entries(w.Followers(w.ctx, list)) },
		"Following":  func() (int, error) { return entries(w.Following(w.ctx, list)) },
		"Wall":       func() (int, error) { return entries(w.Wall(w.ctx, list)) },
		"PostsBy":    func() (int, error) { return entries(w.PostsBy(w.ctx, list)) },
		"News":       func() (int, error) { return length(w.News(w.ctx, missing, page)) },
		"Incoming":   func() (int, error) { return length(w.Incoming(w.ctx, missing, page)) },
		"Blocked":    func() (int, error) { return length(w.Blocked(w.ctx, missing, page)) },
		"Muted":      func() (int, error) { return length(w.Muted(w.ctx, missing, page)) },
		"CommentsBy": func() (int, error) { return entries(w.CommentsBy(w.ctx, list)) },
		"LatestComments": func() (int, error) {
			return entries(w.LatestComments(w.ctx, []social.PostID{nowhere}, nil, 3))
		},
	} {
		if n, err := call(); n != 0 || err != nil {
			w.t.Errorf("%s in an empty store: %d entries, %v; want none", name, n, err)
		}
	}
}

func size[K comparable, V any](m map[K]V, err error) (int, error) { return len(m), err }

func length[T any](s []T, err error) (int, error) { return len(s), err }

// entries counts the entries in all lists of an answer. An empty list may be in the map or missing.
func entries[K comparable, T any](m map[K][]T, err error) (int, error) {
	n := 0
	for _, list := range m {
		n += len(list)
	}
	return n, err
}
