package feeds

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// jobSize is how many followers one job is about.
const jobSize = 500

// followersOf reads the job's followers, newest first, and the follow of the oldest. A user who
// follows the author while jobs are under way has a feed that is built again, with all posts until
// then.
func (e *base) followersOf(ctx context.Context, j *jobs.Job) (followers []social.UserID, last social.EdgeID, err error) {
	bounds := mdb.Doc("$gt", mdb.ZeroKey)
	if !j.After.IsZero() {
		bounds = append(bounds, bson.E{Key: "$lt", Value: j.After})
	}
	if !j.Until.IsZero() {
		bounds = append(bounds, bson.E{Key: "$gte", Value: j.Until})
	}
	return e.follows.Followers(ctx, j.Author, bounds, jobSize)
}

// share returns the job's part of the author's followers, after it has split off the others.
func (e *base) share(ctx context.Context, j *jobs.Job) ([]social.UserID, error) {
	followers, last, err := e.followersOf(ctx, j)
	if err != nil {
		return nil, err
	}
	return e.split(ctx, j, followers, last)
}

// split returns the followers as the job's part, after it has left those after last to a job of
// their own, which another worker can take meanwhile. The author is in the first part.
func (e *base) split(ctx context.Context, j *jobs.Job, followers []social.UserID, last social.EdgeID) ([]social.UserID, error) {
	if j.Until.IsZero() && len(followers) == jobSize {
		if err := e.jobs.Split(ctx, j, last); err != nil {
			return nil, err
		}
	}
	if j.IsFirst() {
		followers = append(followers, j.Author)
	}
	return followers, nil
}

// undoUnfollowed undoes a change of feeds for those users who no longer follow the author: they may
// have unfollowed, and their feeds may have been built again, after the job had read the followers
// and before it changed the feeds. A user who follows the author again at the same time writes to
// the same feeds, so the two conflict.
func (e *base) undoUnfollowed(ctx context.Context, j *jobs.Job, users []social.UserID, undo func(context.Context, []social.UserID) error) error {
	followers, _, err := e.followersOf(ctx, j) // again: that is cheaper than looking for each; only those who are missing are looked for
	if err != nil {
		return err
	}
	left, err := e.follows.NotFollowing(ctx, j.Author, batch.Without(users, followers))
	if err != nil || len(left) == 0 {
		return err
	}
	return e.db.Write(ctx, "undo for the unfollowed", nil, func(ctx context.Context) error {
		still, err := e.follows.NotFollowing(ctx, j.Author, left)
		if err != nil || len(still) == 0 {
			return err
		}
		return undo(ctx, still)
	})
}
