package mongodb

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// openWorking opens a store that does background work, although it has none yet.
func openWorking(t *testing.T) *Store {
	t.Helper()
	s := openInside(t, Options{})
	if j := must(s.jobs.Next(t.Context(), time.Now()))(t); j != nil {
		t.Fatalf("there is a job before the first: %+v", j)
	}
	return s
}

// addOwn adds jobs in one transaction.
func addOwn(t *testing.T, s *Store, n int) {
	t.Helper()
	added := slices.Repeat([]jobs.Job{{Kind: pushJob}}, n)
	ok(t, s.db.Write(t.Context(), "add jobs", nil, func(ctx context.Context) error { return s.jobs.Add(ctx, added...) }))
}

// otherQueue is the queue as another server has it.
func otherQueue(s *Store) *jobs.Queue {
	q := jobs.NewQueue(jobsOf(s), jobSweep, time.Now)
	q.Know(pushJob)
	return q
}

// left returns how many jobs are stored.
func left(t *testing.T, s *Store) int {
	t.Helper()
	return must(s.Backlog(t.Context()))(t).Waiting
}

func TestAServerDoesItsOwnJobs(t *testing.T) {
	t.Parallel()
	s, ctx, now := openWorking(t), t.Context(), time.Now()
	const n = 3
	addOwn(t, s, n)
	other := otherQueue(s)
	if j := must(other.Claim(ctx, now))(t); j != nil {
		t.Errorf("another server has taken it: %+v", j)
	}
	for i := range n {
		j := must(s.jobs.Next(ctx, now))(t)
		if j == nil || j.Attempts != 1 {
			t.Fatalf("job %d: %+v", i, j)
		}
		ok(t, s.jobs.Finish(ctx, j))
		if want := []int{n, n, 0}[i]; left(t, s) != want {
			t.Errorf("after job %d, %d are stored, want %d: the last one removes all", i, left(t, s), want)
		}
	}
	if j := must(s.jobs.Next(ctx, now))(t); j != nil {
		t.Errorf("another job: %+v", j)
	}
}

// TestOwnJobsOfDeadServers: the server dies while jobs are waiting, and before it has removed one
// that it has done.
func TestOwnJobsOfDeadServers(t *testing.T) {
	t.Parallel()
	s, ctx := openWorking(t), t.Context()
	addOwn(t, s, 3)
	ok(t, s.jobs.Finish(ctx, must(s.jobs.Next(ctx, time.Now()))(t)))
	other := otherQueue(s)
	for range 3 {
		j := must(other.Claim(ctx, time.Now().Add(jobs.LeaseTime)))(t)
		if j == nil || j.Attempts != 2 {
			t.Fatalf("it was not taken over: %+v", j)
		}
		ok(t, other.Finish(ctx, j))
	}
	if left(t, s) != 0 {
		t.Errorf("%d jobs are left", left(t, s))
	}
}

// TestOwnJobsThatWaitedTooLong: a lease that is too short for an attempt is renewed, unless another
// server has taken the job.
func TestOwnJobsThatWaitedTooLong(t *testing.T) {
	t.Parallel()
	s, ctx := openWorking(t), t.Context()
	addOwn(t, s, 2)
	other := otherQueue(s)
	taken := must(other.Claim(ctx, time.Now().Add(jobs.LeaseTime)))(t)
	now := time.Now().Add(jobs.LeaseTime)
	j := must(s.jobs.Next(ctx, now))(t)
	if j == nil || j.ID == taken.ID {
		t.Fatalf("next is %+v; the other server has %v", j, taken.ID)
	}
	if k := must(other.Claim(ctx, now.Add(jobs.LeaseTime/2)))(t); k != nil {
		t.Errorf("the lease was not renewed: %+v", k)
	}
}

func TestJobsOfFailedTransactions(t *testing.T) {
	t.Parallel()
	s, ctx := openWorking(t), t.Context()
	err := s.db.Write(ctx, "fail", nil, func(ctx context.Context) error {
		ok(t, s.jobs.Add(ctx, jobs.Job{Kind: pushJob}))
		return social.ErrConflict
	})
	if !errors.Is(err, social.ErrConflict) {
		t.Fatal(err)
	}
	if j := must(s.jobs.Next(ctx, time.Now()))(t); j != nil {
		t.Errorf("a job of a failed transaction is done: %+v", j)
	}
}

// TestAStoppedServerGivesItsJobsBack: other servers do them at once.
func TestAStoppedServerGivesItsJobsBack(t *testing.T) {
	t.Parallel()
	s, ctx := openWorking(t), t.Context()
	addOwn(t, s, 3)
	ok(t, s.jobs.Finish(ctx, must(s.jobs.Next(ctx, time.Now()))(t)))
	stopped, stop := context.WithCancel(ctx)
	stop()
	s.Work(stopped)
	if left(t, s) != 2 {
		t.Errorf("%d jobs are left, want 2", left(t, s))
	}
	other := otherQueue(s)
	for range 2 {
		if j := must(other.Claim(ctx, time.Now()))(t); j == nil || j.Attempts != 1 {
			t.Errorf("it was not given back: %+v", j)
		}
	}
}

// TestOwnJobsLeaveRoomForOthers: a server that always has jobs of its own also does those of others,
// and does not lease more than a few for itself.
func TestOwnJobsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	s, ctx := openWorking(t), t.Context()
	other := jobs.Job{ID: jobs.ID{ID: id.New()}, Kind: pushJob, Due: time.Now()}
	addOwn(t, s, 60)
	ok(t, s.jobs.AddAs(ctx, other))
	isOther := func(at time.Time) bool {
		j := must(s.jobs.Next(ctx, at))(t)
		return j != nil && j.ID == other.ID
	}
	now := time.Now()
	if isOther(now) {
		t.Error("a search was not due yet")
	}
	if !isOther(now.Add(time.Second)) {
		t.Error("the other job was not done")
	}
	addOwn(t, s, 10) // 59 are waiting: the first 5 of these are leased
	addOwn(t, s, 1)
	free := must(mdb.FindAll[jobs.Job](ctx, jobsOf(s), mdb.Doc("attempts", 0), mdb.InBatch))(t)
	if len(free) != 6 {
		t.Errorf("%d jobs are for all servers, want 6", len(free))
	}
}
