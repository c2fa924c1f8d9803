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
)

// The same layouts with buckets so small that short threads are cut, moved and tidied all the time; for tests alone.
const (
	TinyPages    = "tiny pages"
	TinyAdaptive = "tiny adaptive"
	TinyEmbedded = "tiny embedded" // full with some ten comments
)

func init() { //nolint:gochecknoinits // only in tests
	commentLayouts[TinyPages] = func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db), paged: true, size: 3}
	}
	commentLayouts[TinyAdaptive] = func(db *mongo.Database) threads {
		return bucketThreads{
			buckets: bucketsIn(db), whole: wholeLimit{comments: 4, bytes: maxSmall}, paged: true, size: 3,
		}
	}
	commentLayouts[TinyEmbedded] = func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db), whole: wholeLimit{comments: 1 << 30, bytes: 3000}}
	}
}

// CheckBuckets reads a post's buckets, and says what is wrong with them: runs must be tiled, buckets sorted, within their bounds
// and their limit, and exactly counted, and the two runs of a paged thread must hold the same.
func (s *Store) CheckBuckets(ctx context.Context, post social.PostID) (buckets int, faults []string, err error) {
	t, ok := s.threads.(bucketThreads)
	if !ok {
		return 0, nil, fmt.Errorf("%T has no buckets", s.threads)
	}
	own := doc("_id", doc("$gt", post.ID.String(), "$lt", post.ID.String()+behind))
	docs, err := findAll[bucketDoc](ctx, t.buckets, own, inBatch, options.Find().SetSort(doc("_id", 1)))
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	runs := map[run][]commentDoc{}
	next := map[run]string{}
	for i := range docs {
		b, r := &docs[i], runOf(&docs[i])
		if due := next[r]; due == "" && b.ID != string(r) || due != "" && b.ID != due {
			fault("a gap before %s", b.ID)
		}
		next[r] = b.Upper
		if b.Count != len(b.Comments) || r.kind() != runWhole && b.Count > t.size {
			fault("count %d, %d comments, limit %d", b.Count, len(b.Comments), t.size)
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

func sameDocs(a, b []commentDoc) bool {
	first, err := bson.MarshalExtJSON(doc("all", a), true, false)
	second, other := bson.MarshalExtJSON(doc("all", b), true, false)
	return err == nil && other == nil && bytes.Equal(first, second)
}
