package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// bucketFeeds is the layout with buckets of ids for everybody (keptFeed). A post is pushed to all followers of its author by jobs,
// and a change of follows has the feed built anew by another job. Until then, and for what is older than what is kept,
// posts are merged as in the read layout.
type bucketFeeds struct {
	readFeeds

	kept *keptFeed
}

// The jobs of bucketFeeds.
const (
	jobBucketPush  jobs.Kind = "bucket push"  // put Post into the feeds of Author and followers
	jobBucketPull  jobs.Kind = "bucket pull"  // take Post out of them
	jobBucketBuild jobs.Kind = "bucket build" // build the feed of Author
)

// bucketFeedSize is how many ids a bucket has, in about 3.5 KB: more than the largest page takes, so that the open one is enough for it.
const bucketFeedSize = 128

func newBucketFeeds(s *Store, size int) *bucketFeeds {
	return &bucketFeeds{readFeeds: readFeeds{s}, kept: &keptFeed{
		Store: s, docs: s.newsBuckets, size: size, built: 3 * size, kept: 20, truth: s.newestNews,
	}}
}

// newestNews reads the ids of a user's newest news.
func (s *Store) newestNews(ctx context.Context, user social.UserID, limit int) ([]social.PostID, error) {
	authors, err := s.followed(ctx, user)
	if err != nil {
		return nil, err
	}
	return mergeIDs(ctx, s, "author", append(authors, user), social.Page{Limit: limit})
}

// news reads the newest page in two commands, and others in three or four.
func (f *bucketFeeds) news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	deeper := func(ctx context.Context, p social.Page) ([]*social.Post, error) {
		return f.readFeeds.news(ctx, viewer, p)
	}
	return f.kept.news(ctx, jobBucketPush, viewer, p, deeper)
}

// postsAdded adds the jobs that push the posts.
func (f *bucketFeeds) postsAdded(ctx context.Context, posts []*social.Post) error {
	return f.jobs.Add(ctx, pushJobs(jobBucketPush, posts)...)
}

// postStored lets authors see their own posts at once. Where it fails, the job comes a moment later.
func (f *bucketFeeds) postStored(ctx context.Context, p *social.Post) {
	_ = f.kept.pushNow(ctx, p.ID, nil, p.Author)
}

// postDeleted adds the job that takes the post out of feeds. Until it is done, readers find nothing under its id.
func (f *bucketFeeds) postDeleted(ctx context.Context, post social.PostID, author, _ social.UserID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobBucketPull, Author: author, Post: post})
}

// followsChanged makes the owners' feeds stale, and adds jobs that build them.
func (f *bucketFeeds) followsChanged(ctx context.Context, owners ...social.UserID) error {
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

func (*bucketFeeds) jobKinds() []jobs.Kind {
	return []jobs.Kind{jobBucketPush, jobBucketPull, jobBucketBuild}
}

// do implements feeds.
func (f *bucketFeeds) do(ctx context.Context, j *jobs.Job) error {
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
	if err := f.kept.push(ctx, j.Post, nil, users); err != nil {
		return err
	}
	if err := f.unpush(ctx, j, users, f.kept.pull); err != nil || !j.IsFirst() {
		return err
	}
	return f.kept.build(ctx, j.Author)
}

// build implements feeds.
func (f *bucketFeeds) build(ctx context.Context, user social.UserID) error {
	return f.kept.rebuild(ctx, user)
}

// forget implements feeds.
func (f *bucketFeeds) forget(ctx context.Context, user social.UserID) error {
	return f.kept.forget(ctx, user)
}

// collections implements feeds.
func (f *bucketFeeds) collections() []*mongo.Collection { return []*mongo.Collection{f.kept.docs} }

// share is the job's part of Author's followers, after the others were split off. The author belongs to the first part.
func (s *Store) share(ctx context.Context, j *jobs.Job) ([]social.UserID, error) {
	followers, last, err := s.followersOf(ctx, j)
	if err != nil {
		return nil, err
	}
	if j.Until.IsZero() && len(followers) == jobSize {
		if err := s.split(ctx, j, last); err != nil {
			return nil, err
		}
	}
	if j.IsFirst() {
		followers = append(followers, j.Author)
	}
	return followers, nil
}
