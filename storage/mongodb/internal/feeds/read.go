package feeds

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/recent"
)

const (
	// mergeWidth is how many values one $in has: the database merges the index ranges of up to 199
	// values in the index's order; with more, it reads them all and sorts.
	mergeWidth = 190
	// mergesInBatch is how many such merges go into one command.
	mergesInBatch = 30
	// mergeAttempts bounds how often a page is read again because posts were deleted meanwhile.
	mergeAttempts = 3
)

// postList lists posts by the indexed field, newest first.
func postList(field string, value any, hint string) mdb.ListQuery {
	return mdb.ListQuery{Filter: mdb.Doc(field, value), Key: "seq", Value: mdb.IDKey, Desc: true, Hint: hint}
}

// readLayout is the layout that keeps no feeds.
type readLayout struct{ unkept }

// newestPages implements newestSharer in three commands. New posts, and follows that are not in
// memory, take one more each.
func (f readLayout) newestPages(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	known, ok, err := f.recent.CatchUp(ctx)
	if err != nil || !ok {
		return nil, err
	}
	authors, err := f.authors.ofEach(ctx, batch.Unique(ownersOf(lists)))
	if err != nil {
		return nil, err
	}
	return f.recentPages(ctx, wholeIDs(lists, func(list social.List[social.UserID]) (ids []social.PostID, floor social.PostID, ok bool) {
		if by, isKnown := authors[list.Of]; isKnown {
			ids, ok = known.Page(by, list.Page)
		}
		return ids, known.Floor, ok
	}))
}

// recentPages returns the posts of pages that were found in memory, without pages of which some
// posts are gone.
func (e *base) recentPages(ctx context.Context, selected map[social.List[social.UserID]][]social.PostID) (map[social.List[social.UserID]][]*social.Post, error) {
	posts, err := e.recentlyPosted(ctx, postsOf(selected))
	pages := wholePages(selected, postsByID(posts))
	e.pages.all.Add(int64(len(pages)))
	return pages, err
}

// sharesWith implements newestSharer.
func (f readLayout) sharesWith(viewer social.UserID) bool { return !f.pauses.has(viewer) }

// unkept reads feeds from posts and follows. Layouts that keep feeds use it for what these lack.
type unkept struct{ *base }

// sharesWith is a part of newestSharer, which some layouts implement.
func (unkept) sharesWith(social.UserID) bool { return true }

// News reads how far posts have come, whether follows have changed, and then the posts: three
// commands. New posts, and follows that are not in memory, take one more each. Older posts are
// merged in the database, which takes up to two more; during a pause, a reader who follows up to
// 189 people takes two in all.
func (f unkept) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	if isNewest(p) && f.pauses.take(viewer) {
		return f.mergeNewsOf(ctx, viewer, p)
	}
	known, ok, err := f.recent.CatchUp(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return f.mergeNewsOf(ctx, viewer, p)
	}
	authors, err := f.authors.of(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return f.newsBy(ctx, viewer, authors, known, p)
}

// newsBy reads the posts by authors, as a page of a viewer's news.
func (f unkept) newsBy(ctx context.Context, viewer social.UserID, authors []social.UserID, known recent.Known, p social.Page) ([]*social.Post, error) {
	f.pages.all.Add(1)
	news := knownList{
		floor: known.Floor,
		ids: func(ctx context.Context, p social.Page) ([]social.PostID, error) {
			return f.recentNews(ctx, known, authors, p)
		},
		posts: f.recentlyPosted,
		deeper: func(ctx context.Context, deeper social.Page) ([]*social.Post, error) {
			if isNewest(p) {
				f.pauses.begin(viewer)
			}
			return f.mergeOlder(ctx, known, authors, deeper)
		},
	}
	return news.page(ctx, p)
}

// mergeOlder merges posts below those that are known, and makes more known for later pages.
func (e *base) mergeOlder(ctx context.Context, known recent.Known, authors []social.UserID, p social.Page) ([]*social.Post, error) {
	known.ReachDown(ctx)
	return e.mergeNews(ctx, authors, p)
}

// mergeNewsOf merges a page of a viewer's news in the database.
func (e *base) mergeNewsOf(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	e.pages.all.Add(1)
	authors, err := e.authors.inSnapshot(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return e.mergeNews(ctx, authors, p)
}

// mergeNews merges posts by authors in the database.
func (e *base) mergeNews(ctx context.Context, authors []social.UserID, p social.Page) ([]*social.Post, error) {
	e.pages.older.Add(1)
	return mergePosts(ctx, e, "author", authors, ByAuthor, p)
}

// recentlyPosted reads posts that the snapshot of ctx has, newest first, if they have not been
// deleted.
func (e *base) recentlyPosted(ctx context.Context, ids []social.PostID) ([]*social.Post, error) {
	posts, _, err := e.recentAndGone(ctx, ids)
	return posts, err
}

// recentAndGone does the same, and returns the ids of those that have been deleted. They are
// forgotten.
func (e *base) recentAndGone(ctx context.Context, ids []social.PostID) (posts []*social.Post, gone []social.PostID, err error) {
	posts, err = e.PostsInOrder(ctx, ids)
	if err != nil || len(posts) == len(ids) {
		return posts, nil, err
	}
	found := postsByID(posts)
	gone = slices.DeleteFunc(slices.Clone(ids), func(post social.PostID) bool { return found[post] != nil })
	e.recent.Forget(gone)
	return posts, gone, nil
}

// recentNews returns the ids of a page of posts that are known. If other readers have replaced these
// posts meanwhile, it reads them from the database.
func (e *base) recentNews(ctx context.Context, known recent.Known, authors []social.UserID, p social.Page) ([]social.PostID, error) {
	if ids, ok := known.Page(authors, p); ok {
		return ids, nil
	}
	ids, err := mergeIDs(ctx, e, "author", authors, p)
	return from(known.Floor, ids), err
}

// Walls reads ranges of one index.
func (f unkept) Walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery { return postList("wallOwner", list.Of, ByWall) }
	return f.posts.Pages(ctx, lists, query)
}

func (unkept) PostsAdded(context.Context, []*social.Post) error { return nil }

func (unkept) PostsChanged(context.Context, ...social.PostID) error { return nil }

func (unkept) FollowsChanged(context.Context, ...social.UserID) error { return nil }

func (unkept) Collections() []*mongo.Collection { return nil }

func (unkept) Indexes() map[*mongo.Collection][]mongo.IndexModel { return nil }

func (unkept) Build(context.Context, social.UserID) error { return nil }

func (unkept) PostDeleted(context.Context, social.PostID, social.UserID, social.UserID) error {
	return nil
}

func (unkept) PostMoved(context.Context, social.PostID) error { return nil }

func (unkept) Forget(context.Context, social.UserID) error { return nil }

func (unkept) JobKinds() []jobs.Kind { return nil }

// Do refuses every job: this layout adds none.
func (unkept) Do(_ context.Context, j *jobs.Job) error { return jobs.Unknown(j) }

// mergePosts reads the page of all posts that have one of the values. Up to mergeWidth values it
// takes one find. With more, it first merges the ids, chunk by chunk, so that it reads only the
// posts of the page.
func mergePosts[V any](ctx context.Context, e *base, field string, values []V, hint string, p social.Page) ([]*social.Post, error) {
	if len(values) <= mergeWidth {
		q := postList(field, mdb.Doc("$in", mdb.Values(values)), hint)
		q.Page = p
		return e.posts.List(ctx, q)
	}
	for attempt := 1; ; attempt++ {
		ids, err := mergeIDs(ctx, e, field, values, p)
		if err != nil {
			return nil, err
		}
		posts, err := e.PostsInOrder(ctx, ids)
		if err != nil || len(posts) == len(ids) || attempt == mergeAttempts {
			return posts, err
		}
	}
}

// seqDoc is a post's id, read from an index.
type seqDoc struct {
	Seq social.PostID `bson:"seq"`
}

func (d *seqDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if string(field) == "seq" {
		r.ID(v, &d.Seq.ID)
	}
}

// mergeOf returns the pipeline that reads the ids of a page of all posts that have one of the values,
// from the index, with other values beside each id.
func mergeOf[V any](field string, values []V, p social.Page, beside ...bson.E) bson.A {
	q := postList(field, mdb.Doc("$in", mdb.Values(values)), "")
	q.Page = p
	return bson.A{
		mdb.Doc("$match", q.Match()), mdb.Doc("$sort", q.Sort()), mdb.Doc("$limit", p.Limit),
		mdb.Doc("$project", append(mdb.Doc("_id", 0, "seq", 1), beside...)),
	}
}

// mergeIDs merges the chunks' first ids, in list order.
func mergeIDs[V any](ctx context.Context, e *base, field string, values []V, p social.Page) ([]social.PostID, error) {
	var ids []social.PostID
	chunks := slices.Collect(slices.Chunk(values, mergeWidth))
	for batch := range slices.Chunk(chunks, mergesInBatch) {
		pipelines := make([]bson.A, len(batch))
		for i, chunk := range batch {
			pipelines[i] = mergeOf(field, chunk, p)
		}
		docs, err := mdb.AggregateAll[seqDoc](ctx, e.posts.Collection(), mdb.Union(e.posts.Collection(), pipelines), len(batch)*p.Limit)
		if err != nil {
			return nil, err
		}
		ids = firstIDs(append(ids, mdb.Map(docs, func(d *seqDoc) social.PostID { return d.Seq })...), p)
	}
	return ids, nil
}

// PostsInOrder reads posts, newest first. Those that are missing are left out.
func (e *base) PostsInOrder(ctx context.Context, ids []social.PostID) ([]*social.Post, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	posts, err := e.posts.ByID(ctx, ids)
	slices.SortFunc(posts, newestFirst)
	return posts, err
}
