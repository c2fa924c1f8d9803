package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// The jobs of hybridFeeds.
const (
	jobPush    jobs.Kind = "push"    // put Post into the lists of Author's followers
	jobPull    jobs.Kind = "pull"    // take Post out of them
	jobPromote jobs.Kind = "promote" // name Author in them as merged
)

// jobSize is how many followers one job is about.
const jobSize = 500

func (*hybridFeeds) jobKinds() []jobs.Kind {
	return []jobs.Kind{jobPush, jobPull, jobPromote}
}

// do implements feeds.
func (f *hybridFeeds) do(ctx context.Context, j *jobs.Job) error {
	switch j.Kind {
	case jobPush, jobPull:
		return f.spread(ctx, j)
	case jobPromote:
		return f.promote(ctx, j)
	default:
		return jobs.Unknown(j)
	}
}

// spread pushes or pulls a post: for the first of the followers, after it has split the others off as a job of their own,
// which another worker can take meanwhile.
func (f *hybridFeeds) spread(ctx context.Context, j *jobs.Job) error {
	isFirst := j.After.IsZero()
	followers, last, err := f.followersOf(ctx, j)
	if err != nil {
		return err
	}
	if isFirst && len(followers) > min(f.mergeAbove, jobSize-1) {
		merged, err := f.isMerged(ctx, j)
		if err != nil {
			return err
		}
		if merged {
			followers = nil // but the author's own list has the post
		}
	}
	if j.Until.IsZero() && len(followers) == jobSize {
		if err := f.split(ctx, j, last); err != nil {
			return err
		}
	}
	if isFirst {
		followers = append(followers, j.Author)
	}
	if j.Kind == jobPull {
		return f.pull(ctx, j.Post, followers)
	}
	if err := f.push(ctx, j.Post, followers); err != nil {
		return err
	}
	return f.unpush(ctx, j, followers, f.pull)
}

// followersOf reads the job's followers, newest first, and the oldest one's edge. Whoever follows the author while
// jobs are under way has a feed that is built anew, with all posts that were there.
func (s *Store) followersOf(ctx context.Context, j *jobs.Job) (followers []social.UserID, last social.EdgeID, err error) {
	bounds := mdb.Doc("$gt", mdb.ZeroKey)
	if !j.After.IsZero() {
		bounds = append(bounds, bson.E{Key: "$lt", Value: j.After})
	}
	if !j.Until.IsZero() {
		bounds = append(bounds, bson.E{Key: "$gte", Value: j.Until})
	}
	docs, err := mdb.FindAll[edgeDoc](ctx, s.graph.followers(ctx), mdb.Doc("other", j.Author, "follow", bounds), jobSize,
		options.Find().SetSort(mdb.Doc("follow", -1)).SetLimit(jobSize).SetHint(byFollowed).
			SetProjection(mdb.Doc("_id", 0, "owner", 1, "follow", 1)))
	if len(docs) > 0 {
		last = docs[len(docs)-1].Follow
	}
	return mdb.Map(docs, func(d *edgeDoc) social.UserID { return d.Owner }), last, err
}

// split leaves the followers up to last to the job, and the others to a new one. Where the server dies in between, the
// job is split again, and some followers are told twice.
func (s *Store) split(ctx context.Context, j *jobs.Job, last social.EdgeID) error {
	err := s.jobs.AddNext(ctx, *j, jobs.Job{Kind: j.Kind, Author: j.Author, Post: j.Post, After: last})
	if err != nil {
		return err
	}
	_, err = s.jobs.Collection.UpdateOne(ctx, jobs.Held(j), mdb.Doc("$set", mdb.Doc("until", last)))
	return err
}

// push puts a post into the lists of users, except into dormant ones, and once. A list that nobody has read for so long
// that it is full becomes dormant.
func (f *hybridFeeds) push(ctx context.Context, post social.PostID, users []social.UserID) error {
	some := mdb.Doc("$in", mdb.Values(users))
	_, err := f.newsLists.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewUpdateManyModel().SetFilter(mdb.Doc("_id", some, "pushed", mdb.Doc("$lt", maxPushed), "ids", mdb.Doc("$ne", post))).
			SetUpdate(mdb.Doc("$push", mdb.Doc("ids", post), "$inc", mdb.Doc("pushed", 1))).SetHint(mdb.Doc("_id", 1)),
		mongo.NewUpdateManyModel().SetFilter(mdb.Doc("_id", some, "pushed", mdb.Doc("$gte", maxPushed))).
			SetUpdate(mdb.Doc("$unset", mdb.Doc("ids", 1, "merged", 1, "floor", 1, "pushed", 1, "ready", 1, "stamp", 1))).
			SetHint(mdb.Doc("_id", 1)),
	})
	return err
}

// pull takes a post out of the lists of users.
func (f *hybridFeeds) pull(ctx context.Context, post social.PostID, users []social.UserID) error {
	_, err := f.newsLists.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users)), "ids", post),
		mdb.Doc("$pull", mdb.Doc("ids", post)), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// isMerged says whether the author's posts need not be pushed. An author who has too many followers since the last post
// begins to be merged: followers' lists are told of it first.
func (f *hybridFeeds) isMerged(ctx context.Context, j *jobs.Job) (bool, error) {
	var m mergedAuthorDoc
	err := f.mergedAuthors.FindOne(ctx, mdb.Doc("_id", j.Author)).Decode(&m)
	if !errors.Is(err, mongo.ErrNoDocuments) {
		return m.Complete, err
	}
	var u userDoc
	few := options.FindOne().SetProjection(mdb.Doc("followers", 1))
	err = mdb.OrNotFound(f.users.FindOne(ctx, mdb.Doc("_id", j.Author), few).Decode(&u))
	if errors.Is(err, social.ErrNotFound) { // the account was deleted
		return false, nil
	}
	if err != nil || u.Followers <= f.mergeAbove {
		return false, err
	}
	return false, f.jobs.AddNext(ctx, *j, jobs.Job{Kind: jobPromote, Author: j.Author})
}

// unmerge takes a merged author out of the lists of users.
func (f *hybridFeeds) unmerge(ctx context.Context, author social.UserID, users []social.UserID) error {
	_, err := f.newsLists.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users)), "merged", author),
		mdb.Doc("$pull", mdb.Doc("merged", author)), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// promote names the author in the lists of the job's followers; lists that are built from its beginning on do so by
// themselves. The next job begins when this one is done, so that the last one knows that all are.
func (f *hybridFeeds) promote(ctx context.Context, j *jobs.Job) error {
	err := f.userExists(ctx, j.Author)
	if errors.Is(err, social.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.mergedAuthors.UpdateOne(ctx, mdb.Doc("_id", j.Author),
		mdb.Doc("$setOnInsert", mdb.Doc("v", mdb.FirstVersion, "since", time.Now())), options.UpdateOne().SetUpsert(true))
	if err != nil {
		return err
	}
	followers, last, err := f.followersOf(ctx, j)
	if err != nil {
		return err
	}
	_, err = f.newsLists.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(followers)), "ids", mdb.Doc("$exists", true)),
		mdb.Doc("$addToSet", mdb.Doc("merged", j.Author)), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return err
	}
	if err := f.undoUnfollowed(ctx, j, followers, func(ctx context.Context, users []social.UserID) error { return f.unmerge(ctx, j.Author, users) }); err != nil {
		return err
	}
	if len(followers) == jobSize {
		return f.jobs.AddNext(ctx, *j, jobs.Job{Kind: jobPromote, Author: j.Author, After: last})
	}
	_, err = f.mergedAuthors.UpdateOne(ctx, mdb.Doc("_id", j.Author), mdb.Doc("$set", mdb.Doc("complete", true)))
	return err
}
