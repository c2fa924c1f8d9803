package feeds

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// The jobs of hybridLayout.
const (
	jobPush    jobs.Kind = "push"    // put Post into the lists of Author's followers
	jobPull    jobs.Kind = "pull"    // take Post out of them
	jobPromote jobs.Kind = "promote" // name Author in them as merged
)

func (*hybridLayout) JobKinds() []jobs.Kind {
	return []jobs.Kind{jobPush, jobPull, jobPromote}
}

// Do implements Layout.
func (f *hybridLayout) Do(ctx context.Context, j *jobs.Job) error {
	switch j.Kind {
	case jobPush, jobPull:
		return f.spread(ctx, j)
	case jobPromote:
		return f.promote(ctx, j)
	default:
		return jobs.Unknown(j)
	}
}

// spread pushes or pulls a post for the job's part of the followers.
func (f *hybridLayout) spread(ctx context.Context, j *jobs.Job) error {
	followers, last, err := f.followersOf(ctx, j)
	if err != nil {
		return err
	}
	if j.IsFirst() && len(followers) > min(f.mergeAbove, jobSize-1) {
		merged, err := f.isMerged(ctx, j)
		if err != nil {
			return err
		}
		if merged {
			followers = nil // but the author's own list has the post
		}
	}
	all, err := f.split(ctx, j, followers, last)
	if err != nil || len(all) == 0 {
		return err
	}
	if j.Kind == jobPull {
		return f.pull(ctx, j.Post, all)
	}
	if err := f.push(ctx, j.Post, all, j.Attempts > 1); err != nil {
		return err
	}
	if rand.N(restEvery) > 0 { //nolint:gosec // chance needs no secure randomness
		return nil
	}
	return f.rest(ctx, all)
}

// push puts a post into the lists of users, except for dormant lists. It may also reach the list of
// someone who has just unfollowed the author; readers drop the post then.
func (f *hybridLayout) push(ctx context.Context, post social.PostID, users []social.UserID, isRepeated bool) error {
	lists := mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users)), "pushed", mdb.Doc("$gte", 0))
	if isRepeated { // only then, because it costs a tenth of a push
		lists = append(lists, bson.E{Key: "ids", Value: mdb.Doc("$ne", post)})
	}
	_, err := f.newsLists.UpdateMany(ctx, lists, mdb.Doc("$push", mdb.Doc("ids", post), "$inc", mdb.Doc("pushed", 1)),
		options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// rest makes those lists of users dormant that no reader has cut for many pushes.
func (f *hybridLayout) rest(ctx context.Context, users []social.UserID) error {
	_, err := f.newsLists.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users)), "pushed", mdb.Doc("$gte", maxPushed)),
		mdb.Doc("$unset", mdb.Doc("ids", 1, "merged", 1, "floor", 1, "pushed", 1, "ready", 1, "stamp", 1)),
		options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// pull takes a post out of the lists of users.
func (f *hybridLayout) pull(ctx context.Context, post social.PostID, users []social.UserID) error {
	_, err := f.newsLists.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users)), "ids", post),
		mdb.Doc("$pull", mdb.Doc("ids", post)), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// isMerged reports whether the author's posts need no pushing. If the author now has too many
// followers, it adds the job that names the author in their lists.
func (f *hybridLayout) isMerged(ctx context.Context, j *jobs.Job) (bool, error) {
	var m mergedAuthorDoc
	err := f.mergedAuthors.FindOne(ctx, mdb.Doc("_id", j.Author)).Decode(&m)
	if !errors.Is(err, mongo.ErrNoDocuments) {
		return m.Complete, err
	}
	followers, err := f.follows.FollowersCount(ctx, j.Author)
	if errors.Is(err, social.ErrNotFound) { // the account was deleted
		return false, nil
	}
	if err != nil || followers <= f.mergeAbove {
		return false, err
	}
	return false, f.jobs.AddNext(ctx, *j, jobs.Job{Kind: jobPromote, Author: j.Author})
}

// unmerge takes a merged author out of the lists of users.
func (f *hybridLayout) unmerge(ctx context.Context, author social.UserID, users []social.UserID) error {
	_, err := f.newsLists.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users)), "merged", author),
		mdb.Doc("$pull", mdb.Doc("merged", author)), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// promote names the author in the lists of the job's followers. Lists that are built after it has
// begun name the author anyway. The next job begins when this one is done, so when the last one
// ends, all lists name the author.
func (f *hybridLayout) promote(ctx context.Context, j *jobs.Job) error {
	err := f.follows.Exists(ctx, j.Author)
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
