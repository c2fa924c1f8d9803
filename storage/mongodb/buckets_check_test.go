package mongodb

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/threads"
)

// bucket is a document of a layout with buckets, as package threads describes it.
type bucket struct {
	ID       string             `bson:"_id"`
	Upper    string             `bson:"upper"`
	Count    int                `bson:"count"`
	Bytes    int                `bson:"bytes"`
	Last     string             `bson:"last"`
	Comments []threads.Document `bson:"comments"`
}

// run is the part of the _id that names the bucket's run: a post, and its kind.
func (b *bucket) run() string { return b.ID[:id.TextLen+1] }

func (b *bucket) isWhole() bool { return b.ID[id.TextLen] == 'w' }

func (b *bucket) isTree() bool { return b.ID[id.TextLen] == 't' }

// key returns a comment's key in the bucket's run.
func (b *bucket) key(c *threads.Document) string {
	if b.isTree() {
		return c.TreePath
	}
	return c.ID.ID.String()
}

// checkedBuckets reads a post's buckets, with the limits of their layout.
func (s *Store) checkedBuckets(ctx context.Context, post social.PostID) (all []bucket, whole, page threads.Limit, err error) {
	layout := s.member.Now().Layouts[commentsSetting().Name]
	limits, ok := bucketLimits[layout]
	if !ok {
		return nil, whole, page, fmt.Errorf("there are no bucket limits for the layout %q", layout)
	}
	own := mdb.Doc("_id", mdb.Doc("$gt", post.ID.String(), "$lt", post.ID.String()+"~"))
	all, err = mdb.FindAll[bucket](ctx, s.posts.Database().Collection("threads."+layout), own, mdb.InBatch, options.Find().SetSort(mdb.Doc("_id", 1)))
	return all, limits.whole, limits.page, err
}

// CheckBuckets reads a post's buckets, and reports what is wrong with them: runs must have no gaps,
// buckets must be sorted, within their bounds and limits, and counted exactly, and the two runs of
// a paged thread must contain the same comments.
func (s *Store) CheckBuckets(ctx context.Context, post social.PostID) (buckets int, faults []string, err error) {
	all, whole, page, err := s.checkedBuckets(ctx, post)
	runs, next := map[string][]threads.Document{}, map[string]string{}
	for i := range all {
		b := &all[i]
		limit := page
		if b.isWhole() {
			limit = whole
		}
		if due := cmp.Or(next[b.run()], b.run()); b.ID != due {
			faults = append(faults, fmt.Sprintf("a gap before %s", b.ID))
		}
		next[b.run()] = b.Upper
		faults = append(faults, b.faults(limit)...)
		runs[b.run()] = append(runs[b.run()], b.Comments...)
	}
	for run, end := range next {
		if end != run+"~" {
			faults = append(faults, fmt.Sprintf("the end of %s is missing", run))
		}
	}
	return len(all), append(faults, faultsOfRuns(runs, post)...), err
}

// faults returns what is wrong in one bucket.
func (b *bucket) faults(limit threads.Limit) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if b.Count != len(b.Comments) || b.Count > limit.Comments {
		fault("count %d, %d comments, limit %d", b.Count, len(b.Comments), limit.Comments)
	}
	if b.Bytes > limit.Bytes {
		fault("%d bytes, limit %d", b.Bytes, limit.Bytes)
	}
	if b.Count == 0 && b.ID != b.run() {
		fault("an empty bucket is left")
	}
	bytes := 0
	for i := range b.Comments {
		c := &b.Comments[i]
		bytes += 200 + len(c.Slug) + len(c.Path) + len(c.TreePath) + len(c.Text)
		at := b.run() + b.key(c)
		if at < b.ID || at >= b.Upper || b.key(c) > b.Last || i > 0 && b.key(c) <= b.key(&b.Comments[i-1]) {
			fault("a comment is in the wrong place in %s", b.ID)
		}
	}
	if bytes != b.Bytes {
		fault("%d bytes are counted, but there are %d", b.Bytes, bytes)
	}
	return faults
}

// faultsOfRuns compares the runs of a thread: there is one, or two with the same comments.
func faultsOfRuns(runs map[string][]threads.Document, post social.PostID) []string {
	if len(runs) > 2 {
		return []string{fmt.Sprintf("%d runs", len(runs))}
	}
	if len(runs) < 2 {
		return nil
	}
	inTime, inTree := runs[post.ID.String()+"c"], runs[post.ID.String()+"t"]
	slices.SortFunc(inTree, func(a, b threads.Document) int { return strings.Compare(a.ID.ID.String(), b.ID.ID.String()) })
	if !sameDocs(inTime, inTree) {
		return []string{fmt.Sprintf("the runs differ: %d comments in time, %d in the tree", len(inTime), len(inTree))}
	}
	return nil
}

func sameDocs(a, b []threads.Document) bool {
	first, err := bson.MarshalExtJSON(mdb.Doc("all", a), true, false)
	second, other := bson.MarshalExtJSON(mdb.Doc("all", b), true, false)
	return err == nil && other == nil && bytes.Equal(first, second)
}

// SparseNeighbours counts the buckets of a post that could be joined with the next: the two
// together fill at most half of one.
func (s *Store) SparseNeighbours(ctx context.Context, post social.PostID) (n int, err error) {
	all, _, page, err := s.checkedBuckets(ctx, post)
	for i := 1; i < len(all); i++ {
		a, b := &all[i-1], &all[i]
		if b.ID == a.Upper && a.Count+b.Count <= page.Comments/2 && a.Bytes+b.Bytes <= page.Bytes/2 {
			n++
		}
	}
	return n, err
}
