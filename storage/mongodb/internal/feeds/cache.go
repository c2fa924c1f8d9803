package feeds

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/batch"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/recent"
)

// cacheLayout is the layout with a document for each user who reads news now and then (cachedNews).
// It says whose posts are in the news, so recent ones are merged in memory without reading follows,
// and it has the ids of older ones. Readers keep it up to date themselves, so nothing is pushed.
type cacheLayout struct {
	unkept

	length      int // how many ids a document has
	mostAuthors int // people whose news has more authors have no document
}

const (
	// cacheLength is the default length. The largest page fits.
	cacheLength = 128
	// mostCachedAuthors bounds a document to 240 KB.
	mostCachedAuthors = 10_000
)

// News reads the document, how far posts have come, and then the posts: three commands, or four if
// there are new posts. To make the document it takes two or three more, and one to renew it.
func (f *cacheLayout) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	known, ok, err := f.recent.CatchUp(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return f.unkept.News(ctx, viewer, p)
	}
	cached, err := f.find(ctx, []social.UserID{viewer})
	if err != nil {
		return nil, err
	}
	stored := cached[viewer]
	if stored == nil { // the next page makes it
		f.begin(ctx, viewer)
		return f.unkept.News(ctx, viewer, p)
	}
	news, err := f.renewed(ctx, stored, known)
	if err != nil {
		return nil, err
	}
	if len(news.Authors) > f.mostAuthors {
		return f.newsBy(ctx, viewer, news.Authors, known, p)
	}
	f.pages.all.Add(1)
	list := knownList{
		floor: news.floorWith(known),
		ids:   func(ctx context.Context, p social.Page) ([]social.PostID, error) { return f.idsOf(ctx, news, known, p) },
		posts: func(ctx context.Context, ids []social.PostID) ([]*social.Post, error) {
			return f.readAndPrune(ctx, news, ids)
		},
		deeper: func(ctx context.Context, p social.Page) ([]*social.Post, error) {
			return f.mergeOlder(ctx, known, news.Authors, p)
		},
	}
	return list.page(ctx, p)
}

// newestPages implements newestSharer in three commands, or four if there are new posts.
func (f *cacheLayout) newestPages(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	known, ok, err := f.recent.CatchUp(ctx)
	if err != nil || !ok {
		return nil, err
	}
	cached, err := f.find(ctx, batch.Unique(ownersOf(lists)))
	if err != nil {
		return nil, err
	}
	return f.recentPages(ctx, wholeIDs(lists, func(list social.List[social.UserID]) (ids []social.PostID, floor social.PostID, ok bool) {
		news := cached[list.Of]
		if news == nil || news.isDue(known, time.Now()) {
			return nil, floor, false
		}
		ids, ok = known.Page(news.Authors, list.Page)
		return news.fill(ids, known, list.Page), news.floorWith(known), ok
	}))
}

// find reads the cached news of users.
func (f *cacheLayout) find(ctx context.Context, users []social.UserID) (map[social.UserID]*cachedNews, error) {
	docs, err := mdb.FindIn[cachedNews](ctx, f.newsCache, "_id", users, options.Find().SetHint(mdb.Doc("_id", 1)))
	found := make(map[social.UserID]*cachedNews, len(docs))
	for i := range docs {
		found[docs[i].User] = &docs[i]
	}
	return found, err
}

// begin stores an empty document for a user who has none. Nothing else is stored in its place: the
// snapshot of a page may be older than a change of follows whose document was removed since.
func (f *cacheLayout) begin(ctx context.Context, user social.UserID) {
	empty := cachedNews{User: user, Version: mdb.FirstVersion, Stamp: stamp{id.New()}, UsedAt: time.Now()}
	f.store(ctx, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", user)).SetUpdate(mdb.Doc("$setOnInsert", empty)).SetUpsert(true))
}

// renewed returns a user's news as the snapshot of ctx has them, and stores them if that is due.
func (f *cacheLayout) renewed(ctx context.Context, stored *cachedNews, known recent.Known) (*cachedNews, error) {
	now := time.Now()
	if !stored.isDue(known, now) {
		return stored, nil
	}
	news := &cachedNews{
		User: stored.User, Version: mdb.FirstVersion, Stamp: stamp{id.New()}, Authors: stored.Authors,
		Until: known.At.Last, Backdated: known.At.Backdated, UsedAt: now,
	}
	if stored.isEmpty() || stored.isOld(now) { // once a day, in case a backup of part of the database was restored
		authors, err := f.authors.inSnapshot(ctx, stored.User)
		if err != nil {
			return nil, err
		}
		news.Authors = authors
	}
	if len(news.Authors) > f.mostAuthors {
		return news, nil
	}
	if err := f.addIDs(ctx, news, stored, known); err != nil {
		return nil, err
	}
	f.store(ctx, mongo.NewReplaceOneModel().SetFilter(ofStamp(stored)).SetReplacement(news).SetHint(mdb.Doc("_id", 1)))
	return news, nil
}

// ofStamp matches a document if it has not changed since.
func ofStamp(d *cachedNews) bson.D { return mdb.Doc("_id", d.User, "stamp", d.Stamp) }

// storePatience is how long a page waits for a change of the cache, which waits for transactions that
// change the same user's follows.
const storePatience = time.Second

// store changes the cache, outside of the snapshot of ctx. Pages do not depend on it, so they do not
// fail with it: a later page tries again.
func (f *cacheLayout) store(ctx context.Context, change mongo.WriteModel) {
	ctx, cancel := context.WithTimeout(mdb.Outside(ctx), storePatience)
	defer cancel()
	_, _ = f.newsCache.BulkWrite(ctx, []mongo.WriteModel{change})
}

// addIDs adds the newest ids: of recent posts, and then those that were stored, or else from the
// database.
func (f *cacheLayout) addIDs(ctx context.Context, news, stored *cachedNews, known recent.Known) (err error) {
	p := social.Page{Limit: f.length}
	if news.IDs, err = f.recentNews(ctx, known, news.Authors, p); err != nil {
		return err
	}
	switch {
	case known.Floor.IsZero():
	case stored.continues(known) && slices.Equal(stored.Authors, news.Authors):
		news.IDs, news.Floor = stored.fill(news.IDs, known, p), stored.floorWith(known)
	case len(news.IDs) < f.length:
		known.ReachDown(ctx)
		older, err := mergeIDs(ctx, f.base, "author", news.Authors, social.Page{After: social.Key(known.Floor.Bytes()), Limit: f.length - len(news.IDs)})
		if err != nil {
			return err
		}
		news.IDs = append(news.IDs, older...)
	}
	if len(news.IDs) == f.length {
		news.Floor = news.IDs[f.length-1]
	}
	return nil
}

// idsOf returns the ids of a page.
func (f *cacheLayout) idsOf(ctx context.Context, news *cachedNews, known recent.Known, p social.Page) ([]social.PostID, error) {
	ids, err := f.recentNews(ctx, known, news.Authors, p)
	return news.fill(ids, known, p), err
}

// readAndPrune reads posts, newest first, and removes the ids of those that are gone from the
// document.
func (f *cacheLayout) readAndPrune(ctx context.Context, news *cachedNews, ids []social.PostID) ([]*social.Post, error) {
	posts, gone, err := f.recentAndGone(ctx, ids)
	gone = slices.DeleteFunc(gone, func(post social.PostID) bool { return !slices.Contains(news.IDs, post) })
	if err != nil || len(gone) == 0 {
		return posts, err
	}
	f.store(ctx, mongo.NewUpdateOneModel().SetFilter(ofStamp(news)).SetUpdate(mdb.Doc("$pull", mdb.Doc("ids", mdb.Doc("$in", mdb.Values(gone))))).
		SetHint(mdb.Doc("_id", 1)))
	return posts, nil
}

// FollowsChanged empties the owners' documents, and gives them new stamps, so that readers who began
// earlier store nothing.
func (f *cacheLayout) FollowsChanged(ctx context.Context, owners ...social.UserID) error {
	return changeEach(ctx, f.newsCache, owners, emptied("authors", "ids", "floor", "until", "backdated"))
}

// Collections implements Layout.
func (f *cacheLayout) Collections() []*mongo.Collection { return []*mongo.Collection{f.newsCache} }

// Forget implements Layout.
func (f *cacheLayout) Forget(ctx context.Context, user social.UserID) error {
	_, err := f.newsCache.DeleteOne(ctx, mdb.Doc("_id", user))
	return err
}
