package mongodb

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// hybridFeeds is the layout with lists for active users (newsListDoc). A post is pushed to the lists of its author's
// followers by jobs (feed_hybrid_fanout.go), unless its author has very many: then the list names the author, whose posts are
// merged in when somebody reads.
type hybridFeeds struct {
	readFeeds

	mergeAbove int
	building   *mdb.Locks // by user: one reader of this process builds a list
}

// defaultMergeAbove: pushing a post costs about as much as it saves a few readers, and most of so many do not come.
const defaultMergeAbove = 10_000

func newHybridFeeds(s *Store, o Options) *hybridFeeds {
	if o.MergeAbove <= 0 {
		o.MergeAbove = defaultMergeAbove
	}
	return &hybridFeeds{readFeeds: readFeeds{s}, mergeAbove: o.MergeAbove, building: mdb.NewLocks()}
}

// mergedAuthorDoc is a document of mergedAuthors: an author with very many followers. While it is not Complete, lists
// still learn of it, and the author's posts are pushed as well. It is for good, however many followers stay.
type mergedAuthorDoc struct {
	Author   social.UserID `bson:"_id"`
	Version  int           `bson:"v"`
	Since    time.Time     `bson:"since"`
	Complete bool          `bson:"complete,omitempty"`
}

// mergedOf are those of the authors who are merged at read.
func (f *hybridFeeds) mergedOf(ctx context.Context, authors []social.UserID) ([]social.UserID, error) {
	docs, err := mdb.FindIn[mergedAuthorDoc](ctx, f.mergedAuthors, "_id", authors,
		options.Find().SetProjection(mdb.Doc("_id", 1)).SetHint(mdb.Doc("_id", 1)))
	return mdb.Map(docs, func(d *mergedAuthorDoc) social.UserID { return d.Author }), err
}

// news reads the list, what is on its way to it, the newest posts of merged authors, and then the posts: three or four commands. What lies deeper than
// the list is read as in the read layout.
func (f *hybridFeeds) news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	pending, ok, err := f.pendingNews(ctx, jobPush, viewer, p)
	if err != nil {
		return nil, err
	}
	if !ok {
		return f.readFeeds.news(ctx, viewer, p)
	}
	l, err := f.list(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return f.readFeeds.news(ctx, viewer, p)
	}
	l.IDs = append(l.IDs, pending...)
	if l.ends(p) || p.Last && !l.reaches(p) {
		return f.readFeeds.news(ctx, viewer, p)
	}
	posts, err := f.listed(ctx, l, p)
	if err != nil || p.Last || len(posts) == p.Limit || l.reaches(p) {
		return posts, err
	}
	deeper := social.Page{After: social.Key(l.Floor.Bytes()), Before: p.Before, Limit: p.Limit - len(posts)}
	rest, err := f.readFeeds.news(ctx, viewer, deeper)
	return append(posts, rest...), err
}

// listed reads a page of the list, and reads on where posts are gone.
func (f *hybridFeeds) listed(ctx context.Context, l *newsListDoc, p social.Page) (posts []*social.Post, err error) {
	for rest := p; rest.Limit > 0; rest.Limit = p.Limit - len(posts) {
		ids, err := f.listedIDs(ctx, l, rest)
		if err != nil {
			return nil, err
		}
		some, err := f.postsInOrder(ctx, ids)
		if err != nil {
			return nil, err
		}
		full := len(ids) == rest.Limit
		if rest.Last {
			posts = append(some, posts...)
		} else {
			posts = append(posts, some...)
		}
		if !full {
			break
		}
		if rest.Last {
			rest.Before = social.Key(ids[0].Bytes())
		} else {
			rest.After = social.Key(ids[len(ids)-1].Bytes())
		}
	}
	return posts, nil
}

// listedIDs are the page's ids, of the list and of merged authors.
func (f *hybridFeeds) listedIDs(ctx context.Context, l *newsListDoc, p social.Page) ([]social.PostID, error) {
	ids := l.within(p)
	if len(l.Merged) > 0 {
		merged, err := mergeIDs(ctx, f.Store, "author", l.Merged, p)
		if err != nil {
			return nil, err
		}
		ids = append(ids, slices.DeleteFunc(merged, func(post social.PostID) bool { return post.Compare(l.Floor.ID) < 0 })...)
	}
	return firstIDs(ids, p), nil
}

// postsAdded adds the jobs that push the posts to the lists of their authors and followers.
func (f *hybridFeeds) postsAdded(ctx context.Context, posts []*social.Post) error {
	return f.jobs.Add(ctx, pushJobs(jobPush, posts)...)
}

// postStored lets authors see their own posts at once. It is no part of the transaction, which would be in conflict with
// everybody who pushes to the author; where it fails, the job comes a moment later.
func (f *hybridFeeds) postStored(ctx context.Context, p *social.Post) {
	_ = f.push(ctx, p.ID, []social.UserID{p.Author})
}

// postDeleted adds the job that takes the post out of lists. Until it is done, readers find nothing under its id.
func (f *hybridFeeds) postDeleted(ctx context.Context, post social.PostID, author, _ social.UserID) error {
	return f.jobs.Add(ctx, jobs.Job{Kind: jobPull, Author: author, Post: post})
}

// collections implements feeds.
func (f *hybridFeeds) collections() []*mongo.Collection {
	return []*mongo.Collection{f.newsLists, f.mergedAuthors}
}

// build implements feeds: lists are made by who reads, and one that is not there is complete.
func (f *hybridFeeds) build(context.Context, social.UserID) error { return nil }

// forget implements feeds.
func (f *hybridFeeds) forget(ctx context.Context, user social.UserID) error {
	if _, err := f.newsLists.DeleteOne(ctx, mdb.Doc("_id", user)); err != nil {
		return err
	}
	_, err := f.mergedAuthors.DeleteOne(ctx, mdb.Doc("_id", user))
	return err
}

// followsChanged makes the owners' lists dormant.
func (f *hybridFeeds) followsChanged(ctx context.Context, owners ...social.UserID) error {
	if len(owners) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, len(owners))
	for i, owner := range owners {
		models[i] = dormant(owner)
	}
	_, err := f.newsLists.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	return mdb.OrRetry(err)
}
