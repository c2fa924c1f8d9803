package social

import (
	"context"
	"strings"
	"time"

	"plaza/fault"
	"plaza/id"
)

// Comment is one entry of a post's thread.
type Comment struct {
	ID       CommentID
	Post     PostID
	Parent   CommentID // zero: the comment is a reply to the post itself
	Slug     string    // unique in its thread; URL-safe
	Path     string    // the ancestors' slugs and its own, from the root, joined by "/"
	TreePath Key       // the key of the threaded order: see OrderThreaded
	Author   UserID    // zero: a tombstone
	Text     string    // empty: a tombstone
	EditedAt time.Time // zero if never edited
	Replies  int       // direct replies, tombstones included
	Deleted  bool      // a tombstone: it remains because it has replies, without author, text and editing time
	Hidden   bool      // by moderators
}

// CreatedAt is when the comment was created.
func (c *Comment) CreatedAt() time.Time { return c.ID.Time() }

// TextLen returns how many bytes its texts have.
func (c *Comment) TextLen() int { return len(c.Text) + len(c.Path) + len(c.TreePath) }

// Depth is 1 for a reply to the post, 2 for a reply to that comment, and so on.
func (c *Comment) Depth() int { return len(c.TreePath) / id.TextLen }

// ReplyTo sets the parent of a new comment, before its id; nil: it replies to the post itself.
func (c *Comment) ReplyTo(parent *Comment) {
	if parent == nil {
		parent = &Comment{}
	}
	c.Parent, c.Path, c.TreePath = parent.ID, parent.Path, parent.TreePath
}

// slugLen is how many characters of an id a slug has: 40 random bits.
const slugLen = 8

// SetID sets a new comment's id, its place below its parent, and its slug, if it has none: the end
// of the id.
func (c *Comment) SetID(own CommentID) {
	c.ID = own
	c.TreePath += Key(own.ID.String())
	if c.Slug == "" {
		c.Slug = slugAtEnd(c.TreePath)
	}
	if c.Path != "" {
		c.Path += "/"
	}
	c.Path += c.Slug
}

func slugAtEnd(k Key) string { return string(k[len(k)-slugLen:]) }

// PathOf returns the path of a comment if it and its ancestors have the slugs that SetID gives.
func PathOf(treePath Key) string {
	slugs := make([]string, 0, 8) // most threads are less deep, so this needs no allocation
	for rest := treePath; len(rest) >= id.TextLen; rest = rest[id.TextLen:] {
		slugs = append(slugs, slugAtEnd(rest[:id.TextLen]))
	}
	return strings.Join(slugs, "/")
}

// AncestorIDs reads the ids of the ancestors, from the root, from the TreePath.
func (c *Comment) AncestorIDs() []CommentID {
	var ids []CommentID
	for rest := string(c.TreePath); len(rest) > id.TextLen; rest = rest[id.TextLen:] {
		if parsed, err := id.ParseText(rest[:id.TextLen]); err == nil {
			ids = append(ids, CommentID{parsed})
		}
	}
	return ids
}

// Removal is what the deletion of a comment without replies changes above it.
type Removal struct {
	Tombstones []CommentID // the ancestors that are gone, too, upwards
	Above      CommentID   // the ancestor that remains, and has one reply fewer; zero: none
}

// Events returns the event of the deletion, and one for each other comment that it has changed.
func (r Removal) Events(deletion Event) []Event {
	events := []Event{deletion}
	add := func(kind EventKind, c CommentID) {
		events = append(events, Event{ID: EventID{id.New()}, Kind: kind, Actor: deletion.Actor, Post: deletion.Post, Comment: c})
	}
	for _, c := range r.Tombstones {
		add(EventCommentDeleted, c)
	}
	if !r.Above.IsZero() {
		add(EventReplyRemoved, r.Above)
	}
	return events
}

// NewCommentErased returns the event of a comment that EraseComments deletes, or that is deleted
// with its author's account: then by is zero, because events that name a user who is gone reach no
// subscriber.
func NewCommentErased(by UserID, post PostID, comment CommentID) Event {
	return Event{ID: EventID{id.New()}, Kind: EventCommentDeleted, Actor: by, Target: by, Post: post, Comment: comment}
}

// CommentOrder is the order of a thread.
type CommentOrder string

// The orders of a thread.
const (
	OrderOldest CommentOrder = "OLDEST" // by time; keys are comment ids
	OrderNewest CommentOrder = "NEWEST" // by time, newest first; keys are comment ids
	// OrderThreaded is depth first, siblings by time; keys are TreePaths. A TreePath has the texts of
	// the ids from the root to the comment, concatenated. Compared as bytes, they order a thread;
	// all descendants of a comment have its TreePath as a prefix.
	OrderThreaded CommentOrder = "THREADED"
)

// Thread selects comments of one post, tombstones included.
type Thread struct {
	Post   PostID
	Order  CommentOrder
	Parent CommentID // not zero: only direct replies to it; with OrderOldest
	Under  Key       // not empty: only the comment with this TreePath and its descendants; with OrderThreaded
}

// Permalink names a comment by its slug.
type Permalink struct {
	Post PostID
	Slug string
}

// Erasure is the progress of erasing a user's comments.
type Erasure struct {
	StartedAt      time.Time
	RemainingCount int
}

// Comments stores threads.
type Comments interface {
	// InsertComment stores the comment and the event, and counts it at its post (CommentCount,
	// Latest) and at its parent (Replies), in one transaction, also under concurrent writes. A
	// comment without an id gets one by SetID, which is also e.Comment then. As with InsertPost, it
	// is greater than those of all comments committed in this thread before, so a reply sorts after
	// its parent. An error leaves c unchanged. ErrNotFound: the post or the parent is absent, or the
	// parent is a tombstone, hidden, or in another post. ErrTaken: the slug is in use in this thread.
	// ErrThreadFull: the engine's layout takes no more comments in one thread.
	InsertComment(ctx context.Context, c *Comment, e Event) error
	// EditComment stores the text and editing time, also in Post.Latest, and the event.
	// ErrNotFound: absent, a tombstone or hidden. ErrThreadFull: the text is longer than before, and
	// the engine's layout takes no more in one thread.
	EditComment(ctx context.Context, id CommentID, text string, at time.Time, e Event) error
	// DeleteComment turns a comment with replies into a tombstone, and removes one without. It then
	// removes every ancestor that is a tombstone without replies. It updates CommentCount, Latest
	// and Replies, and stores the events of the Removal, all in one transaction. ErrNotFound:
	// absent or a tombstone.
	DeleteComment(ctx context.Context, id CommentID, e Event) error
	// Comments reads by id; absent comments are missing in the map.
	Comments(ctx context.Context, ids []CommentID) (map[CommentID]*Comment, error)
	// CommentsBySlug reads by permalink; absent comments are missing in the map.
	CommentsBySlug(ctx context.Context, links []Permalink) (map[Permalink]*Comment, error)
	// Thread lists the comments of each selection in its order.
	Thread(ctx context.Context, lists []List[Thread]) (map[List[Thread]][]*Comment, error)
	// CommentsBy lists the live comments of each author, on any posts, newest first; keys are
	// comment ids.
	CommentsBy(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]*Comment, error)
	// EraseComments deletes the user's comments up to the id, newest first, as DeleteComment would
	// one by one, each with its events. The first transaction stores the request and
	// the event. If ctx ends, an error occurs or a few seconds pass, the Worker does the rest
	// later. Comments that are already deleted do not count. It returns how many are left.
	EraseComments(ctx context.Context, user UserID, upTo CommentID, e Event) (remaining int, err error)
	// CommentErasure reads the progress. ErrNotFound: it is finished, or was never started.
	CommentErasure(ctx context.Context, user UserID) (Erasure, error)
	// LatestComments reads the n newest comments of each post that are live and not hidden, oldest
	// first, except those by the given authors.
	LatestComments(ctx context.Context, posts []PostID, without []UserID, n int) (map[PostID][]*Comment, error)
}

// Check validates an order, naming the field. Error: INVALID.
func (o CommentOrder) Check(field string) error {
	switch o {
	case OrderOldest, OrderNewest, OrderThreaded:
		return nil
	default:
		return fault.Invalidf(field, "This order of comments does not exist.")
	}
}

// CheckCommentText validates the text of a comment. Errors: BLANK, TOO_LONG, INVALID.
func CheckCommentText(text string) error { return fault.CheckText("text", text, 1, MaxTextLen) }

// CommentKey returns a comment's key in a thread of that selection.
func CommentKey(t Thread, c *Comment) Key {
	if t.Order == OrderThreaded {
		return c.TreePath
	}
	return Key(c.ID.Bytes())
}
