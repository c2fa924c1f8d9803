package threads

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// run names the buckets of one post that have its thread in one order. Their _ids begin with it.
type run string

// The kinds of runs. A post has one whole bucket, or both of the others.
const (
	runInTime = 'c' // by the comments' ids
	runInTree = 't' // by their tree paths; they are copies of those in time
	runWhole  = 'w' // one bucket with the whole thread, by the comments' ids
)

// behind is after the texts of all ids: these have no character after "z".
const behind = "~"

func newRun(post social.PostID, kind byte) run { return run(post.ID.String() + string(kind)) }

// post returns the post, which is the shard key.
func (r run) post() social.PostID {
	post, _ := id.ParseText(string(r[:id.TextLen])) // newRun has written it
	return social.PostID{ID: post}
}

func (r run) kind() byte { return r[id.TextLen] }

// at returns the position of a key among the _ids and uppers.
func (r run) at(key string) string { return string(r) + key }

func (r run) end() string { return string(r) + behind }

// covering matches the bucket in which a key belongs.
func (r run) covering(key string) bson.D {
	return mdb.Doc("post", r.post(), "upper", mdb.Doc("$gt", r.at(key), "$lte", r.end()), "_id", mdb.Doc("$lte", r.at(key)))
}

// key is a comment's key in the run.
func (r run) key(c *Document) string {
	if r.kind() == runInTree {
		return c.TreePath
	}
	return c.ID.ID.String()
}

func runOf(b *bucketDoc) run { return run(b.ID[:id.TextLen+1]) }
