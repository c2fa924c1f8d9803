package threads

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
)

// Layout is one way to store comment threads, apart from the copies in posts. All layouts give the
// same answers. Writes run in a transaction that has already written the post's document, so two
// changes of one thread never run at the same time.
type Layout interface {
	// Indexes returns the layout's collections, with their indexes.
	Indexes() map[*mongo.Collection][]mongo.IndexModel
	// Insert stores comments, and counts them at their parents. Comments on the same post follow
	// one another. ErrNotFound: a parent is missing, a tombstone or hidden. ErrTaken: a slug.
	// ErrThreadFull: the layout has no room.
	Insert(ctx context.Context, comments []*social.Comment) error
	// Edit changes a live comment that is not hidden. ErrNotFound. ErrThreadFull: the layout has no
	// room for the text.
	Edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error
	// Hide hides a live comment, or shows it again. ErrNotFound.
	Hide(ctx context.Context, post social.PostID, comment social.CommentID, hide bool) error
	// Remove replaces a live comment that has replies with a tombstone. It deletes one without
	// replies, and also the tombstones above it that have no other reply. ErrNotFound.
	Remove(ctx context.Context, post social.PostID, comment social.CommentID) (social.Removal, error)
	// RemoveThread deletes all comments of a post.
	RemoveThread(ctx context.Context, post social.PostID) error
	// RemovePart deletes about most comments, outside of any transaction, and returns whether it
	// found any. The post is already invisible, and is deleted next, so the rest of the
	// thread may be inconsistent.
	RemovePart(ctx context.Context, post social.PostID, most int) (did bool, err error)
	// Thread reads all comments of a post, in the order of their ids.
	Thread(ctx context.Context, post social.PostID) ([]Document, error)
	// Parts returns what is stored for a whole thread, in parts that each fit into one transaction.
	// ErrThreadFull.
	Parts(post social.PostID, comments []Document) ([]Part, error)
	// fill returns what a load generator stores for a whole thread. ErrThreadFull.
	fill(post social.PostID, comments []Document) (filling, error)

	reads
}

// reads are the reads of a Layout.
type reads interface {
	// PostOf reads which post a comment belongs to. ErrNotFound.
	PostOf(ctx context.Context, comment social.CommentID) (social.PostID, error)
	// ByID reads comments, in no order. Those that are missing are left out.
	ByID(ctx context.Context, ids []social.CommentID) ([]Document, error)
	// BySlug is the same for permalinks.
	BySlug(ctx context.Context, links []social.Permalink) ([]Document, error)
	// Pages reads one page of each of the lists.
	Pages(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error)
	// By reads one page of the live comments of each author, newest first.
	By(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error)
	// CountBy counts the live comments of an author with ids up to and including upTo.
	CountBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error)
	// Newest reads the newest comments of each post that are live and not hidden, newest first, at
	// most n of each.
	Newest(ctx context.Context, posts []social.PostID, without []social.UserID, n int) ([][]Document, error)
}
