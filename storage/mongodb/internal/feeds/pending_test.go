package feeds

import (
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
)

// TestPendingFloors: the newest known post becomes the floor of a kind of job some time later, once
// jobs of this kind have pushed it and all posts before it.
func TestPendingFloors(t *testing.T) {
	t.Parallel()
	const kind, other jobs.Kind = "push", "other"
	f, start := newPendingFloors(), time.Now()
	post := func(n int) (p social.PostID) {
		if n > 0 {
			p.ID = id.FirstAt(time.UnixMilli(int64(n)))
		}
		return p
	}
	for i, c := range []struct {
		stored  int // noted before
		pending []int
		after   time.Duration
		want    int
	}{
		{5, nil, 0, 0},
		{0, nil, floorAge, 0}, // 5 is next
		{6, nil, floorAge + 1, 0},
		{0, []int{4, 7}, 2 * floorAge, 0}, // 4 is not done: a read of an older snapshot
		{0, []int{7}, 3 * floorAge, 0},
		{0, []int{7, 8}, 4*floorAge - 1, 0},
		{0, []int{7, 8}, 4 * floorAge, 5}, // 8 is next
		{0, []int{8}, 6 * floorAge, 5},
		{3, nil, 7 * floorAge, 5},
		{0, nil, 8 * floorAge, 8},
		{0, nil, 9 * floorAge, 8}, // nothing is newer
		{9, nil, 10 * floorAge, 8},
		{0, nil, 11 * floorAge, 8},
		{0, nil, 12 * floorAge, 9},
	} {
		f.note(post(c.stored))
		var posts []jobs.Pending
		for _, n := range c.pending {
			posts = append(posts, jobs.Pending{Post: post(n)})
		}
		if f.raise(kind, posts, start.Add(c.after)); f.get(kind) != post(c.want) {
			t.Errorf("after step %d, the floor is %v, want %v", i, f.get(kind), post(c.want))
		}
	}
	if f.get(other) != post(0) {
		t.Error("another kind has this floor")
	}
}
