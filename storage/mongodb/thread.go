package mongodb

import (
	"context"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// threads is one layout of comment threads: where comments lie, apart from the copies in their post. All layouts give
// the same answers. Those that write run in a transaction that has written the post's document already, so that two
// changes of one thread never run side by side.
type threads interface {
	// indexes are those of the layout's collections.
	indexes() map[*mongo.Collection][]mongo.IndexModel
	// insert stores comments on one post, at least one, and counts them at their parents. ErrNotFound: no such parent, or a tombstone.
	// ErrTaken: a slug. ErrThreadFull: the layout takes no more.
	insert(ctx context.Context, comments []*social.Comment) error
	// edit changes a live comment. ErrNotFound. ErrThreadFull: the layout takes no longer text.
	edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error
	// remove makes a tombstone of a live comment, or removes it with the tombstones above it that it was the last
	// reply of. ErrNotFound.
	remove(ctx context.Context, post social.PostID, comment social.CommentID) error
	// removeThread removes all comments of a post.
	removeThread(ctx context.Context, post social.PostID) error
	// removePart removes about so many comments of a post that nobody sees any more, outside of any transaction, and says whether there were any. What it leaves
	// fits together no more; the post is removed next.
	removePart(ctx context.Context, post social.PostID, most int) (did bool, err error)
	// thread reads all comments of a post, in the order of their ids.
	thread(ctx context.Context, post social.PostID) ([]commentDoc, error)
	// parts are what is stored for a whole thread, each of them small enough for one transaction. ErrThreadFull.
	parts(post social.PostID, comments []commentDoc) ([]threadPart, error)

	// postOf reads which post a comment belongs to. ErrNotFound.
	postOf(ctx context.Context, comment social.CommentID) (social.PostID, error)
	byID(ctx context.Context, ids []social.CommentID) ([]commentDoc, error)
	bySlug(ctx context.Context, links []social.Permalink) ([]commentDoc, error)
	pages(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error)
	// by lists the live comments of each author, newest first.
	by(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error)
	// countBy counts the live comments of an author whose ids are at most upTo.
	countBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error)
	// newest reads the newest live comments of each post, newest first.
	newest(ctx context.Context, posts []social.PostID, without []social.UserID, n int) ([][]commentDoc, error)
}

// threadPart is some of the documents of a thread.
type threadPart struct {
	c    *mongo.Collection
	docs []any
}

// partsOf cuts documents into parts of so many.
func partsOf[D any](c *mongo.Collection, docs []D, size int) []threadPart {
	var parts []threadPart
	for some := range slices.Chunk(docs, max(1, size)) {
		part := threadPart{c: c, docs: make([]any, len(some))}
		for i := range some {
			part.docs[i] = some[i]
		}
		parts = append(parts, part)
	}
	return parts
}

func (p threadPart) store(ctx context.Context) error {
	_, err := p.c.InsertMany(ctx, p.docs)
	return err
}

// The layouts of comment threads, for Options.Comments.
const (
	CommentsDocuments = "documents" // one document a comment
	CommentsEmbedded  = "embedded"  // one document a thread; one that nears a document's limit is refused more
	CommentsPages     = "pages"     // a document for about 100 comments
	CommentsAdaptive  = "adaptive"  // embedded while it is small, then pages
)

// commentLayouts make the layouts of comment threads.
var commentLayouts = map[string]func(*mongo.Database) threads{
	CommentsDocuments: func(db *mongo.Database) threads { return documentThreads{comments: db.Collection("comments")} },
	CommentsEmbedded: func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db, CommentsEmbedded), authors: authorsIn(db, CommentsEmbedded), whole: bucketLimit{math.MaxInt, maxEmbedded}}
	},
	CommentsPages: func(db *mongo.Database) threads {
		return bucketThreads{buckets: bucketsIn(db, CommentsPages), authors: authorsIn(db, CommentsPages), paged: true, page: pageLimit}
	},
	CommentsAdaptive: func(db *mongo.Database) threads {
		return bucketThreads{
			buckets: bucketsIn(db, CommentsAdaptive), authors: authorsIn(db, CommentsAdaptive), whole: pageLimit, paged: true, page: pageLimit,
		}
	},
}

// pageLimit is how large a page of a thread may be, and also a thread in one document that could have pages: 100 comments, as the
// reference has it, and few enough bytes for writing it anew for each comment. The longest comment takes about a sixth of them.
var pageLimit = bucketLimit{comments: 100, bytes: 256 << 10}

const maxEmbedded = 8 << 20 // half of what a document may have

// sharedBuckets is the collection in which all layouts with buckets once kept them.
const sharedBuckets = "threads"

// bucketsIn is a layout's collection of buckets. What is read of it outside of transactions is a snapshot: a command must
// not meet one bucket before it was cut in two, and the other after.
func bucketsIn(db *mongo.Database, layout string) *mongo.Collection {
	return db.Collection(sharedBuckets+"."+layout, options.Collection().SetReadConcern(readconcern.Snapshot()))
}

// renameThreads gives buckets that lie in the shared collection to the layout that has made them: the database's. They are older
// than the entries of their authors, which are made first.
func (s *Store) renameThreads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	db := s.posts.Database()
	names, err := db.ListCollectionNames(ctx, mdb.Doc("name", sharedBuckets))
	if err != nil || len(names) == 0 {
		return mdb.Translate(ctx, "rename threads", err)
	}
	settings, err := s.member.ReadSettings(ctx)
	if err != nil {
		return mdb.Translate(ctx, "rename threads", err)
	}
	t, ok := s.threadLayouts[settings[commentsSetting().Name].Value].(bucketThreads)
	if !ok {
		return nil // a migration has left it; nobody reads it
	}
	if err := t.listAuthors(ctx, db.Collection(sharedBuckets)); err != nil {
		return mdb.Translate(ctx, "list authors", err)
	}
	err = s.client.Database("admin").RunCommand(ctx, mdb.Doc(
		"renameCollection", db.Name()+"."+sharedBuckets, "to", db.Name()+"."+t.buckets.Name())).Err()
	const namespaceNotFound = 26
	if server := mongo.ServerError(nil); mdb.AsServerError(err, &server) && server.HasErrorCode(namespaceNotFound) {
		return nil // another server was faster
	}
	return mdb.Translate(ctx, "rename threads", err)
}
