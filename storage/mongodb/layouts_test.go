package mongodb

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// The same layouts with buckets so small that short threads are cut, moved and tidied all the time; for tests alone.
const (
	TinyPages    = "tiny pages"
	TinyAdaptive = "tiny adaptive"
	SmallPages   = "small pages"   // of eight comments, or 4,000 bytes: sparse ones are joined
	TinyEmbedded = "tiny embedded" // full with some ten comments
)

// Layouts of feeds with parts so small that short feeds are closed, trimmed and merged all the time; for tests alone.
const (
	TinyBucket = "tiny bucket"
	TinyMonth  = "tiny month"
)

func init() { //nolint:gochecknoinits // only in tests
	feedLayouts[TinyBucket] = func(s *Store, _ Options) feeds {
		f := newBucketFeeds(s, 3)
		f.kept.kept = 4
		return f
	}
	feedLayouts[TinyMonth] = func(s *Store, _ Options) feeds {
		f := newMonthFeeds(s, 3)
		f.newsOf.kept, f.wallOf.kept = 4, 4
		return f
	}
	tiny := bucketLimit{3, pageLimit.bytes}
	commentLayouts[SmallPages] = func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db, SmallPages), authors: authorsIn(db, SmallPages), paged: true, page: bucketLimit{8, 4000}}
	}
	commentLayouts[TinyPages] = func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db, TinyPages), authors: authorsIn(db, TinyPages), paged: true, page: tiny}
	}
	commentLayouts[TinyAdaptive] = func(db *mongo.Database) threads {
		return bucketThreads{
			buckets: bucketsIn(db, TinyAdaptive), authors: authorsIn(db, TinyAdaptive), whole: bucketLimit{4, pageLimit.bytes}, paged: true, page: tiny,
		}
	}
	commentLayouts[TinyEmbedded] = func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db, TinyEmbedded), authors: authorsIn(db, TinyEmbedded), whole: bucketLimit{1 << 30, 3000}}
	}
}

// Follows are all follows, as edges have them and as the graph's layout has them by the followed: everything about each, by owner
// and other.
func (s *Store) Follows(ctx context.Context) (edges, copies map[string]string, err error) {
	edges, err = followsIn(ctx, s.edges)
	if err != nil {
		return nil, nil, err
	}
	copies, err = followsIn(ctx, s.graph.followers(ctx))
	return edges, copies, err
}

func followsIn(ctx context.Context, c *mongo.Collection) (map[string]string, error) {
	docs, err := mdb.FindAll[edgeDoc](ctx, c, mdb.Doc("follow", mdb.Doc("$exists", true)), mdb.InBatch)
	all := make(map[string]string, len(docs))
	for _, d := range docs {
		all[fmt.Sprint(d.Owner.ID, " ", d.Other.ID)] = d.followText()
	}
	return all, err
}

// CheckBuckets reads a post's buckets, and says what is wrong with them: runs must be tiled, buckets sorted, within their bounds
// and their limit, and exactly counted, and the two runs of a paged thread must hold the same.
func (s *Store) CheckBuckets(ctx context.Context, post social.PostID) (buckets int, faults []string, err error) {
	t, ok := s.inUse(ctx).threads.read.(bucketThreads)
	if !ok {
		return 0, nil, fmt.Errorf("%T has no buckets", s.inUse(ctx).threads.read)
	}
	own := mdb.Doc("_id", mdb.Doc("$gt", post.ID.String(), "$lt", post.ID.String()+behind))
	docs, err := mdb.FindAll[bucketDoc](ctx, t.buckets, own, mdb.InBatch, options.Find().SetSort(mdb.Doc("_id", 1)))
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	runs := map[run][]commentDoc{}
	next := map[run]string{}
	for i := range docs {
		b, r := &docs[i], runOf(&docs[i])
		if due := next[r]; due == "" && b.ID != string(r) || due != "" && b.ID != due {
			fault("a gap before %s", b.ID)
		}
		next[r] = b.Upper
		if b.Count != len(b.Comments) || r.kind() != runWhole && b.Count > t.page.comments {
			fault("count %d, %d comments, limit %d", b.Count, len(b.Comments), t.page.comments)
		}
		if limit := t.limitOf(r); b.Bytes > limit.bytes {
			fault("%d bytes, limit %d", b.Bytes, limit.bytes)
		}
		if b.Count == 0 && b.ID != string(r) {
			fault("an empty bucket is left")
		}
		weights := 0
		for i := range b.Comments {
			c := &b.Comments[i]
			weights += weight(c)
			if !r.covers(b, c) || r.key(c) > b.Last || i > 0 && r.key(c) <= r.key(&b.Comments[i-1]) {
				fault("a comment at the wrong place in %s", b.ID)
			}
		}
		if weights != b.Bytes {
			fault("%d bytes are counted, there are %d", b.Bytes, weights)
		}
		runs[r] = append(runs[r], b.Comments...)
	}
	for r, end := range next {
		if end != r.end() {
			fault("the end of %s is missing", r)
		}
	}
	if len(runs) == 2 {
		inTime, inTree := runs[newRun(post, runInTime)], runs[newRun(post, runInTree)]
		slices.SortFunc(inTree, func(a, b commentDoc) int { return strings.Compare(a.ID.ID.String(), b.ID.ID.String()) })
		if !sameDocs(inTime, inTree) {
			fault("the runs differ: %d comments in time, %d in the tree", len(inTime), len(inTree))
		}
	} else if len(runs) > 2 {
		fault("%d runs", len(runs))
	}
	return len(docs), faults, err
}

func (t bucketThreads) limitOf(r run) bucketLimit {
	if r.kind() == runWhole {
		return t.whole
	}
	return t.page
}

func sameDocs(a, b []commentDoc) bool {
	first, err := bson.MarshalExtJSON(mdb.Doc("all", a), true, false)
	second, other := bson.MarshalExtJSON(mdb.Doc("all", b), true, false)
	return err == nil && other == nil && bytes.Equal(first, second)
}

// EraseSlowly leaves nearly all erasing to the workers, which do the least at a time.
func (s *Store) EraseSlowly() { s.erasing = eraseTimes{} }

// SparseNeighbours counts the buckets of a post that could be joined with the next.
func (s *Store) SparseNeighbours(ctx context.Context, post social.PostID) (n int, err error) {
	t, ok := s.inUse(ctx).threads.read.(bucketThreads)
	if !ok {
		return 0, fmt.Errorf("%T has no buckets", s.inUse(ctx).threads.read)
	}
	own := mdb.Doc("_id", mdb.Doc("$gt", post.ID.String(), "$lt", post.ID.String()+behind))
	docs, err := mdb.FindAll[bucketDoc](ctx, t.buckets, own, mdb.InBatch, options.Find().SetSort(mdb.Doc("_id", 1)))
	for i := 1; i < len(docs); i++ {
		if docs[i].ID == docs[i-1].Upper && t.fitTogether(docs[i-1], docs[i]) {
			n++
		}
	}
	return n, err
}
