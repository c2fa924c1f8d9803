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

// ID names a job.
type ID struct{ id.ID }

// Job is a document of jobs. A job is about Author alone, or about a part of the followers of
// Author: those whose follows are older than After (zero: all), down to Until, once it is known.
// Older servers also stored jobs about the lists of a few followers, in a field "users". Such a job
// is done for all followers: to do it again for the others changes nothing.
type Job struct {
	ID      ID            `bson:"_id"`
	Version int           `bson:"v"`
	Kind    Kind          `bson:"kind"`
	Author  social.UserID `bson:"author"`
	Post    social.PostID `bson:"post,omitempty"`
	Wall    social.UserID `bson:"wall,omitempty"` // the owner of the wall that the post is on
	After   social.EdgeID `bson:"after,omitempty"`
	Until   social.EdgeID `bson:"until,omitempty"`

	Property social.PropertyID `bson:"property,omitempty"` // of jobForget
	UpTo     social.CommentID  `bson:"upTo,omitempty"`     // of jobErase, which is about all comments of Author up to this one

	MadeAt   time.Time `bson:"madeAt"`
	Due      time.Time `bson:"due,omitempty"` // not before; absent once it was given up
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

// IsFirst reports whether a job is about the first of the followers.
func (d *Job) IsFirst() bool { return d.After.IsZero() }

// Unknown is what a layout says to a job that it has not made.
func Unknown(j *Job) error { return fmt.Errorf("this layout knows no job %q", j.Kind) }

const (
	// workerCount is how many jobs one process does at the same time.
	workerCount = 2
	// AttemptTime bounds one attempt.
	AttemptTime = 5 * time.Second
	// LeaseTime is how long a job stays with a server that may be dead: feeds are complete a few
	// seconds after a crash.
	LeaseTime = 6 * time.Second
	// MaxAttempts is after how many attempts a job is given up: about an hour and a half.
	MaxAttempts = 24
	// FirstPause is the longest pause after the first attempt; MaxPause bounds those after later
	// ones.
	FirstPause = 100 * time.Millisecond
	// MaxPause is the longest pause between two attempts.
	MaxPause = 5 * time.Minute
	// countedOutages is how many of the attempts count in which the database was slow or had no
	// primary: enough for a pause of 2 to 3 s. Such a job has not failed, and is never given up.
	countedOutages = 5
)

// ErrMore ends an attempt that has done a part of its job.
var ErrMore = errors.New("there is more to do")

// The indexes that queries of jobs name as hints.
const (
	byDue     = "due"
	byFailure = "failedAt"
	byPost    = "kind_post" // the posts that jobs are about
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
	again Kind          // is not counted until it is due: it repeats what was done
	kinds []Kind        // those that this server can do; a newer one may add others, and does them
	made  atomic.Int64  // by this process, so far
	ready chan struct{} // wakes an idle worker of this process; other processes poll
}

// NewQueue makes the queue of a collection. Jobs of the kind again do once more what was done: they
// are not work to be waited for.
func NewQueue(jobs *mongo.Collection, again Kind) *Queue {
	return &Queue{jobs: jobs, again: again, ready: make(chan struct{}, workerCount)}
}

// Add stores jobs, inside the transaction of their cause.
func (q *Queue) Add(ctx context.Context, jobs ...Job) error {
	if len(jobs) == 0 {
		return nil
	}
	now := time.Now()
	for i := range jobs {
		j := &jobs[i]
		j.ID, j.Version, j.MadeAt, j.Due = ID{id.New()}, mdb.FirstVersion, now, now
	}
	q.made.Add(int64(len(jobs)))
	_, err := q.jobs.InsertMany(ctx, jobs, options.InsertMany().SetOrdered(false))
	return err
}

// AddAs stores a job under the id that it has, inside the transaction of its cause.
func (q *Queue) AddAs(ctx context.Context, j Job) error {
	j.Version = mdb.FirstVersion
	q.made.Add(1)
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

// AddNext stores a job that another one leads to, outside any transaction: one that its server left
// open would hold the job until the database gives it up, after a minute. As long as it is there,
// it is stored once.
func (q *Queue) AddNext(ctx context.Context, from, j Job) error {
	name := fmt.Sprint(j.Kind, from.ID.ID, j.After.ID)
	j.ID, j.Version, j.MadeAt, j.Due = ID{id.Derive(from.ID.Time(), name)}, mdb.FirstVersion, from.MadeAt, time.Now()
	_, err := q.jobs.InsertOne(ctx, j)
	if mongo.IsDuplicateKeyError(err) {
		return nil
	}
	q.Wake()
	return err
}

// Added is how many jobs this process has made so far.
func (q *Queue) Added() int64 { return q.made.Load() }

// Wake lets an idle worker of this process look for jobs now.
func (q *Queue) Wake() {
	select {
	case q.ready <- struct{}{}:
	default: // enough are awake
	}
}

// Claim leases the job of a known kind that has been due for longest, or returns nil if there is
// none. It reads past every due job of an unknown kind. Only a server of an older version meets
// those, until it is replaced; an index on the kind as well would cost a write with each change of
// a job.
func (q *Queue) Claim(ctx context.Context, now time.Time) (*Job, error) {
	var j Job
	err := q.jobs.FindOneAndUpdate(ctx, mdb.Doc("due", mdb.Doc("$lte", now), "kind", mdb.Doc("$in", q.kinds)),
		mdb.Doc("$set", mdb.Doc("due", now.Add(LeaseTime), "lease", ID{id.New()}), "$inc", mdb.Doc("attempts", 1)),
		options.FindOneAndUpdate().SetSort(mdb.Doc("due", 1)).SetHint(byDue).SetReturnDocument(options.After)).Decode(&j)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return &j, err
}

// held matches a job as long as its lease is the one that j has.
func held(j *Job) bson.D { return mdb.Doc("_id", j.ID, "lease", j.Lease) }

// Finish removes a job that was done, unless another worker has the lease by now: that one does it
// again.
func (q *Queue) Finish(ctx context.Context, j *Job) error {
	_, err := q.jobs.DeleteOne(ctx, held(j))
	return err
}

// Continue makes a job that has done a part of its work due again at once, behind those that are
// due already.
func (q *Queue) Continue(ctx context.Context, j *Job) error {
	_, err := q.jobs.UpdateOne(ctx, held(j), mdb.Doc("$set", mdb.Doc("due", time.Now(), "attempts", 0), "$unset", mdb.Doc("lease", 1)))
	q.Wake()
	return err
}

// Postpone gives a failed job another attempt later, or gives it up. Where the database has failed,
// the job comes back soon, so that it is done within seconds once the database is well again.
func (q *Queue) Postpone(ctx context.Context, j *Job, reason error) error {
	now := time.Now()
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

// PauseAfter grows with each attempt, and is random so that jobs which failed together do not come
// back together.
func PauseAfter(attempts int) time.Duration {
	pause := min(FirstPause<<min(attempts, 20), MaxPause)
	return pause/2 + rand.N(pause/2) //nolint:gosec // a pause is no secret
}

// notAsleep leaves out what is to be done only in some minutes.
func (q *Queue) notAsleep(filter bson.D) bson.D {
	asleep := mdb.Doc("kind", q.again, "attempts", 0, "due", mdb.Doc("$gt", time.Now().Add(time.Second)))
	return append(filter, bson.E{Key: "$nor", Value: bson.A{asleep}})
}

// isDead matches the jobs that were given up.
func isDead() bson.D {
	return mdb.Doc("failedAt", mdb.Doc("$gt", time.Time{}), "due", mdb.Doc("$exists", false))
}

// Backlog counts what is left.
func (q *Queue) Backlog(ctx context.Context) (b social.Backlog, err error) {
	waiting, err := q.jobs.CountDocuments(ctx, q.notAsleep(mdb.Doc("due", mdb.Doc("$gt", time.Time{}))), options.Count().SetHint(byDue))
	if err != nil {
		return b, err
	}
	dead, err := q.jobs.CountDocuments(ctx, isDead(), options.Count().SetHint(byFailure))
	if err != nil {
		return b, err
	}
	b.Waiting, b.Dead = int(waiting), int(dead)
	if b.Waiting > 0 {
		if b.Oldest, err = q.oldest(ctx); err != nil {
			return b, err
		}
	}
	failed, err := mdb.FindAll[Job](ctx, q.jobs, mdb.Doc("failedAt", mdb.Doc("$gt", time.Time{})), social.MaxFaults,
		options.Find().SetSort(mdb.Doc("failedAt", -1)).SetLimit(social.MaxFaults).SetHint(byFailure))
	b.Faults = mdb.Map(failed, (*Job).fault)
	return b, err
}

// oldest is when the oldest job was made: ids sort by time.
func (q *Queue) oldest(ctx context.Context) (time.Time, error) {
	var j Job
	err := q.jobs.FindOne(ctx, q.notAsleep(mdb.Doc("due", mdb.Doc("$exists", true))), options.FindOne().SetSort(mdb.Doc("_id", 1)).SetHint("_id_")).Decode(&j)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return time.Time{}, nil // it has just been done
	}
	return mdb.UTC(j.MadeAt), err
}

// Revive gives dead jobs new attempts.
func (q *Queue) Revive(ctx context.Context) (int, error) {
	result, err := q.jobs.UpdateMany(ctx, isDead(),
		mdb.Doc("$set", mdb.Doc("due", time.Now(), "attempts", 0)), options.UpdateMany().SetHint(byFailure))
	if err != nil {
		return 0, err
	}
	q.Wake()
	return int(result.ModifiedCount), nil
}
