package feeds

import (
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
)

// TestPendingFloors: a floor follows the clock, but passes no post that a job has yet to push, and
// belongs to one kind of job.
func TestPendingFloors(t *testing.T) {
	t.Parallel()
	const kind, other jobs.Kind = "push", "other"
	f := &pendingFloors{of: map[jobs.Kind]social.PostID{}}
	now := time.Now()
	at := func(ago time.Duration) social.PostID { return social.PostID{ID: id.FirstAt(now.Add(-ago))} }
	waiting := func(ago time.Duration) []jobs.Pending { return []jobs.Pending{{Post: at(ago)}} }
	for i, c := range []struct {
		posts []jobs.Pending
		at    time.Time
		want  social.PostID
	}{
		{nil, now, at(floorAge)},
		{nil, now.Add(-time.Second), at(floorAge)}, // a page that took longer
		{waiting(floorAge / 2), now.Add(floorAge / 4), at(floorAge * 3 / 4)},
		{waiting(floorAge / 2), now.Add(floorAge / 2), at(floorAge * 3 / 4)},
		{waiting(floorAge / 2), now.Add(time.Hour), at(floorAge * 3 / 4)},
		{nil, now.Add(time.Hour), at(floorAge - time.Hour)},
	} {
		if f.raise(kind, c.posts, c.at); f.get(kind) != c.want {
			t.Errorf("floor %d is at %v, want %v", i, f.get(kind).Time(), c.want.Time())
		}
	}
	if f.get(other) != (social.PostID{}) {
		t.Error("another kind has this floor")
	}
}
