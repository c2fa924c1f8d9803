package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/threads"
)

// Layouts with buckets so small that short threads are cut, moved and tidied often; only for tests.
const (
	TinyPages    = "tiny pages"
	TinyAdaptive = "tiny adaptive"
	SmallPages   = "small pages"   // of eight comments, or 4,000 bytes: sparse ones are joined
	TinyEmbedded = "tiny embedded" // full with some ten comments
)

// Layouts of feeds with parts so small that short feeds are closed, trimmed and merged often; only
// for tests.
const (
	TinyBucket = "tiny bucket"
	TinyMonth  = "tiny month"
	TinyRead   = "tiny read"  // few recent posts are in memory
	TinyCache  = "tiny cache" // the same, and nothing is cached for those who follow more than five people
)

// Walking returns options with which Incoming walks for everyone who has a follower.
func Walking(o Options) Options {
	o.walk = walkLimits{followers: 1, share: 20}
	return o
}

func init() { //nolint:gochecknoinits // only in tests
	feedLayouts[TinyRead] = feeds.Recent(3, 11)
	feedLayouts[TinyCache] = feeds.Cached(5, 6, 3, 11)
	feedLayouts[TinyBucket] = feeds.InBuckets(3, 4)
	feedLayouts[TinyMonth] = feeds.InMonths(3, 4)
	for name, l := range bucketLimits {
		if commentLayouts[name] == nil {
			commentLayouts[name] = threads.InBuckets(name, l.whole, l.page)
		}
	}
}

// bucketLimits are the limits of layouts for threads in one bucket, and for pages.
var bucketLimits = map[string]struct{ whole, page threads.Limit }{
	CommentsEmbedded: {whole: threads.Limit{Comments: 1 << 30, Bytes: 8 << 20}},
	CommentsPages:    {page: threads.PageLimit},
	CommentsAdaptive: {whole: threads.PageLimit, page: threads.PageLimit},
	SmallPages:       {page: threads.Limit{Comments: 8, Bytes: 4000}},
	TinyPages:        {page: threads.Limit{Comments: 3, Bytes: threads.PageLimit.Bytes}},
	TinyAdaptive: {
		whole: threads.Limit{Comments: 4, Bytes: threads.PageLimit.Bytes}, page: threads.Limit{Comments: 3, Bytes: threads.PageLimit.Bytes},
	},
	TinyEmbedded: {whole: threads.Limit{Comments: 1 << 30, Bytes: 3000}},
}

// Follows returns all follows, from the edges and from the copies that the graph's layout keeps by
// the followed user, each with a description, by owner and other.
func (s *Store) Follows(ctx context.Context) (edges, copies map[string]string, err error) {
	edges, err = followsIn(ctx, s.graph.Edges())
	if err != nil {
		return nil, nil, err
	}
	copies, err = followsIn(ctx, s.graph.Layouts()[s.member.Now().Layouts[graphSetting().Name]].Followers())
	return edges, copies, err
}

// FollowedByEach reads the people that each user follows; see feeds.Follows.
func (s *Store) FollowedByEach(ctx context.Context, users []social.UserID, most int) (map[social.UserID][]social.UserID, error) {
	return s.graph.Follows().FollowedByEach(ctx, users, most)
}

func followsIn(ctx context.Context, c *mongo.Collection) (map[string]string, error) {
	docs, err := mdb.FindAll[graph.Document](ctx, c, mdb.Doc("follow", mdb.Doc("$exists", true)), mdb.InBatch)
	all := make(map[string]string, len(docs))
	for _, d := range docs {
		all[fmt.Sprint(d.Owner.ID, " ", d.Other.ID)] = d.FollowText()
	}
	return all, err
}

// EraseSlowly leaves nearly all erasing to the workers, which do as little as possible at a time.
func (s *Store) EraseSlowly() { s.erasing = eraseTimes{} }
