package jobs

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Find reads a job, or returns ErrNotFound.
func (q *Queue) Find(ctx context.Context, job ID) (*Job, error) {
	var j Job
	if err := mdb.OrNotFound(q.jobs.FindOne(ctx, mdb.Doc("_id", job)).Decode(&j)); err != nil {
		return nil, err
	}
	return &j, nil
}

// Remove removes a job, if it exists.
func (q *Queue) Remove(ctx context.Context, job ID) error {
	_, err := q.jobs.DeleteOne(ctx, mdb.Doc("_id", job))
	return err
}

// RemoveKinds removes all jobs of some kinds.
func (q *Queue) RemoveKinds(ctx context.Context, kinds []Kind) error {
	_, err := q.jobs.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$gt", mdb.ZeroKey), "kind", mdb.Doc("$in", kinds)),
		options.DeleteMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// Extend stores a job under its id, or extends the one that exists up to UpTo. A worker that holds
// its lease loses it, because it knows the old limit.
func (q *Queue) Extend(ctx context.Context, j Job) error {
	_, err := q.jobs.UpdateOne(ctx, mdb.Doc("_id", j.ID), mdb.Doc(
		"$max", mdb.Doc("upTo", j.UpTo),
		"$set", mdb.Doc("due", j.Due, "attempts", 0),
		"$unset", mdb.Doc("lease", 1),
		"$setOnInsert", mdb.Doc("v", mdb.FirstVersion, "kind", j.Kind, "author", j.Author, "madeAt", j.MadeAt),
	), options.UpdateOne().SetUpsert(true))
	return mdb.OrRetry(err)
}

// Hasten makes a job due now, unless a worker has it.
func (q *Queue) Hasten(ctx context.Context, job ID) error {
	_, err := q.jobs.UpdateOne(ctx, mdb.Doc("_id", job, "lease", mdb.Doc("$exists", false)), mdb.Doc("$set", mdb.Doc("due", q.now())))
	return err
}

// RemoveUpTo removes a job, unless it was extended beyond upTo.
func (q *Queue) RemoveUpTo(ctx context.Context, job ID, upTo social.CommentID) error {
	_, err := q.jobs.DeleteOne(ctx, mdb.Doc("_id", job, "upTo", mdb.Doc("$lte", upTo)))
	return err
}

// Split limits the job to the followers up to last, and adds a new job for the others. If the
// server dies in between, the job is split again, and some followers are in both.
func (q *Queue) Split(ctx context.Context, j *Job, last social.EdgeID) error {
	if err := q.AddNext(ctx, *j, Job{Kind: j.Kind, Author: j.Author, Post: j.Post, After: last}); err != nil {
		return err
	}
	_, err := q.jobs.UpdateOne(ctx, held(j), mdb.Doc("$set", mdb.Doc("until", last)))
	return err
}

// Pending is the post of a job that is not done yet.
type Pending struct {
	Post   social.PostID `bson:"post"`
	Author social.UserID `bson:"author"`
	Wall   social.UserID `bson:"wall"`
}

// SetField implements mdb.Document.
func (p *Pending) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "post":
		r.ID(v, &p.Post.ID)
	case "author":
		r.ID(v, &p.Author.ID)
	case "wall":
		r.ID(v, &p.Wall.ID)
	}
}

// Pending reads up to most posts of jobs of a kind that are within bounds.
func (q *Queue) Pending(ctx context.Context, kind Kind, bounds bson.D, most int) ([]Pending, error) {
	return mdb.FindAll[Pending](ctx, q.jobs, mdb.Doc("kind", kind, "post", bounds), most,
		options.Find().SetLimit(int64(most)).SetHint(byPost).SetProjection(mdb.Doc("_id", 0, "post", 1, "author", 1, "wall", 1)))
}
