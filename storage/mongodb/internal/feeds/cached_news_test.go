package feeds

import (
	"slices"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/recent"
)

func postAt(serial int64) social.PostID { return social.PostID{ID: id.WithSerial(serial)} }

// TestCachedNewsContinueWhatIsInMemory: news are complete down to their floor if they reach up to
// the posts in memory.
func TestCachedNewsContinueWhatIsInMemory(t *testing.T) {
	t.Parallel()
	now := time.Now()
	inMemory := func(floor, middle, last int64) recent.Known {
		k := recent.Known{At: recent.Sequence{Last: last, Backdated: 2}, Middle: postAt(middle)}
		if floor > 0 {
			k.Floor = postAt(floor)
		}
		return k
	}
	cached := func(until int64) cachedNews {
		return cachedNews{Authors: make([]social.UserID, 1), Until: until, Backdated: 2, UsedAt: now.Add(-listUse + time.Minute)}
	}
	empty, old, backdated := cached(90), cached(90), cached(90)
	empty.Authors, old.UsedAt, backdated.Backdated = nil, now.Add(-listUse), 1
	for _, c := range []struct {
		name             string
		news             cachedNews
		known            recent.Known
		continues, isDue bool
	}{
		{"as new as the posts in memory", cached(97), inMemory(50, 70, 97), true, false},
		{"newer than the middle", cached(70), inMemory(50, 70, 97), true, false},
		{"older than the middle", cached(69), inMemory(50, 70, 97), true, true},
		{"up to the oldest in memory", cached(50), inMemory(50, 70, 97), true, true},
		{"before the oldest in memory", cached(49), inMemory(50, 70, 97), false, true},
		{"all posts in memory", cached(3), inMemory(0, 70, 97), true, false},
		{"a snapshot older than the posts in memory", cached(45), inMemory(50, 70, 45), true, true},
		{"after a change of follows", empty, inMemory(0, 70, 97), false, true},
		{"a day later", old, inMemory(0, 70, 97), true, true},
		{"after a backdated post", backdated, inMemory(0, 70, 97), false, true},
	} {
		if got := c.news.continues(c.known); got != c.continues {
			t.Errorf("%s: continues is %t", c.name, got)
		}
		if got := c.news.isDue(c.known, now); got != c.isDue {
			t.Errorf("%s: due is %t", c.name, got)
		}
	}
}

// TestCachedIDsAreAddedBelowMemory: a page has the cached ids that the snapshot has, and that are
// neither in memory nor out of its bounds.
func TestCachedIDsAreAddedBelowMemory(t *testing.T) {
	t.Parallel()
	news := cachedNews{Floor: postAt(11)}
	for serial := int64(61); serial >= 11; serial -= 10 {
		news.IDs = append(news.IDs, postAt(serial))
	}
	key := func(i int) social.Key { return social.Key(news.IDs[i].Bytes()) }
	for _, c := range []struct {
		name        string
		floor, last int64
		page        social.Page
		want        []int64
	}{
		{"below memory", 45, 90, social.Page{Limit: 9}, []int64{41, 31, 21, 11}},
		{"cut", 45, 90, social.Page{Limit: 3}, []int64{41, 31, 21}},
		{"all in memory", 0, 90, social.Page{Limit: 9}, nil},
		{"an older snapshot", 70, 35, social.Page{Limit: 9}, []int64{31, 21, 11}},
		{"after a cursor", 70, 90, social.Page{Limit: 2, After: key(1)}, []int64{41, 31}},
		{"before a cursor", 70, 90, social.Page{Limit: 2, Before: key(4), Last: true}, []int64{41, 31}},
		{"newer than a cursor", 70, 90, social.Page{Limit: 9, Before: key(2)}, []int64{61, 51}},
	} {
		known := recent.Known{At: recent.Sequence{Last: c.last}}
		if c.floor > 0 {
			known.Floor = postAt(c.floor)
		}
		got := news.fill(nil, known, c.page)
		if !slices.EqualFunc(got, c.want, func(post social.PostID, serial int64) bool { return post.Serial() == serial }) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCachedNewsReachDown: a page's ids are known down to the lower one of two floors, of which none
// is lower than the first post.
func TestCachedNewsReachDown(t *testing.T) {
	t.Parallel()
	first, low, high := social.PostID{}, postAt(11), postAt(45)
	for _, c := range []struct{ cached, inMemory, want social.PostID }{
		{low, high, low}, {high, low, low}, {first, high, first}, {low, first, first}, {first, first, first},
	} {
		news := cachedNews{Floor: c.cached}
		if got := news.floorWith(recent.Known{Floor: c.inMemory}); got != c.want {
			t.Errorf("cached from %v, in memory from %v: known from %v", c.cached, c.inMemory, got)
		}
	}
}
