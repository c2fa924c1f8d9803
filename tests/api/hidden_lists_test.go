package api

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestHiddenMatches runs searches that match only hidden people. The answer and its cost are the
// same as when there is no match.
func TestHiddenMatches(t *testing.T) {
	forEachCounted(t, func(t *testing.T, st storage.Store, sent *commands) {
		s := newSecrets(t, plazatest.ServeCounted(t, st), sent)
		for handle, city := range map[string]string{"eve": "Oslo", "fay": "Bergen"} {
			s.act(t, handle, `mutation { a: setProfileProperty(input: {key: "city", value: "`+city+`"}) { userErrors { code } }
				b: setProfileProperty(input: {key: "height", value: 190}) { userErrors { code } } }`)
		}
		s.act(t, "gil", `mutation { a: setProfileProperty(input: {key: "city", value: "Rome", visibility: CIRCLES}) { userErrors { code } }
			b: setProfileProperty(input: {key: "birthday", value: "1990-05-17", visibility: ONLY_ME}) { userErrors { code } } }`)
		names := `query($of: String!) { usersByName(startsWith: $of) { nodes { id } pageInfo { endCursor hasNextPage } } }`
		lastNames := `query($of: String!) { usersByName(startsWith: $of, last: 5) { nodes { id } pageInfo { endCursor hasPreviousPage } } }`
		cities := `query($of: PropertyValue!) { users(where: [{key: "city", equals: $of}]) { nodes { id } pageInfo { endCursor hasNextPage } } }`
		anyCity := `query($of: PropertyValue!) { users(where: [{key: "city", in: [$of, "Nowhere"]}]) { nodes { id } pageInfo { endCursor hasNextPage } } }`
		heights := `query($of: PropertyValue!) { users(where: [{key: "height", equals: $of}]) { nodes { id } pageInfo { endCursor } } }`
		births := `query($of: PropertyValue!) { users(where: [{key: "birthday", equals: $of}]) { nodes { id } pageInfo { endCursor } } }`
		for name, asked := range map[string]struct {
			operation       string
			hidden, missing any
		}{
			"name of who is blocked":   {names, "eve", "unknown"},
			"name of who blocks":       {names, "FAY", "unknown"},
			"name from the end":        {lastNames, "eve", "unknown"},
			"value of who is blocked":  {cities, "Oslo", "Paris"},
			"value of who blocks":      {cities, "bergen", "Paris"},
			"values":                   {anyCity, "Oslo", "Paris"},
			"value of both":            {heights, 190, 191},
			"value for others circles": {cities, "Rome", "Paris"},
			"value for none":           {births, "1990-05-17", "1990-05-18"},
		} {
			s.mustBeAlike(t, s.ada, question{name, asked.operation, map[string]any{"of": asked.hidden}, map[string]any{"of": asked.missing}})
		}
	})
}

// TestHiddenWalls reads walls on which all posts are hidden, some with comments, and the lists of
// authors whose posts are all hidden. The answers are those of empty lists.
func TestHiddenWalls(t *testing.T) {
	forEachCounted(t, func(t *testing.T, st storage.Store, sent *commands) {
		s := newSecrets(t, plazatest.ServeCounted(t, st), sent)
		s.add(t, "hal", "hal", `{ viewer { user { id } } }`)
		s.add(t, "onGils", "bob", `mutation { createPost(input: {content: {status: {text: "secret"}}, audience: {kind: ONLY_ME}, wallOwnerId: "$gil"}) { post { id } } }`)
		s.act(t, "gil", `mutation { addComment(input: {postId: "$onGils", text: "secret"}) { userErrors { code } } }`)
		const posts = `nodes { id author { id } latestComments { text } } pageInfo { endCursor hasNextPage hasPreviousPage }`
		for _, list := range []string{"wall", "posts", "posts(last: 5)"} {
			query := `query($handle: String!) { user(handle: $handle) { ` + list + ` { ` + posts + ` } } }`
			for _, p := range []plazatest.Person{s.ada, {URL: s.plaza.URL}} {
				s.mustBeAlike(t, p, question{"gil's " + list, query, map[string]any{"handle": "gil"}, map[string]any{"handle": "hal"}})
			}
		}
	})
}

// TestHiddenComments lists the comments of a user who has only commented on hidden posts. The
// answer is the same as for a user without comments.
func TestHiddenComments(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, st storage.Store, sent *commands) {
		s := newSecrets(t, plazatest.ServeCounted(t, st), sent)
		s.add(t, "hal", "hal", `{ viewer { user { id } } }`)
		for _, query := range []string{
			`query($handle: String!) { user(handle: $handle) { comments { nodes { id author { id } post { id } } pageInfo { endCursor hasNextPage } } } }`,
			`query($handle: String!) { user(handle: $handle) { comments(last: 20) { nodes { id } pageInfo { endCursor hasPreviousPage } } } }`,
		} {
			for _, p := range []plazatest.Person{s.ada, {URL: s.plaza.URL}} {
				s.mustBeAlike(t, p, question{"gil's comments", query, map[string]any{"handle": "gil"}, map[string]any{"handle": "hal"}})
			}
		}
	}
	forEachCounted(t, run)
	forOtherThreads(t, run)
}

// forOtherThreads does the same as forEachCounted for the layouts of threads that no engine has by
// default.
func forOtherThreads(t *testing.T, run func(*testing.T, storage.Store, *commands)) {
	t.Helper()
	for _, layout := range []string{mongodb.CommentsEmbedded, mongodb.CommentsPages, mongodb.CommentsAdaptive} {
		t.Run(fmt.Sprint("mongodb ", layout), func(t *testing.T) {
			t.Parallel()
			sent := &commands{}
			run(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Comments: layout, Monitor: sent.monitor(), Unjournaled: true}), sent)
		})
	}
}

// TestVisibilityMeetsValue hides a value while another request changes it. The value is hidden in
// the end, in whatever order the two are stored.
func TestVisibilityMeetsValue(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		s := newWorld(t, plazatest.Start(t, e))
		set := func(value, visibility string) {
			s.plaza.As(t, "bob").Raw(t, fmt.Sprintf(`mutation { setProfileProperty(input: {key: "city", value: %q%s}) { userErrors { code } } }`, value, visibility))
		}
		for range 20 {
			set("Ulm", ", visibility: PUBLIC")
			var both sync.WaitGroup
			both.Go(func() { set("Bonn", "") })
			both.Go(func() { set("Ulm", ", visibility: ONLY_ME") })
			both.Wait()
			if answer := s.ada.Raw(t, `{ user(handle: "bob") { properties { value } } }`); !strings.Contains(answer, `"properties": []`) && !strings.Contains(answer, `"properties":[]`) {
				t.Fatalf("the hidden value is visible: %s", answer)
			}
		}
	})
}

// TestManyHiddenPosts reads the posts of someone who hides more than a page passes over, and the
// comments on them. However many lists are requested together, the answer is the same as alone, and
// following the cursors leads to the entries behind.
func TestManyHiddenPosts(t *testing.T) {
	t.Parallel()
	const (
		hidden  = 1_100
		writers = 44 // writes that arrive together share a transaction
		lists   = 22 // together they pass over more than a request may of people or comments
	)
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		s := newSecrets(t, plazatest.ServeCounted(t, st), &commands{})
		s.add(t, "ivy", "ivy", `{ viewer { user { id } } }`)
		s.add(t, "public", "ivy", `mutation { createPost(input: {content: {status: {text: "first"}}, audience: {kind: PUBLIC}}) { post { id } } }`)
		s.act(t, "ivy", `mutation { addComment(input: {postId: "$public", text: "first"}) { userErrors { code } } }`)
		known, err := st.UsersByHandle(t.Context(), []string{"ivy"})
		if err != nil {
			t.Fatal(err)
		}
		author := known["ivy"].ID
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range hidden / writers {
					p := &social.Post{
						ID: social.PostID{ID: id.New()}, Author: author, WallOwner: author, Audience: social.Audience{Kind: social.AudienceOnlyMe},
						Content: social.Content{Status: &social.Status{Text: "secret"}},
					}
					if err := st.InsertPost(t.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated, Actor: author, Post: p.ID}); err != nil {
						t.Error(err)
					}
					c := &social.Comment{Post: p.ID, Author: author, Text: "secret"}
					if err := st.InsertComment(t.Context(), c, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventCommentAdded, Actor: author, Post: p.ID}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		stranger := plazatest.Person{URL: s.plaza.URL}
		for _, list := range []string{"posts", "wall", "comments"} {
			var together strings.Builder
			for first := 1; first <= lists; first++ {
				fmt.Fprintf(&together, "l%d: %s(first: %d) { nodes { id } pageInfo { hasNextPage } } ", first, list, first)
			}
			if answer := stranger.Raw(t, `{ user(handle: "ivy") { `+together.String()+` } }`); strings.Contains(answer, "errors") {
				t.Errorf("%d times %s: %.300s", lists, list, answer)
			}
			var after *string
			seen := 0
			for more, pages := true, 0; more && pages < 10; pages++ {
				var got struct {
					User map[string]struct {
						Nodes    []struct{ ID string }
						PageInfo struct {
							HasNextPage            bool
							StartCursor, EndCursor *string
						}
					}
				}
				stranger.Do(t, `query($after: String) { user(handle: "ivy") { `+list+`(first: 5, after: $after) { nodes { id } pageInfo { hasNextPage startCursor endCursor } } } }`,
					map[string]any{"after": after}, &got)
				page := got.User[list]
				if page.PageInfo.StartCursor == nil {
					t.Errorf("page %d of %s has no start", pages, list)
				}
				seen += len(page.Nodes)
				more, after = page.PageInfo.HasNextPage, page.PageInfo.EndCursor
			}
			if seen != 1 {
				t.Errorf("the pages of %s have %d entries, want the first one", list, seen)
			}
		}
	})
}
