package feeds

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// monthLayout is the layout with copies of posts, for the news and walls of all users (keptFeed):
// usually a document for each user and month, and more if there are many posts. After each change
// of a post, a job puts a newer copy into all of them. Readers compare the number of changes of
// copies and posts, in one command, and read those posts themselves that were changed since: what
// users may see never depends on an old copy.
type monthLayout struct {
	unkept

	newsOf, wallOf *keptFeed
}

// The jobs of monthLayout.
const (
	jobMonthPush    jobs.Kind = "month push"    // copy Post into the news of Author and followers, and onto its wall
	jobMonthPull    jobs.Kind = "month pull"    // take Post out of them, and off Wall
	jobMonthRefresh jobs.Kind = "month refresh" // copy Post again
	jobMonthBuild   jobs.Kind = "month build"   // build the news of Author
)

func newMonthLayout(e *base, size, closed int) *monthLayout {
	wallIDs := func(ctx context.Context, user social.UserID, limit int) ([]social.PostID, error) {
		return mergeIDs(ctx, e, "wallOwner", []social.UserID{user}, social.Page{Limit: limit})
	}
	feed := func(docs *mongo.Collection, truth func(context.Context, social.UserID, int) ([]social.PostID, error)) *keptFeed {
		return &keptFeed{base: e, docs: docs, size: size, built: 3 * size, kept: closed, copies: true, truth: truth}
	}
	return &monthLayout{unkept: unkept{e}, newsOf: feed(e.monthNews, e.newestNews), wallOf: feed(e.monthWalls, wallIDs)}
}

// News reads the newest page in three commands, or four if some copies are old, and others in one
// more.
func (f *monthLayout) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return f.newsOf.news(ctx, jobMonthPush, viewer, p)
}

// Walls reads one wall as News does, and many in as many commands as one.
func (f *monthLayout) Walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
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
		return f.unkept.Walls(ctx, lists)
	case len(lists) != 1:
		return f.walls(ctx, lists, pending)
	}
	list := lists[0]
	posts, err := f.wallOf.page(ctx, list.Of, list.Page, pending[list.Of], func(ctx context.Context, p social.Page) ([]*social.Post, error) {
		rest := social.List[social.UserID]{Of: list.Of, Page: p}
		walls, err := f.unkept.Walls(ctx, []social.List[social.UserID]{rest})
		return walls[rest], err
	})
	return map[social.List[social.UserID]][]*social.Post{list: posts}, err
}

// walls reads many walls.
func (f *monthLayout) walls(ctx context.Context, lists []social.List[social.UserID], pending map[social.UserID][]social.PostID) (map[social.List[social.UserID]][]*social.Post, error) {
	walls, err := f.wallOf.pages(ctx, lists, pending)
	if err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(lists), func(list social.List[social.UserID]) bool { return walls[list] != nil })
	others, err := f.unkept.Walls(ctx, rest)
	maps.Copy(walls, others)
	return walls, err
}

// PostsAdded adds the jobs that push the posts.
func (f *monthLayout) PostsAdded(ctx context.Context, posts []*social.Post) error {
	return f.jobs.Add(ctx, pushJobs(jobMonthPush, posts)...)
}

// PostsChanged adds the jobs that copy the posts again.
func (f *monthLayout) PostsChanged(ctx context.Context, posts ...social.PostID) error {
	return f.jobs.Add(ctx, mdb.Map(posts, func(post *social.PostID) jobs.Job { return jobs.Job{Kind: jobMonthRefresh, Post: *post} })...)
}

// PostDeleted adds the job that removes the copies. Until then, readers find no post to compare
// them with.
func (f *monthLayout) PostDeleted(ctx context.Context, post social.PostID, author, wallOwner social.UserID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobMonthPull, Author: author, Post: post, Wall: wallOwner})
}

// FollowsChanged makes the owners' news stale, and adds jobs that build them. Walls do not depend
// on follows.
func (f *monthLayout) FollowsChanged(ctx context.Context, owners ...social.UserID) error {
	return f.newsOf.followsChanged(ctx, jobMonthBuild, owners)
}

func (*monthLayout) JobKinds() []jobs.Kind {
	return []jobs.Kind{jobMonthPush, jobMonthPull, jobMonthRefresh, jobMonthBuild}
}

// Do implements Layout.
func (f *monthLayout) Do(ctx context.Context, j *jobs.Job) error {
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

func (f *monthLayout) pull(ctx context.Context, j *jobs.Job) error {
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
func (f *monthLayout) copy(ctx context.Context, j *jobs.Job) error {
	copies, err := f.newsOf.copiesOf(ctx, []social.PostID{j.Post})
	if err != nil || len(copies) == 0 {
		return err // the post is gone
	}
	people, err := f.posts.Decode(copies[0])
	if err != nil {
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
	// Readers drop the post anyway. But jobs take a deleted post out of the news of followers only, so
	// this copy would stay.
	return f.undoUnfollowed(ctx, j, users, func(ctx context.Context, left []social.UserID) error { return f.newsOf.pull(ctx, j.Post, left) })
}

// copyTo pushes or refreshes a copy in some feeds. The last of them may have none yet: it is the
// author's, or the wall itself.
func (f *monthLayout) copyTo(ctx context.Context, feed *keptFeed, j *jobs.Job, c postCopy, users []social.UserID) error {
	if j.Kind == jobMonthRefresh || len(users) == 0 {
		return feed.refresh(ctx, c, users)
	}
	if _, err := feed.push(ctx, j.Post, []postCopy{c}, users); err != nil {
		return err
	}
	if j.IsFirst() {
		if err := feed.build(ctx, users[len(users)-1]); err != nil {
			return err
		}
	}
	// The post may have been changed, and its copies refreshed, before the push.
	newer, err := feed.copiesOf(ctx, []social.PostID{j.Post})
	if err == nil && len(newer) == 0 { // deleted since, and perhaps removed from feeds before the push
		return feed.pull(ctx, j.Post, users)
	}
	if err != nil || newer[0].changes() == 0 {
		return err
	}
	return feed.refresh(ctx, newer[0], users)
}

// Build implements Layout.
func (f *monthLayout) Build(ctx context.Context, user social.UserID) error {
	if err := f.wallOf.rebuild(ctx, user); err != nil {
		return err
	}
	return f.newsOf.rebuild(ctx, user)
}

// PostMoved adds the job that copies the post onto its new wall, and again into news.
func (f *monthLayout) PostMoved(ctx context.Context, post social.PostID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobMonthPush, Post: post})
}

// Forget implements Layout.
func (f *monthLayout) Forget(ctx context.Context, user social.UserID) error {
	if err := f.wallOf.forget(ctx, user); err != nil {
		return err
	}
	return f.newsOf.forget(ctx, user)
}

// Collections implements Layout.
func (f *monthLayout) Collections() []*mongo.Collection {
	return []*mongo.Collection{f.newsOf.docs, f.wallOf.docs}
}

// Indexes implements Layout: copies are compared with an index only.
func (f *monthLayout) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{f.posts.Collection(): {mdb.Index(byChanges, mdb.Doc("_id", 1, "changes", 1))}}
}
