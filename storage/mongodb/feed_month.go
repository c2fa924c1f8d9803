package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// monthFeeds is the layout with copies of posts, for everybody's news and walls (keptFeed): mostly a document for each user and
// month, and more where there are many posts. Each change of a post is followed by a job that puts a newer copy into all of
// them. Readers compare copies with how often their posts were changed, in one command, and read those posts
// themselves that were changed since: what may be seen never depends on a copy that is old.
type monthFeeds struct {
	readFeeds

	newsOf, wallOf *keptFeed
}

// The jobs of monthFeeds.
const (
	jobMonthPush    jobs.Kind = "month push"    // copy Post into the news of Author and followers, and onto its wall
	jobMonthPull    jobs.Kind = "month pull"    // take Post out of them, and off Wall
	jobMonthRefresh jobs.Kind = "month refresh" // copy Post anew
	jobMonthBuild   jobs.Kind = "month build"   // build the news of Author
)

// monthFeedSize is how many copies a document has: about 100 KB, and at most maxCopy each.
const monthFeedSize = 50

func newMonthFeeds(s *Store, size int) *monthFeeds {
	wallIDs := func(ctx context.Context, user social.UserID, limit int) ([]social.PostID, error) {
		return mergeIDs(ctx, s, "wallOwner", []social.UserID{user}, social.Page{Limit: limit})
	}
	feed := func(docs *mongo.Collection, truth func(context.Context, social.UserID, int) ([]social.PostID, error)) *keptFeed {
		return &keptFeed{Store: s, docs: docs, size: size, built: 3 * size, kept: 24, copies: true, truth: truth}
	}
	return &monthFeeds{readFeeds: readFeeds{s}, newsOf: feed(s.monthNews, s.newestNews), wallOf: feed(s.monthWalls, wallIDs)}
}

// news reads the newest page in three commands, or four where some copies are old, and others in one more.
func (f *monthFeeds) news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	deeper := func(ctx context.Context, p social.Page) ([]*social.Post, error) {
		return f.readFeeds.news(ctx, viewer, p)
	}
	return f.newsOf.news(ctx, jobMonthPush, viewer, p, deeper)
}

// walls reads one wall as news are read, and many in as many commands as one.
func (f *monthFeeds) walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	var bounds social.Page
	if len(lists) == 1 {
		bounds = lists[0].Page
	}
	pending, ok, err := f.pendingOnWalls(ctx, jobMonthPush, bounds)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		return f.readFeeds.walls(ctx, lists)
	case len(lists) != 1:
		return f.wallOf.pages(ctx, lists, pending, f.readFeeds.walls)
	}
	list := lists[0]
	posts, err := f.wallOf.page(ctx, list.Of, list.Page, pending[list.Of], func(ctx context.Context, p social.Page) ([]*social.Post, error) {
		rest := social.List[social.UserID]{Of: list.Of, Page: p}
		walls, err := f.readFeeds.walls(ctx, []social.List[social.UserID]{rest})
		return walls[rest], err
	})
	return map[social.List[social.UserID]][]*social.Post{list: posts}, err
}

// postsAdded adds the jobs that push the posts.
func (f *monthFeeds) postsAdded(ctx context.Context, posts []*social.Post) error {
	return f.jobs.Add(ctx, pushJobs(jobMonthPush, posts)...)
}

// postStored lets everybody see the post on its wall at once, and authors their own posts in the news. Where it fails, the job comes a moment later.
func (f *monthFeeds) postStored(ctx context.Context, p *social.Post) {
	d := newPostDoc(p, f.writes("posts"))
	d.Inbox = nil
	raw, err := mdb.Marshal(d)
	if err != nil {
		return
	}
	copies := []postCopy{raw}
	_ = f.wallOf.pushNow(ctx, p.ID, copies, p.WallOwner)
	_ = f.newsOf.pushNow(ctx, p.ID, copies, p.Author)
}

// postChanged adds the job that copies the post anew.
func (f *monthFeeds) postChanged(ctx context.Context, post social.PostID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobMonthRefresh, Post: post})
}

// postDeleted adds the job that takes the copies away. Until it is done, readers find nothing to compare them with.
func (f *monthFeeds) postDeleted(ctx context.Context, post social.PostID, author, wallOwner social.UserID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobMonthPull, Author: author, Post: post, Wall: wallOwner})
}

// followsChanged makes the owners' news stale, and adds jobs that build them. Walls do not depend on follows.
func (f *monthFeeds) followsChanged(ctx context.Context, owners ...social.UserID) error {
	return f.newsOf.followsChanged(ctx, jobMonthBuild, owners)
}

func (*monthFeeds) jobKinds() []jobs.Kind {
	return []jobs.Kind{jobMonthPush, jobMonthPull, jobMonthRefresh, jobMonthBuild}
}

// do implements feeds.
func (f *monthFeeds) do(ctx context.Context, j *jobs.Job) error {
	switch j.Kind {
	case jobMonthBuild:
		return f.newsOf.build(ctx, j.Author)
	case jobMonthPull:
		return f.pull(ctx, j)
	case jobMonthPush, jobMonthRefresh:
		return f.copy(ctx, j)
	default:
		return jobs.Unknown(j)
	}
}

func (f *monthFeeds) pull(ctx context.Context, j *jobs.Job) error {
	users, err := f.share(ctx, j)
	if err != nil {
		return err
	}
	if j.IsFirst() {
		if err := f.wallOf.pull(ctx, j.Post, []social.UserID{j.Wall}); err != nil {
			return err
		}
	}
	return f.newsOf.pull(ctx, j.Post, users)
}

// copy pushes or refreshes the copies of a post.
func (f *monthFeeds) copy(ctx context.Context, j *jobs.Job) error {
	copies, err := f.newsOf.copiesOf(ctx, []social.PostID{j.Post})
	if err != nil || len(copies) == 0 {
		return err // the post is gone
	}
	var people postDoc
	if err := mdb.ReadDocument(copies[0], &people); err != nil {
		return err
	}
	j.Author, j.Wall = people.Author, people.WallOwner
	if j.IsFirst() {
		if err := f.copyTo(ctx, f.wallOf, j, copies[0], []social.UserID{j.Wall}); err != nil {
			return err
		}
	}
	users, err := f.share(ctx, j)
	if err != nil {
		return err
	}
	if err := f.copyTo(ctx, f.newsOf, j, copies[0], users); err != nil || j.Kind == jobMonthRefresh {
		return err
	}
	return f.unpush(ctx, j, users, f.newsOf.pull)
}

// copyTo pushes or refreshes a copy in some feeds. The last of them may have none yet: it is the author's, or the wall itself.
func (f *monthFeeds) copyTo(ctx context.Context, feed *keptFeed, j *jobs.Job, c postCopy, users []social.UserID) error {
	if j.Kind == jobMonthRefresh || len(users) == 0 {
		return feed.refresh(ctx, c, users)
	}
	if err := feed.push(ctx, j.Post, []postCopy{c}, users); err != nil {
		return err
	}
	if j.IsFirst() {
		if err := feed.build(ctx, users[len(users)-1]); err != nil {
			return err
		}
	}
	// The post may have been changed before the push, and refreshed what was not there yet; and postStored is earlier still.
	newer, err := feed.copiesOf(ctx, []social.PostID{j.Post})
	if err == nil && len(newer) == 0 { // gone since, and perhaps taken out before it was there
		return feed.pull(ctx, j.Post, users)
	}
	if err != nil || newer[0].changes() == 0 {
		return err
	}
	return feed.refresh(ctx, newer[0], users)
}

// build implements feeds.
func (f *monthFeeds) build(ctx context.Context, user social.UserID) error {
	if err := f.wallOf.rebuild(ctx, user); err != nil {
		return err
	}
	return f.newsOf.rebuild(ctx, user)
}

// postMoved adds the job that copies the post onto its new wall, and anew into news.
func (f *monthFeeds) postMoved(ctx context.Context, post social.PostID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobMonthPush, Post: post})
}

// forget implements feeds.
func (f *monthFeeds) forget(ctx context.Context, user social.UserID) error {
	if err := f.wallOf.forget(ctx, user); err != nil {
		return err
	}
	return f.newsOf.forget(ctx, user)
}

// collections implements feeds.
func (f *monthFeeds) collections() []*mongo.Collection {
	return []*mongo.Collection{f.newsOf.docs, f.wallOf.docs}
}

// indexes implements feeds: copies are compared with an index alone.
func (f *monthFeeds) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{f.posts: {mdb.Index(byChanges, mdb.Doc("_id", 1, "changes", 1))}}
}
