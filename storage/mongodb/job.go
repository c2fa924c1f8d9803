package mongodb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// jobKind says what a job does.
type jobKind string

// jobID names a job.
type jobID struct{ id.ID }

// jobDoc is a document of jobs. A job is about Author alone, or about a part of the followers of Author: those whose follows are
// older than After (zero: all), down to Until, once it is known. Older servers also stored jobs about the lists of a few followers, in
// a field "users". Such a job is done for all followers: to do it again for the others changes nothing.
type jobDoc struct {
	ID      jobID         `bson:"_id"`
	Version int           `bson:"v"`
	Kind    jobKind       `bson:"kind"`
	Author  social.UserID `bson:"author"`
	Post    social.PostID `bson:"post,omitempty"`
	Wall    social.UserID `bson:"wall,omitempty"` // the owner of the wall that the post is on
	After   social.EdgeID `bson:"after,omitempty"`
	Until   social.EdgeID `bson:"until,omitempty"`

	Property social.PropertyID `bson:"property,omitempty"` // of jobForget
	UpTo     social.CommentID  `bson:"upTo,omitempty"`     // of jobErase, which is about all comments of Author up to this one

	MadeAt   time.Time `bson:"madeAt"`
	Due      time.Time `bson:"due,omitempty"` // not before; absent once it was given up
	Lease    jobID     `bson:"lease,omitempty"`
	Attempts int       `bson:"attempts"`
	FailedAt time.Time `bson:"failedAt,omitempty"`
	Error    string    `bson:"error,omitempty"`
}

func (d *jobDoc) fault() social.Fault {
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

// unknownJob is what a layout says to a job that it has not made.
func unknownJob(j *jobDoc) error { return fmt.Errorf("this layout knows no job %q", j.Kind) }

const (
	// jobTime bounds one attempt, and jobLease how long a job stays with a server that may be dead: feeds are
	// complete a few seconds after a crash.
	jobTime  = 5 * time.Second
	jobLease = 6 * time.Second
	// jobAttempts and maxJobPause: a job is given up after about an hour and a half.
	jobAttempts   = 24
	firstJobPause = 100 * time.Millisecond
	maxJobPause   = 5 * time.Minute
	// countedOutages is how many of the attempts count in which the database was slow or had no primary: enough for a pause of
	// 2 to 3 s. Such a job has not failed, and is never given up.
	countedOutages = 5
)

// jobQueue is the durable queue: documents of the collection jobs.
type jobQueue struct {
	jobs  *mongo.Collection
	kinds []jobKind     // those that this server can do; a newer one may add others, and does them
	made  atomic.Int64  // by this process, so far
	ready chan struct{} // tells an idle worker of this process; other processes poll
}

func newJobQueue(jobs *mongo.Collection) *jobQueue {
	return &jobQueue{jobs: jobs, ready: make(chan struct{}, workers)}
}

// add stores jobs, inside the transaction of their cause.
func (q *jobQueue) add(ctx context.Context, jobs ...jobDoc) error {
	if len(jobs) == 0 {
		return nil
	}
	now := time.Now()
	for i := range jobs {
		j := &jobs[i]
		j.ID, j.Version, j.MadeAt, j.Due = jobID{id.New()}, version, now, now
	}
	q.made.Add(int64(len(jobs)))
	_, err := q.jobs.InsertMany(ctx, jobs, options.InsertMany().SetOrdered(false))
	return err
}

// pushJobs are jobs that push new posts.
func pushJobs(kind jobKind, posts []*social.Post) []jobDoc {
	return mdb.Map(posts, func(p **social.Post) jobDoc {
		return jobDoc{Kind: kind, Author: (*p).Author, Post: (*p).ID, Wall: (*p).WallOwner}
	})
}

// addNext stores a job that another one leads to, outside any transaction: one that its server left open would hold the
// job until the database gives it up, after a minute. As long as it is there, it is stored once.
func (q *jobQueue) addNext(ctx context.Context, from, j jobDoc) error {
	name := fmt.Sprint(j.Kind, from.ID.ID, j.After.ID)
	j.ID, j.Version, j.MadeAt, j.Due = jobID{id.Derive(from.ID.Time(), name)}, version, from.MadeAt, time.Now()
	_, err := q.jobs.InsertOne(ctx, j)
	if mongo.IsDuplicateKeyError(err) {
		return nil
	}
	q.Wake()
	return err
}

// Added is how many jobs this process has made so far.
func (q *jobQueue) Added() int64 { return q.made.Load() }

// Wake lets an idle worker of this process look at once.
func (q *jobQueue) Wake() {
	select {
	case q.ready <- struct{}{}:
	default: // enough are awake
	}
}

// claim leases the job of a known kind that has been due for longest: nil where none is.
func (q *jobQueue) claim(ctx context.Context, now time.Time) (*jobDoc, error) {
	var j jobDoc
	err := q.jobs.FindOneAndUpdate(ctx, mdb.Doc("due", mdb.Doc("$lte", now), "kind", mdb.Doc("$in", q.kinds)),
		mdb.Doc("$set", mdb.Doc("due", now.Add(jobLease), "lease", jobID{id.New()}), "$inc", mdb.Doc("attempts", 1)),
		options.FindOneAndUpdate().SetSort(mdb.Doc("due", 1)).SetHint(byDue).SetReturnDocument(options.After)).Decode(&j)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return &j, err
}

// held matches a job for as long as the lease is the one that j has.
func held(j *jobDoc) bson.D { return mdb.Doc("_id", j.ID, "lease", j.Lease) }

// finish removes a job that was done. Where somebody else has it by now, they do it again.
func (q *jobQueue) finish(ctx context.Context, j *jobDoc) error {
	_, err := q.jobs.DeleteOne(ctx, held(j))
	return err
}

// goOn makes a job that has done a part of its work due again at once, behind those that are due already.
func (q *jobQueue) goOn(ctx context.Context, j *jobDoc) error {
	_, err := q.jobs.UpdateOne(ctx, held(j), mdb.Doc("$set", mdb.Doc("due", time.Now(), "attempts", 0), "$unset", mdb.Doc("lease", 1)))
	q.Wake()
	return err
}

// postpone gives a failed job another attempt later, or gives it up. Where the database has failed, the job comes back soon, so that it is
// done within seconds once the database is well again.
func (q *jobQueue) postpone(ctx context.Context, j *jobDoc, reason error) error {
	now := time.Now()
	set, unset := mdb.Doc("error", reason.Error(), "failedAt", now), mdb.Doc("lease", 1)
	attempts := j.Attempts
	if mdb.IsUnavailable(reason) {
		attempts = min(attempts, countedOutages)
		set = append(set, bson.E{Key: "attempts", Value: attempts})
	}
	if attempts < jobAttempts {
		set = append(set, bson.E{Key: "due", Value: now.Add(pauseAfter(attempts))})
	} else {
		unset = append(unset, bson.E{Key: "due", Value: 1})
	}
	_, err := q.jobs.UpdateOne(ctx, held(j), mdb.Doc("$set", set, "$unset", unset))
	return err
}

// pauseAfter grows with each attempt, and is random so that jobs which failed together do not come back together.
func pauseAfter(attempts int) time.Duration {
	pause := min(firstJobPause<<min(attempts, 20), maxJobPause)
	return pause/2 + rand.N(pause/2) //nolint:gosec // a pause is no secret
}

// notAsleep leaves out what is to be done only in some minutes.
func notAsleep(filter bson.D) bson.D {
	asleep := mdb.Doc("kind", jobSweep, "attempts", 0, "due", mdb.Doc("$gt", time.Now().Add(time.Second)))
	return append(filter, bson.E{Key: "$nor", Value: bson.A{asleep}})
}

// isDead matches the jobs that were given up.
func isDead() bson.D {
	return mdb.Doc("failedAt", mdb.Doc("$gt", time.Time{}), "due", mdb.Doc("$exists", false))
}

// backlog counts what is left.
func (q *jobQueue) backlog(ctx context.Context) (b social.Backlog, err error) {
	waiting, err := q.jobs.CountDocuments(ctx, notAsleep(mdb.Doc("due", mdb.Doc("$gt", time.Time{}))), options.Count().SetHint(byDue))
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
	failed, err := mdb.FindAll[jobDoc](ctx, q.jobs, mdb.Doc("failedAt", mdb.Doc("$gt", time.Time{})), social.MaxFaults,
		options.Find().SetSort(mdb.Doc("failedAt", -1)).SetLimit(social.MaxFaults).SetHint(byFailure))
	b.Faults = mdb.Map(failed, (*jobDoc).fault)
	return b, err
}

// oldest is when the oldest job was made: ids sort by time.
func (q *jobQueue) oldest(ctx context.Context) (time.Time, error) {
	var j jobDoc
	err := q.jobs.FindOne(ctx, notAsleep(mdb.Doc("due", mdb.Doc("$exists", true))), options.FindOne().SetSort(mdb.Doc("_id", 1)).SetHint("_id_")).Decode(&j)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return time.Time{}, nil // it has just been done
	}
	return mdb.UTC(j.MadeAt), err
}

// revive gives dead jobs new attempts.
func (q *jobQueue) revive(ctx context.Context) (int, error) {
	result, err := q.jobs.UpdateMany(ctx, isDead(),
		mdb.Doc("$set", mdb.Doc("due", time.Now(), "attempts", 0)), options.UpdateMany().SetHint(byFailure))
	if err != nil {
		return 0, err
	}
	q.Wake()
	return int(result.ModifiedCount), nil
}
