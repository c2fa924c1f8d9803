package jobs

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

const (
	// ownMost is how many jobs wait for the workers of one process. Any server may take further
	// ones.
	ownMost = 64
	// finishTogether is how many jobs are removed by one command while others wait.
	finishTogether = 16
	// searchEvery is how often a process looks for jobs in the database while its own are waiting,
	// as long as it finds some; otherwise it does so once in wholeEvery.
	searchEvery = 20 * time.Millisecond
)

// own are the jobs that a process leased for itself when it added them: it need not search for
// them. If the process dies, or does not begin them within LeaseTime, other servers do them.
type own struct {
	active atomic.Bool // the process works

	mu       sync.Mutex
	waiting  []*Job // in the order in which they were added
	done     []*Job // not removed yet
	searchAt time.Time
}

// room returns how many more jobs may wait for this process.
func (o *own) room() int {
	if !o.active.Load() {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return max(0, ownMost-len(o.waiting))
}

func (o *own) add(jobs []*Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, jobs...)
}

// next takes the oldest job, or returns nil.
func (o *own) next() *Job {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return nil
	}
	j := o.waiting[0]
	o.waiting[0], o.waiting = nil, o.waiting[1:]
	return j
}

// isNext reports whether the next job is one of these.
func (o *own) isNext(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) > 0 && now.Before(o.searchAt)
}

// searchAfter sets when the next job is searched for in the database, even if some are waiting.
func (o *own) searchAfter(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.searchAt = at
}

// finish notes that a job was done.
func (o *own) finish(j *Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, j)
}

// finished takes the jobs that were done, unless few were and others are waiting.
func (o *own) finished() []*Job {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) > 0 && len(o.done) < finishTogether {
		return nil
	}
	done := o.done
	o.done = nil
	return done
}

// drain takes all jobs that are waiting.
func (o *own) drain() []*Job {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting := o.waiting
	o.waiting = nil
	return waiting
}

// added are the jobs that one attempt of a transaction has added.
type added struct {
	own    []*Job // which this process has leased
	others bool   // there are others
}

type addedKey struct{}

// addedIn returns what the transaction of ctx has added; nil outside of transactions.
func addedIn(ctx context.Context) *added {
	a, _ := ctx.Value(addedKey{}).(*added)
	return a
}

// Transaction implements mdb.Jobs.
func (q *Queue) Transaction(ctx context.Context) (context.Context, func()) {
	a := new(added)
	return context.WithValue(ctx, addedKey{}, a), func() {
		if a.others {
			q.Wake()
		}
		q.own.add(a.own)
		for range min(len(a.own), workerCount) {
			q.wakeIdle()
		}
	}
}

// lease leases new jobs for this process, if a transaction adds them, and as long as few are
// waiting.
func (q *Queue) lease(ctx context.Context, jobs []Job) {
	a := addedIn(ctx)
	if a == nil {
		return
	}
	n := min(len(jobs), max(0, q.own.room()-len(a.own)))
	a.others = a.others || n < len(jobs)
	for i := range jobs[:n] {
		j := &jobs[i]
		j.Due, j.Lease, j.Attempts = j.Due.Add(LeaseTime), ID{id.New()}, 1
		leased := *j
		a.own = append(a.own, &leased)
	}
}

// Next leases the next job: one that waits for this process, or one that [Queue.Claim] finds. It
// returns nil if there is none.
func (q *Queue) Next(ctx context.Context, now time.Time) (*Job, error) {
	q.own.active.Store(true)
	ownFirst := q.own.isNext(now)
	if ownFirst {
		if j, err := q.nextOwn(ctx, now); j != nil || err != nil {
			return j, err
		}
	}
	q.own.searchAfter(now.Add(wholeEvery))
	j, err := q.Claim(ctx, now)
	if j != nil {
		q.own.searchAfter(now.Add(searchEvery))
	}
	if j != nil || err != nil || ownFirst {
		return j, err
	}
	return q.nextOwn(ctx, now)
}

// nextOwn takes the oldest of this process' own jobs, with a lease that is long enough for an
// attempt. It leaves out those that another server has taken meanwhile.
func (q *Queue) nextOwn(ctx context.Context, now time.Time) (*Job, error) {
	for {
		j := q.own.next()
		if j == nil || j.Due.Sub(now) >= AttemptTime {
			return j, nil
		}
		j.Due = now.Add(LeaseTime)
		result, err := q.jobs.UpdateOne(ctx, held(j), mdb.Doc("$set", mdb.Doc("due", j.Due)))
		if err != nil {
			return nil, err
		}
		if result.MatchedCount == 1 {
			return j, nil
		}
	}
}

// removeDone removes jobs that were done, unless another worker has taken the lease and does them
// again. While others are waiting, it removes several at a time: until then, a job that was done
// may be repeated.
func (q *Queue) removeDone(ctx context.Context) error {
	var err error
	switch done := q.own.finished(); len(done) {
	case 0:
	case 1: // which the driver repeats if it fails
		_, err = q.jobs.DeleteOne(ctx, held(done[0]))
	default:
		_, err = q.jobs.DeleteMany(ctx, heldAll(done), options.DeleteMany().SetHint(mdb.Doc("_id", 1)))
	}
	return err
}

// GiveBack makes this process' own jobs due for all servers.
func (q *Queue) GiveBack(ctx context.Context) error {
	waiting := q.own.drain()
	if len(waiting) > 0 {
		_, err := q.jobs.UpdateMany(ctx, heldAll(waiting), q.free(), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
		if err != nil {
			return err
		}
	}
	return q.removeDone(ctx)
}
