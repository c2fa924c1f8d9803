package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestFullThreadReportsItsLimit fills an embedded thread over the API.
func TestFullThreadReportsItsLimit(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Serve(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Comments: mongodb.CommentsEmbedded}))
	ada := plaza.As(t, "ada")
	post := ada.Status(t, "What do you think?", plazatest.Public)
	longest := strings.Repeat("\U0001F600", social.MaxTextLen)
	add := func() (id, code string) {
		t.Helper()
		var answer struct {
			AddComment struct {
				Comment    *struct{ ID string }
				UserErrors []struct {
					Code string
					Path []string
				}
			}
		}
		ada.Do(t, `mutation($in: AddCommentInput!) { addComment(input: $in) { comment { id } userErrors { code path } } }`,
			map[string]any{"in": map[string]any{"postId": post, "text": longest}}, &answer)
		if len(answer.AddComment.UserErrors) == 0 {
			return answer.AddComment.Comment.ID, ""
		}
		mistake := answer.AddComment.UserErrors[0]
		if got := strings.Join(mistake.Path, "."); got != "input.postId" {
			t.Errorf("the error is at %q", got)
		}
		return "", mistake.Code
	}
	comment, code := add()
	for n := 1; code == ""; n++ {
		if n > 1000 {
			t.Fatal("the thread never becomes full")
		}
		_, code = add()
	}
	if code != "THREAD_FULL" {
		t.Errorf("got %s, want THREAD_FULL", code)
	}
	ada.DeleteComment(t, comment)
	if _, code := add(); code != "" {
		t.Errorf("got %s after a comment was deleted", code)
	}
}

// threadEngines returns SQLite, and MongoDB with each layout of threads.
func threadEngines() map[string]func(*testing.T) storage.Store {
	all := map[string]func(*testing.T) storage.Store{}
	for _, e := range plazatest.Engines {
		if e.Name != "mongodb" {
			all[e.Name] = func(t *testing.T) storage.Store { t.Helper(); return e.Open(t) }
		}
	}
	for _, layout := range []string{mongodb.CommentsDocuments, mongodb.CommentsEmbedded, mongodb.CommentsPages, mongodb.CommentsAdaptive} {
		all[layout] = func(t *testing.T) storage.Store {
			t.Helper()
			return plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Comments: layout})
		}
	}
	return all
}

type commentPage struct {
	Edges []struct {
		Cursor string
		Node   struct{ Text string }
	}
}

// readThread reads a page of a thread.
func readThread(t *testing.T, p plazatest.Person, post, order, bounds string) commentPage {
	t.Helper()
	var answer struct {
		Post struct{ Comments commentPage }
	}
	p.Do(t, fmt.Sprintf(`{ post(id: %q) { comments(order: %s%s) { edges { cursor node { text } } } } }`, post, order, bounds), nil, &answer)
	return answer.Post.Comments
}

// TestBadCommentsAreRefused checks that a bad comment gets an error code that names the mistake, on
// every layout, and changes nothing.
func TestBadCommentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, open := range threadEngines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plaza := plazatest.Serve(t, open(t))
			ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
			post, other := ada.Status(t, "one", plazatest.Public), ada.Status(t, "two", plazatest.Public)
			var elsewhere, deleted, deepest string
			elsewhere = writeComment(t, ada, map[string]any{"postId": other, "text": "x"})
			deleted = writeComment(t, ada, map[string]any{"postId": post, "text": "x"})
			writeComment(t, ada, map[string]any{"postId": post, "text": "x", "parentId": deleted})
			ada.DeleteComment(t, deleted)
			deepest = writeComment(t, ada, map[string]any{"postId": post, "text": "x"})
			for range social.DefaultMaxDepth - 1 {
				deepest = writeComment(t, ada, map[string]any{"postId": post, "text": "x", "parentId": deepest})
			}
			before := readThread(t, ada, post, "THREADED", ", first: 100")
			for why, c := range map[string]struct {
				input map[string]any
				want  string
			}{
				"a parent in another post": {map[string]any{"postId": post, "text": "x", "parentId": elsewhere}, "INVALID input.parentId"},
				"a deleted parent":         {map[string]any{"postId": post, "text": "x", "parentId": deleted}, "NOT_FOUND input.parentId"},
				"a depth above the limit":  {map[string]any{"postId": post, "text": "x", "parentId": deepest}, "TOO_DEEP input.parentId"},
				"10,001 characters":        {map[string]any{"postId": post, "text": strings.Repeat("\U0001F600", social.MaxTextLen+1)}, "TOO_LONG input.text"},
				"a forged slug path":       {map[string]any{"postId": post, "text": "x", "parentId": "a/b/../c"}, "INVALID input.parentId"},
			} {
				if got := mistakeOf(t, bob, "addComment", c.input); got != c.want {
					t.Errorf("%s: got %s, want %s", why, got, c.want)
				}
			}
			for _, slug := range []string{"a/b", "../x", ".*", "^", "$ne", "%2e%2e"} {
				answer := bob.Raw(t, fmt.Sprintf(`{ post(id: %q) { comment(slug: %q) { text } } }`, post, slug))
				if !strings.Contains(answer, "NOT_FOUND") {
					t.Errorf("the slug %q: %s", slug, answer)
				}
			}
			if diff := cmp.Diff(before, readThread(t, ada, post, "THREADED", ", first: 100")); diff != "" {
				t.Errorf("the thread has changed:\n%s", diff)
			}
		})
	}
}

// writeComment writes a comment, and returns its id.
func writeComment(t *testing.T, p plazatest.Person, input map[string]any) string {
	t.Helper()
	return p.Mutate(t, "addComment", "comment { id }", input)
}

// mistakeOf returns the code and the path of the only mistake in an input.
func mistakeOf(t *testing.T, p plazatest.Person, mutation string, input map[string]any) string {
	t.Helper()
	var answer map[string]struct {
		UserErrors []struct {
			Code string
			Path []string
		}
	}
	kind := strings.ToUpper(mutation[:1]) + mutation[1:] + "Input!"
	p.Do(t, fmt.Sprintf(`mutation($in: %s) { %s(input: $in) { userErrors { code path } } }`, kind, mutation), map[string]any{"in": input}, &answer)
	mistakes := answer[mutation].UserErrors
	if len(mistakes) != 1 {
		t.Fatalf("%d mistakes", len(mistakes))
	}
	return mistakes[0].Code + " " + strings.Join(mistakes[0].Path, ".")
}
