package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestOutdatedFeedsShowNothingHidden hides posts in many ways while no job removes them from stored
// feeds. Neither the news nor a wall shows them.
func TestOutdatedFeedsShowNothingHidden(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.FeedsHybrid, mongodb.FeedsBucket, mongodb.FeedsMonth} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			st := plazatest.NewResting(plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Feeds: layout, MergeAbove: 3}))
			s := &world{plaza: plazatest.Serve(t, st), ids: map[string]string{}}
			s.publish(t)
			feeds := `{ viewer { news(first: 50) { nodes { ` + postFields + ` } } } user(handle: "author") { wall(first: 50) { nodes { ` + postFields + ` } } } }`
			reader := s.plaza.As(t, "reader")
			before := reader.Raw(t, feeds)
			for _, secret := range secretTexts {
				if n := strings.Count(before, secret); n != 2 {
					t.Fatalf("%q appears %d times before it is hidden: %s", secret, n, before)
				}
			}
			close(st.Rest)
			s.hide(t)
			after := reader.Raw(t, feeds)
			for _, secret := range secretTexts {
				if strings.Contains(after, secret) {
					t.Errorf("%q is still shown: %s", secret, after)
				}
			}
			if n := strings.Count(after, "open post"); n != 2 {
				t.Errorf("the visible post appears %d times: %s", n, after)
			}
		})
	}
}

var secretTexts = []string{
	"closed post", "listed post", "deleted post", "edited post",
	"deleted comment", "edited comment", "erased comment", "blocker's comment", "blocked's comment", "muted's comment", "comment in a muted thread",
}

func (w *world) publish(t *testing.T) {
	t.Helper()
	for _, handle := range []string{"author", "reader", "carl", "dora", "emil", "frid", "gus"} {
		w.add(t, handle, handle, `{ viewer { user { id } } }`)
	}
	w.add(t, "circle", "author", `mutation { createCircle(input: {name: "Friends"}) { circle { id } } }`)
	w.act(t, "reader", `mutation { followUser(input: {userId: "$author"}) { userErrors { code } } }`)
	posts := slices.Concat(secretTexts[:4], []string{"open post", "quiet post", "muted thread's post"})
	for _, text := range posts {
		w.add(t, text[:4], "author", fmt.Sprintf(`mutation { createPost(input: {content: {status: {text: %q}}, audience: {kind: PUBLIC}}) { post { id } } }`, text))
	}
	for i, c := range []struct{ by, post string }{
		{"carl", "open"}, {"carl", "open"}, {"frid", "open"}, {"dora", "quie"}, {"emil", "quie"}, {"gus", "quie"}, {"author", "mute"},
	} {
		text := secretTexts[4+i]
		w.add(t, text, c.by, fmt.Sprintf(`mutation { addComment(input: {postId: %q, text: %q}) { comment { id } } }`, w.ids[c.post], text))
	}
}

// hide takes everything that secretTexts names away from the reader.
func (w *world) hide(t *testing.T) {
	t.Helper()
	w.act(t, "author", `mutation {
		a: setPostAudience(input: {postId: "$clos", audience: {kind: ONLY_ME}}) { post { id } }
		b: setPostAudience(input: {postId: "$list", audience: {kind: LISTED, circleIds: ["$circle"]}}) { post { id } }
		c: deletePost(input: {postId: "$dele"}) { deletedPostId }
		d: editPost(input: {postId: "$edit", content: {status: {text: "new"}}}) { post { id } } }`)
	w.act(t, "carl", fmt.Sprintf(`mutation { a: deleteComment(input: {commentId: %q}) { deletedCommentId } b: editComment(input: {commentId: %q, text: "new"}) { comment { id } } }`,
		w.ids["deleted comment"], w.ids["edited comment"]))
	w.act(t, "frid", `mutation { deleteAllMyComments(input: {confirm: true}) { remainingCount } }`)
	w.act(t, "dora", `mutation { blockUser(input: {userId: "$reader"}) { user { id } } }`)
	w.act(t, "reader", `mutation { a: blockUser(input: {userId: "$emil"}) { user { id } } b: muteUser(input: {userId: "$gus"}) { user { id } } c: muteThread(input: {postId: "$mute"}) { post { id } } }`)
}
