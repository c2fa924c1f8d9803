package mongodb

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// bucketDoc is a document of a collection threads.…: comments of one post, next to each other in one order. The buckets of a run tile
// it without gaps: each holds the comments whose keys are from its _id up to, but not at, its upper.
type bucketDoc struct {
	ID       string        `bson:"_id"` // the run, and the least key that belongs here: it never changes
	Version  int           `bson:"v"`
	Post     social.PostID `bson:"post"`
	Upper    string        `bson:"upper"`          // the _id of the next bucket, or the run's end
	Main     bool          `bson:"main,omitempty"` // comments are looked up here: the tree has them a second time
	Count    int           `bson:"count"`
	Bytes    int           `bson:"bytes"` // see weight
	Last     string        `bson:"last"`  // no key was ever greater
	Comments []commentDoc  `bson:"comments"`

	taken bool // of a read alone: the slug that was looked for is here
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

// run names the buckets of one post that hold its thread in one order. Their _ids begin with it.
type run string

// The kinds of runs. A post has one whole bucket, or both of the others.
const (
	runInTime = 'c' // by the comments' ids
	runInTree = 't' // by their tree paths; they are copies of those in time
	runWhole  = 'w' // one bucket with the whole thread, by the comments' ids
)

// Ids' texts have no character behind "z": "~" is behind all keys that begin with what is before it.
const behind = "~"

func newRun(post social.PostID, kind byte) run { return run(post.ID.String() + string(kind)) }

// post is the shard key.
func (r run) post() social.PostID {
	post, _ := id.ParseText(string(r[:id.TextLen])) // newRun has written it
	return social.PostID{ID: post}
}

func (r run) kind() byte { return r[id.TextLen] }

// at is where a key lies among the _ids and uppers.
func (r run) at(key string) string { return string(r) + key }

func (r run) end() string { return string(r) + behind }

// covering matches the bucket in which a key belongs.
func (r run) covering(key string) bson.D {
	return mdb.Doc("post", r.post(), "upper", mdb.Doc("$gt", r.at(key), "$lte", r.end()), "_id", mdb.Doc("$lte", r.at(key)))
}

// key is a comment's key in the run.
func (r run) key(c *commentDoc) string {
	if r.kind() == runInTree {
		return c.TreePath
	}
	return c.ID.ID.String()
}

// bucket makes a bucket of comments that are in the run's order.
func (r run) bucket(lower, upper string, comments []commentDoc) bucketDoc {
	d := bucketDoc{
		ID: lower, Version: mdb.FirstVersion, Post: comments[0].Post, Upper: upper, Main: r.kind() != runInTree,
		Count: len(comments), Last: r.key(&comments[len(comments)-1]), Comments: slices.Clone(comments),
	}
	for i := range d.Comments {
		c := &d.Comments[i]
		c.Post = social.PostID{} // it is the bucket's
		d.Bytes += weight(c)
	}
	return d
}

// buckets puts comments, which are cut into chunks in the run's order, into buckets, from a lower to an upper bound.
func (r run) buckets(lower, upper string, comments []commentDoc, chunks func([]commentDoc) [][]commentDoc) []bucketDoc {
	slices.SortFunc(comments, func(a, b commentDoc) int { return cmp.Compare(r.key(&a), r.key(&b)) })
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

// chunks are the fewest that keep to the limit, filled from the start.
func (l bucketLimit) chunks(comments []commentDoc) [][]commentDoc {
	var all [][]commentDoc
	start, bytes := 0, 0
	for i := range comments {
		w := weight(&comments[i])
		if i > start && (i-start >= l.comments || bytes+w > l.bytes) {
			all = append(all, comments[start:i])
			start, bytes = i, 0
		}
		bytes += w
	}
	return append(all, comments[start:])
}

// halves are two chunks of about as many bytes, neither of them empty. There are two comments at least.
func halves(comments []commentDoc) [][]commentDoc {
	total := 0
	for i := range comments {
		total += weight(&comments[i])
	}
	cut, bytes := 0, 0
	for cut < len(comments)-1 && (cut == 0 || 2*bytes < total) {
		bytes += weight(&comments[cut])
		cut++
	}
	return [][]commentDoc{comments[:cut], comments[cut:]}
}

// weight is about what a comment adds to a bucket, in bytes: rather more than less, also with the array's index.
func weight(c *commentDoc) int {
	const fixed = 200
	return fixed + len(c.Slug) + len(c.Path) + len(c.TreePath) + len(c.Text)
}

// The indexes of threads. Each bucket of a paged thread has one entry in each of the first two, and the main ones have
// one a comment in each of the others.
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
