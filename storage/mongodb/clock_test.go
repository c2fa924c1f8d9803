package mongodb

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/mongotest"
)

// TestServersShareTheDatabasesTime: two servers whose clocks are wrong by hours work with the
// database's time, so one does a job of the other when its time has come, and not before.
func TestServersShareTheDatabasesTime(t *testing.T) {
	t.Parallel()
	uri, ctx := mongotest.Reused(t), t.Context()
	wrong := func(ahead time.Duration) *Store {
		clock := cluster.NewClock(func() time.Time { return time.Now().Add(ahead) })
		s := must(Open(ctx, uri, Options{clock: clock}))(t)
		t.Cleanup(func() { ok(t, s.Close()) })
		if off := time.Until(s.Now()); off.Abs() > ahead.Abs()/2 {
			t.Errorf("the time of a server whose clock is wrong by %v is wrong by %v", ahead, off)
		}
		return s
	}
	fast, slow := wrong(5*time.Hour), wrong(-5*time.Hour)
	for name, servers := range map[string][2]*Store{"fast": {fast, slow}, "slow": {slow, fast}} {
		by, other := servers[0], servers[1]
		ok(t, by.jobs.Add(ctx, jobs.Job{Kind: pushJob}))
		j := must(other.jobs.Claim(ctx, other.Now().Add(time.Hour)))(t)
		if j == nil {
			t.Fatalf("the %s server's job waits for its clock", name)
		}
		if taken := must(by.jobs.Claim(ctx, by.Now()))(t); taken != nil {
			t.Errorf("the %s server takes a job that the other one has just leased", name)
		}
		ok(t, other.jobs.Finish(ctx, j))
	}
}

// TestDeletionsBeginByTheDatabasesTime: a job that is stored under its own id is due by the same
// clock as the others.
func TestDeletionsBeginByTheDatabasesTime(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	clock := cluster.NewClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	s, user := openInside(t, Options{clock: clock, Heartbeat: time.Hour, Lease: 2 * time.Hour}), social.UserID{ID: id.New()}
	ahead.Store(int64(5 * time.Hour)) // since the only heartbeat, so that the database's time seems to be another one
	ok(t, s.db.Write(t.Context(), "begin deletion", nil, func(ctx context.Context) error { return deletions{s}.Begin(ctx, user) }))
	ok(t, s.addErasure(t.Context(), user, social.CommentID{ID: id.New()}))
	for _, job := range []jobs.ID{deletionID(user), eraseID(user)} {
		if late := must(s.jobs.Find(t.Context(), job))(t).Due.Sub(s.Now()); late.Abs() > time.Hour {
			t.Errorf("the job %s is due in %v", job.ID, late)
		}
	}
}
