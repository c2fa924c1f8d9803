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
		return bucketThreads{buckets: bucketsIn(db, TinyPages), paged: true, size: 3}
	}
	commentLayouts[TinyAdaptive] = func(db *mongo.Database) threads {
		return bucketThreads{
			buckets: bucketsIn(db, TinyAdaptive), whole: wholeLimit{comments: 4, bytes: maxSmall}, paged: true, size: 3,
		}
	}
	commentLayouts[TinyEmbedded] = func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db, TinyEmbedded), whole: wholeLimit{comments: 1 << 30, bytes: 3000}}
	}
}

// Fill stores a whole thread at once, as its layout would have it after so many single comments. The post must be there, and
// have no comments yet. Replies are counted here.
func (s *Store) Fill(ctx context.Context, post social.PostID, comments []*social.Comment) error {
	if len(comments) == 0 {
		return nil
	}
	docs := newCommentDocs(comments)
	replies := map[social.CommentID]int{}
	for _, d := range docs {
		replies[d.Parent]++
	}
	for i := range docs {
		docs[i].Replies = replies[docs[i].ID]
	}
	latest := slices.Clone(docs[max(0, len(docs)-social.PreviewSize):])
	if err := updateOne(ctx, s.posts, doc("_id", post), doc("$set", doc("commentCount", len(docs), "latest", latest))); err != nil {
		return err
	}
	switch t := s.era(ctx).threads.read.(type) {
	case documentThreads:
		for i := range docs {
			docs[i].Seq = docs[i].ID
		}
		return fillAll(ctx, t.comments, docs)
	case bucketThreads:
		return fillAll(ctx, t.buckets, t.filled(post, docs))
	}
	return fmt.Errorf("no layout is known as %T", s.era(ctx).threads.read)
}

// fillAll stores documents, so many at a time that the write concern's wait stays short.
func fillAll[D any](ctx context.Context, c *mongo.Collection, docs []D) error {
	for some := range slices.Chunk(docs, 10*inBatch) {
		if _, err := c.InsertMany(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (t bucketThreads) filled(post social.PostID, docs []commentDoc) []bucketDoc {
	whole, inTime, inTree := newRun(post, runWhole), newRun(post, runInTime), newRun(post, runInTree)
	if len(docs) <= t.whole.comments {
		return whole.buckets(string(whole), whole.end(), docs, len(docs))
	}
	const grown = 70 // percent of a bucket in the tree, which grows in its middle
	all := inTime.buckets(string(inTime), inTime.end(), docs, t.size)
	return append(all, inTree.buckets(string(inTree), inTree.end(), docs, max(1, t.size*grown/100))...)
}

// CheckBuckets reads a post's buckets, and says what is wrong with them: runs must be tiled, buckets sorted, within their bounds
// and their limit, and exactly counted, and the two runs of a paged thread must hold the same.
func (s *Store) CheckBuckets(ctx context.Context, post social.PostID) (buckets int, faults []string, err error) {
	t, ok := s.era(ctx).threads.read.(bucketThreads)
	if !ok {
		return 0, nil, fmt.Errorf("%T has no buckets", s.era(ctx).threads.read)
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
