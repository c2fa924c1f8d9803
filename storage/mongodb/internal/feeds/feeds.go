package feeds

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// Feeds reads feeds from the layout of the call's era, and keeps a second one in step while a
// migration moves feeds. It does what Layout says, except for what only migrations need.
type Feeds struct {
	*base

	layouts map[string]Layout
	inUse   func(context.Context) *InUse
	newest  *batch.Reader[social.List[social.UserID], []*social.Post]
}

// New returns the feeds of a database, in layouts.
func New(c Config, makers map[string]Maker) *Feeds {
	f := &Feeds{base: newBase(c), layouts: make(map[string]Layout, len(makers)), inUse: c.InUse}
	f.newest = f.newNewestReader()
	for name, makeLayout := range makers {
		f.layouts[name] = makeLayout(f.base)
	}
	return f
}

// Layouts returns all layouts, by name.
func (f *Feeds) Layouts() map[string]Layout { return f.layouts }

// Indexes returns the collections of all layouts, which every database has, with their indexes.
func (f *Feeds) Indexes() map[*mongo.Collection][]mongo.IndexModel { return f.indexes() }

// JobKinds returns the kinds of jobs of all layouts.
func (f *Feeds) JobKinds() []jobs.Kind {
	var kinds []jobs.Kind
	for _, layout := range f.layouts {
		kinds = append(kinds, layout.JobKinds()...)
	}
	return kinds
}

// PostsBy implements social.Feeds, by ranges of one index.
func (f *Feeds) PostsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery { return postList("author", list.Of, ByAuthor) }
	return f.posts.Pages(ctx, lists, query)
}

// Incoming reads a page of the posts whose inbox has one of the keys.
func (f *Feeds) Incoming(ctx context.Context, keys []bson.Binary, p social.Page) ([]*social.Post, error) {
	return mergePosts(ctx, f.base, "inbox", keys, ByInbox, p)
}

// News reads a page of the news of a user. It takes its own snapshot, because newest pages share
// one.
func (f *Feeds) News(ctx context.Context, viewer social.UserID, p social.Page) (posts []*social.Post, err error) {
	if !f.sharesNewest(ctx, viewer, p) {
		return f.readNews(ctx, viewer, p)
	}
	err = f.db.Within(ctx, "news", func(ctx context.Context) error {
		var ok bool
		if posts, ok = f.readNewest(ctx, social.List[social.UserID]{Of: viewer, Page: p}); !ok {
			posts, err = f.readNews(ctx, viewer, p)
		}
		return err
	})
	return posts, err
}

// readNews reads a page alone.
func (f *Feeds) readNews(ctx context.Context, viewer social.UserID, p social.Page) (posts []*social.Post, err error) {
	err = f.db.ReadSnapshot(ctx, "news", func(ctx context.Context) error {
		posts, err = f.inUse(ctx).Read.News(ctx, viewer, p)
		return err
	})
	return posts, err
}

// Walls reads a page of each of the walls.
func (f *Feeds) Walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return f.inUse(ctx).Read.Walls(ctx, lists)
}

// NewsPages counts the pages that were read from posts and follows: in the layout read, and in other
// layouts those that they do not keep. The ids of recent ones were in memory.
func (f *Feeds) NewsPages() (recent, older int64) {
	older = f.pages.older.Load()
	return f.pages.all.Load() - older, older
}

// each does the same in each layout.
func (f *Feeds) each(ctx context.Context, do func(Layout) error) error {
	for _, layout := range f.inUse(ctx).Kept {
		if err := do(layout); err != nil {
			return err
		}
	}
	return nil
}

// PostsAdded is called with new posts; see [Layout].
func (f *Feeds) PostsAdded(ctx context.Context, posts []*social.Post) error {
	return f.each(ctx, func(layout Layout) error { return layout.PostsAdded(ctx, posts) })
}

// PostsChanged is called after changes of posts; see [Layout].
func (f *Feeds) PostsChanged(ctx context.Context, posts ...social.PostID) error {
	return f.each(ctx, func(layout Layout) error { return layout.PostsChanged(ctx, posts...) })
}

// PostDeleted is called after a post was deleted; see [Layout].
func (f *Feeds) PostDeleted(ctx context.Context, post social.PostID, author, wallOwner social.UserID) error {
	return f.each(ctx, func(layout Layout) error { return layout.PostDeleted(ctx, post, author, wallOwner) })
}

// PostMoved is called after a post was moved to another wall; see [Layout].
func (f *Feeds) PostMoved(ctx context.Context, post social.PostID) error {
	return f.each(ctx, func(layout Layout) error { return layout.PostMoved(ctx, post) })
}

// Forget removes everything that is kept for a user; see [Layout].
func (f *Feeds) Forget(ctx context.Context, user social.UserID) error {
	return f.each(ctx, func(layout Layout) error { return layout.Forget(ctx, user) })
}

// FollowsChanged is called with the users who begin or end follows; see [Layout].
func (f *Feeds) FollowsChanged(ctx context.Context, owners ...social.UserID) error {
	return f.each(ctx, func(layout Layout) error { return layout.FollowsChanged(ctx, owners...) })
}

// PostStored is called after a new post was committed.
func (f *Feeds) PostStored(post social.PostID) { f.floors.note(post) }

// Do hands a job to the layout that has added it. If that is no longer in use, nothing is left to
// do.
func (f *Feeds) Do(ctx context.Context, j *jobs.Job) error {
	adds := func(layout Layout) bool { return slices.Contains(layout.JobKinds(), j.Kind) }
	for _, layout := range f.inUse(ctx).Kept {
		if adds(layout) {
			return layout.Do(ctx, j)
		}
	}
	for _, layout := range f.layouts {
		if adds(layout) {
			return nil
		}
	}
	return jobs.Unknown(j)
}
