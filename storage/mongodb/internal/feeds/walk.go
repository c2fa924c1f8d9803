package feeds

import (
	"context"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// walk looks at all posts in the order of the list, at most as many as there are authors and at most
// longestWalk, and returns the page of those by the authors, or nil if it has not found all of its posts.
//
// A merge seeks in the index for each author; a walk reads each post. A seek costs about twice as
// much, so a walk that finds its page is cheaper than the merge. A reader who follows
// a share s of all active authors has a page of 20 among about 20/s posts.
func (f readLayout) walk(ctx context.Context, authors []social.UserID, p social.Page) ([]*social.Post, error) {
	all := mdb.ListQuery{Filter: bson.D{}, Key: "_id", Value: mdb.IDKey, Desc: true, Page: p}
	docs, err := mdb.AggregateAll[seqDoc](ctx, f.posts.Collection(), bson.A{
		mdb.Doc("$match", all.Match()), mdb.Doc("$sort", all.Sort()), mdb.Doc("$limit", min(len(authors), longestWalk)),
		mdb.Doc("$match", mdb.Doc("author", mdb.Doc("$in", mdb.Values(authors)))), mdb.Doc("$limit", p.Limit), mdb.Doc("$project", mdb.Doc("_id", 0, "seq", 1)),
	}, p.Limit, options.Aggregate().SetHint(mdb.Doc("_id", 1)))
	if err != nil || len(docs) < p.Limit {
		return nil, err
	}
	posts, err := f.postsInOrder(ctx, mdb.Map(docs, func(d *seqDoc) social.PostID { return d.Seq }))
	if len(posts) < p.Limit { // one was deleted meanwhile
		return nil, err
	}
	return posts, err
}

const (
	// longestWalk bounds a walk. MongoDB reads ahead in a pipeline, so the whole walk costs something
	// even if its first posts are the page.
	longestWalk = 1_000
	// walkPause is how many pages of a reader are merged after a walk that was in vain, which makes
	// a page up to half again as expensive.
	walkPause = 31
	// mostPauses bounds how many readers are remembered: some megabytes.
	mostPauses = 50_000
)

// walks remembers the readers whose news a walk has not found lately, because they follow people
// who rarely write, or few of all authors.
type walks struct {
	mu     sync.Mutex
	pauses map[social.UserID]int // pages until the next walk
}

// worthwhile reports whether to walk for the next page of a reader.
func (w *walks) worthwhile(reader social.UserID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch pause := w.pauses[reader]; pause {
	case 0:
		return true
	case 1:
		delete(w.pauses, reader)
	default:
		w.pauses[reader] = pause - 1
	}
	return false
}

// inVain pauses the walks for a reader.
func (w *walks) inVain(reader social.UserID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pauses == nil || len(w.pauses) >= mostPauses {
		w.pauses = map[social.UserID]int{}
	}
	w.pauses[reader] = walkPause
}
