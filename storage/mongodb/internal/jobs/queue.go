package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Kind says what a job does.
type Kind string

// ID identifies a job.
type ID struct{ id.ID }

// Job is a document of jobs. A job is for Author, or for a part of Author's followers: those whose
// follows are older than After (zero: all) and not older than Until, once Until is set. Older
// servers also stored jobs for the lists of a few followers, in a field "users". Such a job is done
// for all followers, because repeating it for the others changes nothing.
type Job struct {
	ID      ID            `bson:"_id"`
	Version int           `bson:"v"`
	Kind    Kind          `bson:"kind"`
	Author  social.UserID `bson:"author"`
	Post    social.PostID `bson:"post,omitempty"`
	Wall    social.UserID `bson:"wall,omitempty"` // the owner of the wall that the post is on
	After   social.EdgeID `bson:"after,omitempty"`
	Until   social.EdgeID `bson:"until,omitempty"`

	Property social.PropertyID `bson:"property,omitempty"` // for profiles.JobForget
	UpTo     social.CommentID  `bson:"upTo,omitempty"`     // for jobErase: it erases all comments of Author up to this one

	MadeAt   time.Time `bson:"madeAt"`
	Due      time.Time `bson:"due,omitempty"` // the earliest time of the next attempt; absent once it was given up
	Lease    ID        `bson:"lease,omitempty"`
	Attempts int       `bson:"attempts"`
	FailedAt time.Time `bson:"failedAt,omitempty"`
	Error    string    `bson:"error,omitempty"`
}

func (d *Job) fault() social.Fault {
	what := fmt.Sprintf("%s of %s by %s", d.Kind, d.Post.ID, d.Author.ID)
	switch {
	case !d.Property.IsZero():
		what = fmt.Sprintf("%s of %s", d.Kind, d.Property.ID)
	case d.Post.IsZero():
		what = fmt.Sprintf("%s of %s", d.Kind, d.Author.ID)
	case d.Author.IsZero():
		what = fmt.Sprintf("%s of %s", d.Kind, d.Post.ID)
	}
	return social.Fault{Job: what, Error: d.Error, Attempts: d.Attempts, At: mdb.UTC(d.FailedAt), Dead: d.Due.IsZero()}
}

// IsFirst reports whether a job is for the first part of the followers.
func (d *Job) IsFirst() bool { return d.After.IsZero() }

// Unknown returns the error of a layout for a job that another layout has added.
func Unknown(j *Job) error { return fmt.Errorf("this layout knows no job %q", j.Kind) }

const (
	// workerCount is how many jobs one process does concurrently.
	workerCount = 2
	// AttemptTime bounds one attempt.
	AttemptTime = 5 * time.Second
	// LeaseTime is how long a job stays with a server that may be dead: feeds are complete a few
	// seconds after a crash.
	LeaseTime = 6 * time.Second
	// wholeEvery is how often a server may look at all jobs, and maxLate how long after they became
	// due it finds jobs without that.
	wholeEvery = time.Second
	maxLate    = time.Second
	// MaxAttempts is the number of attempts after which a job is given up. They take about an hour
	// and a half.
	MaxAttempts = 24
	// FirstPause is the longest pause after the first attempt; MaxPause bounds those after later
	// ones.
	FirstPause = 100 * time.Millisecond
	// MaxPause is the longest pause between two attempts.
	MaxPause = 5 * time.Minute
	// countedOutages limits how many attempts count that failed because the database was slow or
	// had no primary: enough for a pause of 2 to 3 s. The job itself has not failed then, so it is
	// never given up.
	countedOutages = 5
)

// ErrMore is returned by an attempt that has done only a part of its job.
var ErrMore = errors.New("there is more to do")

// The indexes that queries of jobs name as hints.
const (
	byDue     = "due"
	byFailure = "failedAt"
	byPost    = "kind_post" // the posts of jobs
)

// Indexes returns the collection with its indexes.
func (q *Queue) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{q.jobs: {
		mdb.IndexHaving("due", byDue, mdb.Doc("due", 1)),
		mdb.IndexHaving("failedAt", byFailure, mdb.Doc("failedAt", -1)),
		mdb.IndexHaving("post", byPost, mdb.Doc("kind", 1, "post", 1)),
	}}
}

// Know adds kinds of jobs that this server can do. Call it before the workers run.
func (q *Queue) Know(kinds ...Kind) {
	q.kinds = append(q.kinds, kinds...)
	slices.Sort(q.kinds)
	q.kinds = slices.Compact(q.kinds)
}

// Queue is the durable queue: documents of the collection jobs.
type Queue struct {
	jobs  *mongo.Collection
	now   func() time.Time // the database's time, which all servers share
	last  atomic.Pointer[search]
	again Kind          // not counted until it is due, because it only repeats a job
	kinds []Kind        // those that this server can do; a newer server may add and do others
	own   own           // those that this process has leased for itself
	ready chan struct{} // wakes an idle worker of this process; other processes poll
}

// NewQueue returns the queue of a collection. Jobs of the kind again repeat work that was done;
// Backlog does not count them before they are due. The function now returns the database's time.
func NewQueue(jobs *mongo.Collection, again Kind, now func() time.Time) *Queue {
	return &Queue{jobs: jobs, now: now, again: again, ready: make(chan struct{}, workerCount)}
}

// Add stores jobs, inside the transaction that causes them. If few are waiting, they are leased for
// this process.
func (q *Queue) Add(ctx context.Context, jobs ...Job) error {
	if len(jobs) == 0 {
		return nil
	}
	now := q.now()
	for i := range jobs {
		j := &jobs[i]
		j.ID, j.Version, j.MadeAt, j.Due = ID{id.New()}, mdb.FirstVersion, now, now
	}
	q.lease(ctx, jobs)
	_, err := q.jobs.InsertMany(ctx, jobs, options.InsertMany().SetOrdered(false))
	return err
}

// AddAs stores a job under its own id, inside the transaction that causes it.
func (q *Queue) AddAs(ctx context.Context, j Job) error {
	j.Version = mdb.FirstVersion
	if a := addedIn(ctx); a != nil {
		a.others = true
	}
	_, err := q.jobs.InsertOne(ctx, j)
	return err
}

// AddOnce stores a job under its id, unless it exists.
func (q *Queue) AddOnce(ctx context.Context, j Job) error {
	j.Version = mdb.FirstVersion
	_, err := q.jobs.InsertOne(ctx, j)
	if mongo.IsDuplicateKeyError(err) {
		return nil
	}
	return err
}

// AddNext stores a job that follows from another one. It uses no transaction: if the server died,
// an open transaction would lock the job until the database ends it after a minute. Repeating the
// call adds no second job while the first one exists. If the first one is done and gone by then, the
// second one counts as a repetition, too.
func (q *Queue) AddNext(ctx context.Context, from, j Job) error {
	name := fmt.Sprint(j.Kind, from.ID.ID, j.After.ID)
	j.ID, j.Version, j.MadeAt, j.Due = ID{id.Derive(from.ID.Time(), name)}, mdb.FirstVersion, from.MadeAt, q.now()
	if from.Attempts > 1 {
		j.Attempts = 1
	}
	_, err := q.jobs.InsertOne(ctx, j)
	if mongo.IsDuplicateKeyError(err) {
		return nil
	}
	q.Wake()
	return err
}

// Wake makes a worker of this process look for jobs in the database now.
func (q *Queue) Wake() {
	q.own.searchAfter(time.Time{})
	q.wakeIdle()
}

func (q *Queue) wakeIdle() {
	select {
	case q.ready <- struct{}{}:
	default: // a worker was already woken
	}
}

// Claim leases the job of a known kind that has been due for longest, or returns nil if there is
// none. It has to skip due jobs of unknown kinds, but only servers of an older version ever see
// those. An index that includes the kind would cost a write for each change of a job.
//
// mongod keeps the index entries of finished jobs for minutes, and a search of the whole queue
// walks over them. So this process does that at most once in wholeEvery, and otherwise begins near
// the job that it has leased last. A job that was stored more than maxLate after it was due waits
// for the next search of the whole queue, up to two seconds and a half.
func (q *Queue) Claim(ctx context.Context, now time.Time) (*Job, error) {
	at := search{whole: now}
	if last := q.last.Load(); last != nil && now.Sub(last.whole) < wholeEvery && !last.since.After(now) {
		at = *last
	}
	j, lease := new(Job), ID{id.New()}
	err := q.jobs.FindOneAndUpdate(ctx, mdb.Doc("due", mdb.Doc("$gte", at.since, "$lte", now), "kind", mdb.Doc("$in", q.kinds)),
		mdb.Doc("$set", mdb.Doc("due", now.Add(LeaseTime), "lease", lease), "$inc", mdb.Doc("attempts", 1)),
		options.FindOneAndUpdate().SetSort(mdb.Doc("due", 1)).SetHint(byDue)).Decode(j)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		at.since = now.Add(-maxLate)
		q.last.Store(&at)
		return nil, nil
	case err != nil:
		return nil, err
	}
	at.since = j.Due.Add(-maxLate)
	q.last.Store(&at)
	j.Due, j.Lease, j.Attempts = now.Add(LeaseTime), lease, j.Attempts+1
	return j, nil
}

// search is where a claim begins: jobs that became due earlier are found by the next search of the
// whole queue.
type search struct {
	since time.Time
	whole time.Time // when the whole queue was searched
}

// held matches a job as long as its lease is the one that j has.
func held(j *Job) bson.D { return mdb.Doc("_id", j.ID, "lease", j.Lease) }

// heldAll matches each of several jobs as held does: leases are unique.
func heldAll(jobs []*Job) bson.D {
	ids := mdb.Map(jobs, func(j **Job) ID { return (*j).ID })
	leases := mdb.Map(jobs, func(j **Job) ID { return (*j).Lease })
	return mdb.Doc("_id", mdb.Doc("$in", ids), "lease", mdb.Doc("$in", leases))
}

// free makes jobs due for all servers.
func (q *Queue) free() bson.D {
	return mdb.Doc("$set", mdb.Doc("due", q.now(), "attempts", 0), "$unset", mdb.Doc("lease", 1))
}

// Finish removes a job that was done: see removeDone.
func (q *Queue) Finish(ctx context.Context, j *Job) error {
	q.own.finish(j)
	return q.removeDone(ctx)
}

// Continue makes a job that has done a part of its work due again immediately, after those that are
// already due.
func (q *Queue) Continue(ctx context.Context, j *Job) error {
	_, err := q.jobs.UpdateOne(ctx, held(j), q.free())
	q.Wake()
	return err
}

// Postpone schedules another attempt of a failed job, or gives the job up. If the database has
// failed, the pause is short, so that the job is done within seconds after the outage.
func (q *Queue) Postpone(ctx context.Context, j *Job, reason error) error {
	now := q.now()
	set, unset := mdb.Doc("error", reason.Error(), "failedAt", now), mdb.Doc("lease", 1)
	attempts := j.Attempts
	if mdb.IsUnavailable(reason) {
		attempts = min(attempts, countedOutages)
		set = append(set, bson.E{Key: "attempts", Value: attempts})
	}
	if attempts < MaxAttempts {
		set = append(set, bson.E{Key: "due", Value: now.Add(PauseAfter(attempts))})
	} else {
		unset = append(unset, bson.E{Key: "due", Value: 1})
	}
	_, err := q.jobs.UpdateOne(ctx, held(j), mdb.Doc("$set", set, "$unset", unset))
	return err
}

// PauseAfter returns the pause after a number of attempts. It grows, and is random so that jobs
// that failed together are not retried together.
func PauseAfter(attempts int) time.Duration {
	pause := min(FirstPause<<min(attempts, 20), MaxPause)
	return pause/2 + rand.N(pause/2) //nolint:gosec // a pause needs no secure randomness
}

// notAsleep excludes jobs of the kind again that are not due yet.
func (q *Queue) notAsleep(filter bson.D) bson.D {
	asleep := mdb.Doc("kind", q.again, "attempts", 0, "due", mdb.Doc("$gt", q.now().Add(time.Second)))
	return append(filter, bson.E{Key: "$nor", Value: bson.A{asleep}})
}

// isDead matches the jobs that were given up.
func isDead() bson.D {
	return mdb.Doc("failedAt", mdb.Doc("$gt", time.Time{}), "due", mdb.Doc("$exists", false))
}

// Backlog counts the jobs that are left.
func (q *Queue) Backlog(ctx context.Context) (b social.Backlog, err error) {
	waiting, err := q.jobs.CountDocuments(ctx, q.notAsleep(mdb.Doc("due", mdb.Doc("$gt", time.Time{}))), options.Count().SetHint(byDue))
	if err != nil {
		return b, err
	}
	b.Waiting = int(waiting)
	if b.Waiting > 0 {
		if b.Oldest, err = q.oldest(ctx); err != nil {
			return b, err
		}
	}
	failed, err := mdb.FindAll[Job](ctx, q.jobs, mdb.Doc("failedAt", mdb.Doc("$gt", time.Time{})), social.MaxFaults,
		options.Find().SetSort(mdb.Doc("failedAt", -1)).SetLimit(social.MaxFaults).SetHint(byFailure))
	if err != nil || len(failed) == 0 { // none is dead either
		return b, err
	}
	b.Faults = mdb.Map(failed, (*Job).fault)
	dead, err := q.jobs.CountDocuments(ctx, isDead(), options.Count().SetHint(byFailure))
	b.Dead = int(dead)
	return b, err
}

// oldest returns when the oldest job was added: ids sort by time.
func (q *Queue) oldest(ctx context.Context) (time.Time, error) {
	var j Job
	err := q.jobs.FindOne(ctx, q.notAsleep(mdb.Doc("due", mdb.Doc("$exists", true))), options.FindOne().SetSort(mdb.Doc("_id", 1)).SetHint("_id_")).Decode(&j)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return time.Time{}, nil // the last job has just been done
	}
	return mdb.UTC(j.MadeAt), err
}

// Revive gives dead jobs new attempts, which count as repetitions: a part of the work may be done.
func (q *Queue) Revive(ctx context.Context) (int, error) {
	result, err := q.jobs.UpdateMany(ctx, isDead(),
		mdb.Doc("$set", mdb.Doc("due", q.now(), "attempts", 1)), options.UpdateMany().SetHint(byFailure))
	if err != nil {
		return 0, err
	}
	q.Wake()
	return int(result.ModifiedCount), nil
}
