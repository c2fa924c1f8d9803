package threads

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// bucketDoc is a document of a collection threads.…: comments of one post, next to each other in
// one order. The buckets of a run cover it without gaps: each has the comments with keys from its
// _id up to, but not including, its upper.
type bucketDoc struct {
	ID       string        `bson:"_id"` // the run, and the smallest key that belongs here; it never changes
	Version  int           `bson:"v"`
	Post     social.PostID `bson:"post"`
	Upper    string        `bson:"upper"`          // the _id of the next bucket, or the run's end
	Main     bool          `bson:"main,omitempty"` // comments are looked up here; the tree has them a second time
	Count    int           `bson:"count"`
	Bytes    int           `bson:"bytes"` // see weight
	Last     string        `bson:"last"`  // no key was ever greater
	Comments []Document    `bson:"comments"`

	taken bool // set only by a read: the slug that it looked for is here
}

func (d *bucketDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Text(v, &d.ID)
	case "v":
		r.Int(v, &d.Version)
	case "post":
		r.ID(v, &d.Post.ID)
	case "upper":
		r.Text(v, &d.Upper)
	case "main":
		r.Bool(v, &d.Main)
	case "count":
		r.Int(v, &d.Count)
	case "bytes":
		r.Int(v, &d.Bytes)
	case "last":
		r.Text(v, &d.Last)
	case "comments":
		mdb.ReadDocuments(r, v, &d.Comments)
	case "taken":
		r.Bool(v, &d.taken)
	}
}

// bucket returns a bucket of comments, which are in the run's order.
func (r run) bucket(lower, upper string, comments []Document) bucketDoc {
	d := bucketDoc{
		ID: lower, Version: mdb.FirstVersion, Post: comments[0].Post, Upper: upper, Main: r.kind() != runInTree,
		Count: len(comments), Last: r.key(&comments[len(comments)-1]), Comments: slices.Clone(comments),
	}
	for i := range d.Comments {
		c := &d.Comments[i]
		c.Post = social.PostID{} // the bucket has it
		d.Bytes += weight(c)
	}
	return d
}

// buckets sorts comments in the run's order, cuts them into chunks, and returns a bucket for each,
// from a lower to an upper bound.
func (r run) buckets(lower, upper string, comments []Document, chunks func([]Document) [][]Document) []bucketDoc {
	slices.SortFunc(comments, func(a, b Document) int { return cmp.Compare(r.key(&a), r.key(&b)) })
	var all []bucketDoc
	for _, chunk := range chunks(comments) {
		if len(all) > 0 {
			lower = r.at(r.key(&chunk[0]))
			all[len(all)-1].Upper = lower
		}
		all = append(all, r.bucket(lower, upper, chunk))
	}
	return all
}

// chunks returns as few chunks within the limit as possible, filled from the start.
func (l Limit) chunks(comments []Document) [][]Document {
	var all [][]Document
	start, bytes := 0, 0
	for i := range comments {
		w := weight(&comments[i])
		if i > start && (i-start >= l.Comments || bytes+w > l.Bytes) {
			all = append(all, comments[start:i])
			start, bytes = i, 0
		}
		bytes += w
	}
	return append(all, comments[start:])
}

// halves returns two chunks of about the same size in bytes; neither is empty. There are at least
// two comments.
func halves(comments []Document) [][]Document {
	total := 0
	for i := range comments {
		total += weight(&comments[i])
	}
	cut, bytes := 0, 0
	for cut < len(comments)-1 && (cut == 0 || 2*bytes < total) {
		bytes += weight(&comments[cut])
		cut++
	}
	return [][]Document{comments[:cut], comments[cut:]}
}

// weight is about what a comment adds to a bucket, in bytes, including the index in the array. It
// is rather too high than too low.
func weight(c *Document) int {
	const fixed = 200
	return fixed + len(c.Slug) + len(c.Path) + len(c.TreePath) + len(c.Text)
}

// The indexes of threads. Each bucket of a paged thread has one entry in each of the first two.
// Main buckets have one entry for each comment in each of the others.
const (
	byUpper       = "upper_id"
	byLower       = "id_upper"
	byComment     = "comment"
	byCommentSlug = "post_comment_slug"
	byReply       = "reply_upper"
)

func bucketIndexes() []mongo.IndexModel {
	return []mongo.IndexModel{
		mdb.Index(byUpper, mdb.Doc("upper", 1, "_id", 1)),
		mdb.Index(byLower, mdb.Doc("_id", 1, "upper", 1)),
		mdb.IndexHaving("main", byComment, mdb.Doc("comments._id", 1)),
		mdb.IndexHaving("main", byCommentSlug, mdb.Doc("post", 1, "comments.slug", 1)),
		mdb.IndexHaving("main", byReply, mdb.Doc("comments.parent", 1, "upper", 1, "_id", 1)),
	}
}

// inBuckets stores comments in buckets. A thread is one bucket with everything, as long as it is
// within the limit whole; or it is paged: in buckets of a limited size, once by time and once as a
// tree. The ids of its buckets say which.
type inBuckets struct {
	buckets *mongo.Collection
	authors *mongo.Collection // the authors of live comments: see authorDoc
	whole   Limit             // of threads in one bucket; zero: there are none
	paged   bool              // threads above that limit are paged; otherwise they are full
	page    Limit             // of the buckets of a paged thread
}

func (t inBuckets) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{t.buckets: bucketIndexes(), t.authors: authorIndexes()}
}

// Limit is the size that a bucket may have. Bytes are counted as weight does.
type Limit struct{ Comments, Bytes int }

// admits reports whether a bucket may grow by a number of comments and bytes.
func (l Limit) admits(b *bucketDoc, comments, bytes int) bool {
	return b.Count+comments <= l.Comments && b.Bytes+bytes <= l.Bytes
}

// PageLimit is how large a page of a thread may be, and also a thread in one document that could
// have pages. 100 comments is the reference's number. The bytes are few enough to write the bucket
// again for each comment; the longest comment takes about a sixth of them.
var PageLimit = Limit{Comments: 100, Bytes: 256 << 10}

func (r run) covers(b *bucketDoc, c *Document) bool {
	at := r.at(r.key(c))
	return b.ID <= at && at < b.Upper
}

func (r run) order() bson.D {
	if r.kind() == runInTree {
		return mdb.Doc("treePath", 1)
	}
	return mdb.Doc("_id", 1)
}
