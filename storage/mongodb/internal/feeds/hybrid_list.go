package feeds

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/batch"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// newsListDoc is a document of newsLists: the newest posts in one user's news, by id. It is a
// cache. A reader who finds none builds it:
//
//  1. The reader begins a list: a document with a new stamp and empty IDs. From then on pushes
//     reach it. If another reader has begun one, this step changes nothing, and the next steps use
//     the stamp of that.
//  2. The reader reads the follows and the newest posts: everything that was committed before the
//     first push could come.
//  3. The first reader to get here joins these posts with those that were pushed, if the document
//     still has the stamp of step 1.
//
// A change of the user's follows removes the stamp and IDs in its own transaction, so that step 3
// finds another document. A list without IDs is dormant: pushes do not change it.
type newsListDoc struct {
	User    social.UserID   `bson:"_id"`
	Version int             `bson:"v"`
	IDs     []social.PostID `bson:"ids,omitempty"`    // in no order, some of them twice, including those of deleted posts
	Merged  []social.UserID `bson:"merged,omitempty"` // followed authors whose posts may be missing in IDs: see hybridLayout
	Floor   social.PostID   `bson:"floor,omitempty"`  // posts before this one are not in IDs; zero: all are
	Pushed  int             `bson:"pushed"`           // how many ids were pushed since IDs was cut
	Ready   bool            `bson:"ready,omitempty"`  // step 3 is done
	Stamp   stamp           `bson:"stamp,omitempty"`  // of step 1, or of the change that made it dormant
	UsedAt  time.Time       `bson:"usedAt"`
}

func (l *newsListDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &l.User.ID)
	case "ids":
		mdb.ReadIDs(r, v, &l.IDs)
	case "merged":
		mdb.ReadIDs(r, v, &l.Merged)
	case "floor":
		r.ID(v, &l.Floor.ID)
	case "pushed":
		r.Int(v, &l.Pushed)
	case "ready":
		r.Bool(v, &l.Ready)
	case "usedAt":
		r.Time(v, &l.UsedAt)
	}
}

const (
	// listLength is how many ids a list has when it is built or cut, and maxPushed is how many are
	// pushed to it until it may become dormant. The largest page fits.
	listLength = 128
	maxPushed  = 128
	// restEvery is the average number of posts after which such lists are looked for: that costs a
	// quarter of a push.
	restEvery = 16
	// cutAfter is how many pushed ids make a reader cut the list.
	cutAfter = 64
	// buildAttempts bounds how often a list is built again because its user's follows have changed
	// meanwhile.
	buildAttempts = 3
)

// list reads a user's list, and builds it if there is none. It returns nil if the user's follows
// change all the time.
func (f *hybridLayout) list(ctx context.Context, user social.UserID) (*newsListDoc, error) {
	docs, err := mdb.FindAll[newsListDoc](ctx, f.newsLists, mdb.Doc("_id", user), 1, options.Find().SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 || !docs[0].Ready {
		return f.buildList(mdb.Outside(ctx), user)
	}
	l := &docs[0]
	return l, f.upkeep(mdb.Outside(ctx), user, l)
}

// isDue reports whether it is time for the upkeep of a list. A full list has none: a job will make
// it dormant, and servers of earlier versions do not push to it any more.
func (l *newsListDoc) isDue(now time.Time) bool {
	return l.Pushed < maxPushed && (l.Pushed >= cutAfter || now.Sub(l.UsedAt) >= listUse)
}

// upkeep cuts a long list, and records that the list is used.
func (f *hybridLayout) upkeep(ctx context.Context, user social.UserID, l *newsListDoc) error {
	now := time.Now()
	if !l.isDue(now) {
		return nil
	}
	sorted := mdb.Doc("$sortArray", mdb.Doc("input", mdb.Doc("$setUnion", bson.A{"$ids"}), "sortBy", 1))
	_, err := f.newsLists.UpdateOne(ctx, mdb.Doc("_id", user, "ready", true, "pushed", mdb.Doc("$lt", maxPushed)), mdb.Pipeline{
		mdb.Doc("$set", mdb.Doc("usedAt", now, "ids", sorted, "pushed", 0)),
		mdb.Doc("$set", mdb.Doc("floor", mdb.Doc("$cond", bson.A{
			mdb.Doc("$gt", bson.A{mdb.Doc("$size", "$ids"), listLength}),
			mdb.Doc("$max", bson.A{"$floor", mdb.Doc("$arrayElemAt", bson.A{"$ids", -listLength})}),
			"$floor",
		}))),
		mdb.Doc("$set", mdb.Doc("ids", mdb.Doc("$slice", bson.A{"$ids", -listLength}))),
	})
	return err
}

// buildList makes a list. Readers of one process wait for each other here, and the first one builds
// for all of them. Readers of several processes build with the same stamp, and the first one stores
// the list, so one that dies delays no other.
func (f *hybridLayout) buildList(ctx context.Context, user social.UserID) (*newsListDoc, error) {
	release, err := f.building.Acquire(ctx, []id.ID{user.ID})
	if err != nil {
		return nil, err
	}
	defer release()
	for range buildAttempts {
		l, err := f.beginList(ctx, user)
		if err != nil || l.Ready {
			return l, err
		}
		truth, err := f.readTruth(ctx, user)
		if err != nil {
			return nil, err
		}
		stored, err := f.storeList(ctx, truth, l.Stamp)
		if err != nil || stored != nil {
			return stored, err
		}
	}
	return nil, nil
}

// beginList is step 1. It returns the list as it is afterwards; it may already be ready.
func (f *hybridLayout) beginList(ctx context.Context, user social.UserID) (*newsListDoc, error) {
	begun := mdb.Doc("_id", user, "v", mdb.FirstVersion, "ids", bson.A{}, "merged", bson.A{}, "pushed", 0, "stamp", stamp{id.New()}, "usedAt", time.Now())
	update := mdb.Pipeline{mdb.Doc("$replaceWith", mdb.Doc("$cond", bson.A{mdb.Doc("$isArray", "$ids"), "$$ROOT", mdb.Doc("$literal", begun)}))}
	l := new(newsListDoc)
	err := mdb.Retry(ctx, func() error {
		*l = newsListDoc{}
		return mdb.OrRetry(f.newsLists.FindOneAndUpdate(ctx, mdb.Doc("_id", user), update,
			options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(l))
	})
	return l, err
}

// readTruth is step 2: a list of the newest posts, as the layout read would find them.
func (f *hybridLayout) readTruth(ctx context.Context, user social.UserID) (*newsListDoc, error) {
	l := &newsListDoc{User: user}
	authors, err := f.follows.Followed(ctx, user)
	if err != nil {
		return nil, err
	}
	if l.Merged, err = f.mergedOf(ctx, authors); err != nil {
		return nil, err
	}
	l.IDs, err = mergeIDs(ctx, f.base, "author", append(batch.Without(authors, l.Merged), user), social.Page{Limit: listLength})
	if len(l.IDs) == listLength {
		l.Floor = l.IDs[listLength-1]
	}
	return l, err
}

// storeList is step 3. It returns the list as it is stored: nil if another reader has stored it, or
// if it was removed.
func (f *hybridLayout) storeList(ctx context.Context, truth *newsListDoc, begun stamp) (*newsListDoc, error) {
	set := mdb.Doc(
		"ready", true, "ids", mdb.Doc("$setUnion", bson.A{"$ids", idArray(truth.IDs)}),
		"merged", mdb.Doc("$setUnion", bson.A{"$merged", idArray(truth.Merged)}))
	if !truth.Floor.IsZero() {
		set = append(set, bson.E{Key: "floor", Value: truth.Floor})
	}
	l := new(newsListDoc)
	err := f.newsLists.FindOneAndUpdate(ctx, mdb.Doc("_id", truth.User, "stamp", begun, "ready", mdb.Doc("$ne", true)), mdb.Pipeline{mdb.Doc("$set", set)},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(l)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return l, err
}

// within returns the list's ids in the page's bounds, down to the floor.
func (l *newsListDoc) within(p social.Page) []social.PostID {
	ids := make([]social.PostID, 0, len(l.IDs))
	for _, post := range l.IDs {
		if post.Compare(l.Floor.ID) >= 0 && isWithin(p, post) {
			ids = append(ids, post)
		}
	}
	return ids
}
