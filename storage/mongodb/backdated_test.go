package mongodb

import (
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
)

// TestBackdatedPostsAreCounted stores posts together: a transaction counts if one of them is not
// newer than all earlier posts.
func TestBackdatedPostsAreCounted(t *testing.T) {
	t.Parallel()
	s, ctx := openAlone(t, Options{}), t.Context()
	author, _ := fans(t, s, 0)
	at := func(d time.Duration) social.PostID { return social.PostID{ID: id.At(time.Now().Add(d))} }
	for _, c := range []struct {
		name  string
		posts []social.PostID
		want  int64
	}{
		{"from the sequence", []social.PostID{{}, {}}, 0},
		{"newer", []social.PostID{at(time.Hour), at(2 * time.Hour)}, 0},
		{"older", []social.PostID{at(-time.Hour)}, 1},
		{"older, and newer", []social.PostID{at(-2 * time.Hour), at(3 * time.Hour)}, 2},
		{"newer, and older", []social.PostID{at(4 * time.Hour), at(-3 * time.Hour)}, 3},
		{"from the sequence, and older", []social.PostID{{}, at(-4 * time.Hour)}, 4},
		{"from the sequence again", []social.PostID{{}}, 4},
	} {
		batch := make([]*newPost, len(c.posts))
		for i, post := range c.posts {
			p := newStatus(author)
			p.ID = post
			batch[i] = &newPost{given: *p, event: anEvent(social.EventPostCreated)}
		}
		ok(t, s.insertPosts(ctx, postSequence, batch))
		now := must(postReader{s.posts, s.sequences}.Sequence(ctx))(t)
		if now.Backdated != c.want {
			t.Errorf("%s: %d transactions were counted, want %d", c.name, now.Backdated, c.want)
		}
		for _, p := range batch {
			if p.stored.ID.Serial() > now.Last {
				t.Errorf("%s: a post is after the last serial", c.name)
			}
		}
	}
}
