package loaders_test

import (
	"testing"

	"plaza/id"
	"plaza/loaders"
	"plaza/social"
)

// TestPrimeReplaces: two items of a subscription are encoded with the same loaders, and the second
// may have been read later than the first.
func TestPrimeReplaces(t *testing.T) {
	t.Parallel()
	load := loaders.New(nil, 0)
	post := social.PostID{ID: id.New()}
	for count := range 2 {
		load.Posts.Prime(t.Context(), post, &social.Post{ID: post, CommentCount: count})
		if got, err := load.Posts.Load(t.Context(), post); err != nil || got.CommentCount != count {
			t.Errorf("%+v, %v, want the count %d", got, err, count)
		}
	}
}
