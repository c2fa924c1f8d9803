package feeds

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// hybridLayout is the layout with lists for active users (newsListDoc). A post is pushed to the
// lists of its author's followers by jobs (hybrid_fanout.go). If an author has very many followers,
// their lists name the author instead, whose posts are merged in when a list is read.
type hybridLayout struct {
	unkept

	building *mdb.Locks // by user: one reader of this process builds a list
}

func newHybridLayout(e *base) *hybridLayout {
	return &hybridLayout{unkept: unkept{e}, building: mdb.NewLocks()}
}

// mergedAuthorDoc is a document of mergedAuthors: an author with very many followers. Until it is
// Complete, some lists do not name the author yet, so the author's posts are also pushed. It is
// permanent, however many followers stay.
type mergedAuthorDoc struct {
	Author   social.UserID `bson:"_id"`
	Version  int           `bson:"v"`
	Since    time.Time     `bson:"since"`
	Complete bool          `bson:"complete,omitempty"`
}

// mergedOf returns those of the authors who are merged at read.
func (f *hybridLayout) mergedOf(ctx context.Context, authors []social.UserID) ([]social.UserID, error) {
	docs, err := mdb.FindIn[mergedAuthorDoc](ctx, f.mergedAuthors, "_id", authors,
		options.Find().SetProjection(mdb.Doc("_id", 1)).SetHint(mdb.Doc("_id", 1)))
	return mdb.Map(docs, func(d *mergedAuthorDoc) social.UserID { return d.Author }), err
}

// News reads the list, what is on its way to it, the newest posts of merged authors, and then the
// posts: three or four commands. What is older than the list is read as in the layout read.
func (f *hybridLayout) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	pending, ok, err := f.pendingNews(ctx, jobPush, []social.UserID{viewer}, p)
	if err != nil {
		return nil, err
	}
	if !ok {
		return f.unkept.News(ctx, viewer, p)
	}
	l, err := f.list(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return f.unkept.News(ctx, viewer, p)
	}
	l.IDs = append(l.IDs, pending[viewer]...)
	news := knownList{
		floor:  l.Floor,
		ids:    func(ctx context.Context, p social.Page) ([]social.PostID, error) { return f.listedIDs(ctx, l, p) },
		posts:  f.PostsInOrder,
		deeper: func(ctx context.Context, p social.Page) ([]*social.Post, error) { return f.unkept.News(ctx, viewer, p) },
	}
	return news.page(ctx, p)
}

// newestPages implements newestSharer in three commands, or four if there are merged authors.
func (f *hybridLayout) newestPages(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	viewers := batch.Unique(ownersOf(lists))
	pending, ok, err := f.pendingNews(ctx, jobPush, viewers, social.Page{})
	if err != nil || !ok {
		return nil, err
	}
	kept, err := f.readyLists(ctx, viewers)
	if err != nil {
		return nil, err
	}
	if err := f.addMerged(ctx, kept, longestOf(lists)); err != nil {
		return nil, err
	}
	for user, l := range kept {
		l.IDs = append(l.IDs, pending[user]...)
	}
	selected := wholeIDs(lists, func(list social.List[social.UserID]) (ids []social.PostID, floor social.PostID, ok bool) {
		l := kept[list.Of]
		if l == nil {
			return nil, floor, false
		}
		return firstIDs(l.within(list.Page), list.Page), l.Floor, true
	})
	posts, err := f.posts.ByID(ctx, postsOf(selected))
	return wholePages(selected, postsByID(posts)), err
}

// readyLists reads the lists of users, without those that have to be built or cut first, or that
// name more authors than one merge has.
func (f *hybridLayout) readyLists(ctx context.Context, users []social.UserID) (map[social.UserID]*newsListDoc, error) {
	docs, err := mdb.FindIn[newsListDoc](ctx, f.newsLists, "_id", users, options.Find().SetHint(mdb.Doc("_id", 1)))
	ready, now := make(map[social.UserID]*newsListDoc, len(docs)), time.Now()
	for i := range docs {
		if l := &docs[i]; l.Ready && !l.isDue(now) && len(l.Merged) <= mergeWidth {
			ready[l.User] = l
		}
	}
	return ready, err
}

// mergedDoc is the id of a post by a merged author of a reader.
type mergedDoc struct {
	Reader social.UserID `bson:"reader"`
	Seq    social.PostID `bson:"seq"`
}

func (d *mergedDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "reader":
		r.ID(v, &d.Reader.ID)
	case "seq":
		r.ID(v, &d.Seq.ID)
	}
}

// addMerged adds to each list the newest posts of the merged authors that it names, in one command.
func (f *hybridLayout) addMerged(ctx context.Context, lists map[social.UserID]*newsListDoc, limit int) error {
	var merges []bson.A
	for reader, l := range lists {
		if len(l.Merged) > 0 {
			merges = append(merges, mergeOf("author", l.Merged, social.Page{Limit: limit}, bson.E{Key: "reader", Value: mdb.Doc("$literal", reader)}))
		}
	}
	if len(merges) == 0 {
		return nil
	}
	docs, err := mdb.AggregateAll[mergedDoc](ctx, f.posts.Collection(), mdb.Union(f.posts.Collection(), merges), len(merges)*limit)
	for _, d := range docs {
		l := lists[d.Reader]
		l.IDs = append(l.IDs, d.Seq)
	}
	return err
}

// listedIDs returns the page's ids, from the list and of merged authors.
func (f *hybridLayout) listedIDs(ctx context.Context, l *newsListDoc, p social.Page) ([]social.PostID, error) {
	ids := l.within(p)
	if len(l.Merged) > 0 {
		merged, err := mergeIDs(ctx, f.base, "author", l.Merged, p)
		if err != nil {
			return nil, err
		}
		ids = append(ids, from(l.Floor, merged)...)
	}
	return firstIDs(ids, p), nil
}

// PostsAdded adds the jobs that push the posts to the lists of their authors and followers.
func (f *hybridLayout) PostsAdded(ctx context.Context, posts []*social.Post) error {
	return f.jobs.Add(ctx, pushJobs(jobPush, posts)...)
}

// PostDeleted adds the job that takes the post out of lists. Until then, readers find no post with
// its id.
func (f *hybridLayout) PostDeleted(ctx context.Context, post social.PostID, author, _ social.UserID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobPull, Author: author, Post: post})
}

// Collections implements Layout.
func (f *hybridLayout) Collections() []*mongo.Collection {
	return []*mongo.Collection{f.newsLists, f.mergedAuthors}
}

// Build implements Layout: readers make the lists, so there is nothing to do.
func (f *hybridLayout) Build(context.Context, social.UserID) error { return nil }

// Forget implements Layout.
func (f *hybridLayout) Forget(ctx context.Context, user social.UserID) error {
	if _, err := f.newsLists.DeleteOne(ctx, mdb.Doc("_id", user)); err != nil {
		return err
	}
	_, err := f.mergedAuthors.DeleteOne(ctx, mdb.Doc("_id", user))
	return err
}

// FollowsChanged makes the owners' lists dormant.
func (f *hybridLayout) FollowsChanged(ctx context.Context, owners ...social.UserID) error {
	return changeEach(ctx, f.newsLists, owners, emptied("ids", "merged", "floor", "pushed", "ready"))
}
