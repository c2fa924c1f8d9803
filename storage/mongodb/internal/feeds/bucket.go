package feeds

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// bucketLayout is the layout with buckets of ids for all users (keptFeed). Jobs push a post to all
// followers of its author. After a change of follows, another job builds the feed again. Until
// then, and for posts that are older than what is kept, posts are merged as in the layout read.
type bucketLayout struct {
	unkept

	kept *keptFeed
}

// The jobs of bucketLayout.
const (
	jobBucketPush  jobs.Kind = "bucket push"  // put Post into the feeds of Author and followers
	jobBucketPull  jobs.Kind = "bucket pull"  // take Post out of them
	jobBucketBuild jobs.Kind = "bucket build" // build the feed of Author
)

func newBucketLayout(e *base, size, closed int) *bucketLayout {
	return &bucketLayout{unkept: unkept{e}, kept: &keptFeed{
		base: e, docs: e.newsBuckets, size: size, built: 3 * size, kept: closed, truth: e.newestNews,
	}}
}

// newestNews reads the ids of a user's newest news.
func (e *base) newestNews(ctx context.Context, user social.UserID, limit int) ([]social.PostID, error) {
	authors, err := e.follows.Followed(ctx, user)
	if err != nil {
		return nil, err
	}
	return mergeIDs(ctx, e, "author", append(authors, user), social.Page{Limit: limit})
}

// News reads the newest page in three commands, and others in three or four.
func (f *bucketLayout) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return f.kept.news(ctx, jobBucketPush, viewer, p)
}

// newestPages implements newestSharer in three commands.
func (f *bucketLayout) newestPages(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	pending, ok, err := f.pendingNews(ctx, jobBucketPush, batch.Unique(ownersOf(lists)), social.Page{})
	if err != nil || !ok {
		return nil, err
	}
	return f.kept.pages(ctx, lists, pending)
}

// PostsAdded adds the jobs that push the posts.
func (f *bucketLayout) PostsAdded(ctx context.Context, posts []*social.Post) error {
	return f.jobs.Add(ctx, pushJobs(jobBucketPush, posts)...)
}

// PostDeleted adds the job that takes the post out of feeds. Until then, readers find no post with
// its id.
func (f *bucketLayout) PostDeleted(ctx context.Context, post social.PostID, author, _ social.UserID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobBucketPull, Author: author, Post: post})
}

// FollowsChanged makes the owners' feeds stale, and adds jobs that build them.
func (f *bucketLayout) FollowsChanged(ctx context.Context, owners ...social.UserID) error {
	return f.kept.followsChanged(ctx, jobBucketBuild, owners)
}

func (f *keptFeed) followsChanged(ctx context.Context, build jobs.Kind, owners []social.UserID) error {
	if len(owners) == 0 {
		return nil
	}
	if err := f.stale(ctx, owners); err != nil {
		return err
	}
	return f.jobs.Add(ctx, mdb.Map(owners, func(owner *social.UserID) jobs.Job { return jobs.Job{Kind: build, Author: *owner} })...)
}

func (*bucketLayout) JobKinds() []jobs.Kind {
	return []jobs.Kind{jobBucketPush, jobBucketPull, jobBucketBuild}
}

// Do implements Layout.
func (f *bucketLayout) Do(ctx context.Context, j *jobs.Job) error {
	switch j.Kind {
	case jobBucketBuild:
		return f.kept.build(ctx, j.Author)
	case jobBucketPush, jobBucketPull:
	default:
		return jobs.Unknown(j)
	}
	users, err := f.share(ctx, j)
	if err != nil {
		return err
	}
	if j.Kind == jobBucketPull {
		return f.kept.pull(ctx, j.Post, users)
	}
	all, err := f.kept.push(ctx, j.Post, nil, users)
	if err != nil || all || !j.IsFirst() {
		return err
	}
	return f.kept.build(ctx, j.Author)
}

// Build implements Layout.
func (f *bucketLayout) Build(ctx context.Context, user social.UserID) error {
	return f.kept.rebuild(ctx, user)
}

// Forget implements Layout.
func (f *bucketLayout) Forget(ctx context.Context, user social.UserID) error {
	return f.kept.forget(ctx, user)
}

// Collections implements Layout.
func (f *bucketLayout) Collections() []*mongo.Collection { return []*mongo.Collection{f.kept.docs} }
