package advertising

import (
	"slices"
	"testing"

	"plaza/social"
)

func TestBreaksCountPublicPosts(t *testing.T) {
	t.Parallel()
	public := &social.Post{Audience: social.Audience{Kind: social.AudiencePublic}}
	private := &social.Post{Audience: social.Audience{Kind: social.AudienceCircles}}
	posts := []*social.Post{private, public, private, public, public, public, private, public}
	for every, want := range map[int][]int{1: {1, 3, 4}, 2: {3, 5}, 3: {4}, 5: {7}, 6: nil} {
		if got := breaksIn(posts, every, 3); !slices.Equal(got, want) {
			t.Errorf("behind every %d: %v, want %v", every, got, want)
		}
	}
}
