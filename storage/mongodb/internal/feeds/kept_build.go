package feeds

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// stale makes feeds stale, inside a transaction. The new generation changes the document in any
// case, so that it conflicts with a job that builds the feed at the same time.
func (f *keptFeed) stale(ctx context.Context, users []social.UserID) error {
	return changeEach(ctx, f.docs, users, func(user social.UserID) (document, update bson.D) {
		return openOf(user), mdb.Doc(
			"$set", mdb.Doc("v", mdb.FirstVersion, "gen", stamp{id.New()}, "from", social.PostID{}, "floor", social.PostID{}, "parts", 0),
			"$unset", mdb.Doc("ids", 1, "posts", 1, "count", 1, "month", 1, "ready", 1))
	})
}

// forget removes a user's feed.
func (f *keptFeed) forget(ctx context.Context, user social.UserID) error {
	if _, err := f.docs.DeleteOne(ctx, openOf(user)); err != nil {
		return err
	}
	_, err := f.docs.DeleteMany(ctx, mdb.Doc("user", user, "upper", mdb.Doc("$gt", mdb.ZeroKey)), options.DeleteMany().SetHint(byPart))
	return err
}

// build makes a user's feed, unless it is ready.
func (f *keptFeed) build(ctx context.Context, user social.UserID) error {
	ready, err := f.isReady(ctx, user)
	if err != nil || ready {
		return err
	}
	return f.rebuild(ctx, user)
}

func (f *keptFeed) isReady(ctx context.Context, user social.UserID) (bool, error) {
	err := f.docs.FindOne(ctx, append(openOf(user), bson.E{Key: "ready", Value: true}), options.FindOne().SetProjection(mdb.Doc("_id", 1)).SetHint(mdb.Doc("_id", 1))).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil, err
}

// rebuild makes a user's feed again. If the user's follows change meanwhile, it stays stale: that
// change has added another job that builds it. A user who has deleted their account gets none.
func (f *keptFeed) rebuild(ctx context.Context, user social.UserID) error {
	err := f.follows.Exists(ctx, user)
	if errors.Is(err, social.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	gen := stamp{id.New()}
	before, err := f.beginGeneration(ctx, user, gen)
	if err != nil {
		return err
	}
	ids, err := f.truth(ctx, user, f.built)
	if err != nil {
		return err
	}
	open, closed := f.arrange(user, gen, ids)
	if err := f.addCopies(ctx, ids, open, closed); err != nil {
		return err
	}
	if len(closed) > 0 {
		if _, err := f.docs.InsertMany(ctx, closed, options.InsertMany().SetOrdered(false)); err != nil {
			return err
		}
	}
	done, err := f.endGeneration(ctx, open, closed)
	if err != nil {
		return err
	}
	if err := f.sweep(ctx, user, gen, before, done); err != nil || !f.copies {
		return err
	}
	copies := slices.Clone(open.Posts)
	for i := range closed {
		copies = append(copies, closed[i].Posts...)
	}
	return f.refreshStale(ctx, user, copies)
}

// beginGeneration is step 1. It returns the generation before.
func (f *keptFeed) beginGeneration(ctx context.Context, user social.UserID, gen stamp) (stamp, error) {
	var before openPart
	update := mdb.Doc(
		"$set", mdb.Doc("v", mdb.FirstVersion, "gen", gen, "ids", bson.A{}, "count", 0, "from", social.PostID{}, "floor", social.PostID{}, "parts", 0),
		"$unset", mdb.Doc("posts", 1, "month", 1, "ready", 1))
	err := mdb.Retry(ctx, func() error {
		err := f.docs.FindOneAndUpdate(ctx, openOf(user), update,
			options.FindOneAndUpdate().SetUpsert(true).SetProjection(mdb.Doc("gen", 1))).Decode(&before)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		return mdb.OrRetry(err)
	})
	return before.Gen, err
}

// arrange returns the parts for ids, which are newest first.
func (f *keptFeed) arrange(user social.UserID, gen stamp, ids []social.PostID) (*openPart, []closedPart) {
	open := &openPart{User: user, Gen: gen, Ready: true}
	if len(ids) == f.built {
		open.Floor = ids[len(ids)-1]
	}
	open.From = open.Floor
	n := f.run(ids)
	open.IDs = ids[:n]
	if n == len(ids) {
		return open, nil
	}
	open.From = ids[n-1]
	var closed []closedPart
	for upper := open.From; n < len(ids); upper = closed[len(closed)-1].Lower {
		some := ids[n : n+f.run(ids[n:])]
		n += len(some)
		lower := some[len(some)-1]
		if n == len(ids) {
			lower = open.Floor
		}
		c := closedPart{
			ID: partKey(user, gen, lower), Version: mdb.FirstVersion, User: user, Gen: gen, Lower: lower, Upper: upper, IDs: some,
		}
		if f.copies {
			c.Month = monthOf(some[0])
		}
		closed = append(closed, c)
	}
	open.Parts = len(closed)
	return open, closed
}

// run returns how many of the first ids go into one part.
func (f *keptFeed) run(ids []social.PostID) int {
	n := min(len(ids), f.size)
	for i := 1; i < n && f.copies; i++ {
		if monthOf(ids[i]) != monthOf(ids[0]) {
			return i
		}
	}
	return n
}

// addCopies puts the copies of ids into the parts.
func (f *keptFeed) addCopies(ctx context.Context, ids []social.PostID, open *openPart, closed []closedPart) error {
	if !f.copies {
		return nil
	}
	copies, err := f.copiesOf(ctx, ids)
	if err != nil {
		return err
	}
	slices.SortFunc(copies, func(a, b postCopy) int { return a.id().Compare(b.id().ID) })
	copies = small(copies)
	of := func(ids []social.PostID) []postCopy {
		return slices.DeleteFunc(slices.Clone(copies), func(c postCopy) bool { return !slices.Contains(ids, c.id()) })
	}
	open.Posts = of(open.IDs)
	for i := range closed {
		closed[i].Posts = of(closed[i].IDs)
	}
	return nil
}

// endGeneration is step 3. It returns whether the feed was still the one that was begun.
func (f *keptFeed) endGeneration(ctx context.Context, open *openPart, closed []closedPart) (done bool, err error) {
	known := slices.Clone(open.IDs)
	for i := range closed {
		known = append(known, closed[i].IDs...)
	}
	pushed := mdb.Doc("$setDifference", bson.A{"$ids", idArray(known)})
	set := mdb.Doc(
		"ready", true, "from", open.From, "floor", open.Floor, "parts", open.Parts,
		"ids", ascending(mdb.Doc("$setUnion", bson.A{pushed, idArray(open.IDs)})))
	if f.copies {
		posts := open.Posts
		if posts == nil {
			posts = []postCopy{}
		}
		set = append(set, bson.E{Key: "posts", Value: mdb.Doc("$concatArrays", bson.A{mdb.Doc("$literal", posts), copiesBut(known)})})
		if len(open.IDs) > 0 {
			set = append(set, bson.E{Key: "month", Value: monthOf(open.IDs[0])})
		}
	}
	result, err := f.docs.UpdateOne(ctx, append(openOf(open.User), bson.E{Key: "gen", Value: open.Gen}),
		mdb.Pipeline{mdb.Doc("$set", set), mdb.Doc("$set", mdb.Doc("count", mdb.Doc("$size", "$ids")))})
	return err == nil && result.MatchedCount > 0, err
}

// sweep removes closed parts that are no longer read: those of the generation before and of older
// ones, and those of this one if it was not ended. If two build at the same time, some may be left;
// they go with a later generation.
func (f *keptFeed) sweep(ctx context.Context, user social.UserID, gen, before stamp, done bool) error {
	gone := bson.A{mdb.Doc("gen", mdb.Doc("$lt", gen)), mdb.Doc("gen", before)}
	if !done {
		gone = append(gone, mdb.Doc("gen", gen))
	}
	_, err := f.docs.DeleteMany(ctx, mdb.Doc("user", user, "upper", mdb.Doc("$gt", mdb.ZeroKey), "$or", gone), options.DeleteMany().SetHint(byPart))
	return err
}
