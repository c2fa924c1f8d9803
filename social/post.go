package social

import (
	"context"
	"time"

	"plaza/id"
)

// Post is something that a user wrote on a wall. Content depends on its type; everything else is
// common to all types.
type Post struct {
	ID        PostID
	Author    UserID
	WallOwner UserID // the author, unless the post is on another user's wall
	Audience  Audience
	Content   Content
	EditedAt  time.Time // zero if never edited
	Edits     int       // the number of earlier versions: see Histories
	Revision  int       // incremented by every UpdatePost

	Replies ReplyPolicy
	Order   CommentOrder // the default order of the thread
	Muters  int          // how many users mute the thread: see MutedThreads; never shown

	CommentCount int                  // without deleted comments; includes those that a viewer may not see
	Latest       []*Comment           // the newest comments that are live and not hidden, oldest first: see PreviewSize
	Reactions    map[ReactionKind]int // without zeros
	Votes        []int                // of a poll: one count per option
}

// PreviewSize is how many of a post's newest live comments come with every post that an engine
// reads (all of them, if there are fewer). It is more than the three that are shown, so that
// skipping one rarely costs a read.
const PreviewSize = 8

// CreatedAt is when the post was created.
func (p *Post) CreatedAt() time.Time { return p.ID.Time() }

// TextLen returns how many bytes its texts and those of its Latest comments have.
func (p *Post) TextLen() int {
	n := p.Content.TextLen()
	for _, c := range p.Latest {
		n += c.TextLen()
	}
	return n
}

// Version is a post's content before an edit, and its audience.
type Version struct {
	Content  Content
	Audience Audience  // the post's when this version was replaced
	EditedAt time.Time // when this version was replaced
}

// PostType is the type of a post's content.
type PostType string

// The types of posts.
const (
	TypeStatus  PostType = "STATUS"
	TypePhoto   PostType = "PHOTO"
	TypeLink    PostType = "LINK"
	TypeCheckin PostType = "CHECKIN"
	TypePoll    PostType = "POLL"
)

// Content is the content of a post: exactly one field is set.
type Content struct {
	Status  *Status
	Photo   *Photo
	Link    *Link
	Checkin *Checkin
	Poll    *Poll
}

// Status is plain text.
type Status struct {
	Text string
}

// Photo is a picture elsewhere on the web.
type Photo struct {
	URL           string
	Alt           string // what it shows, for people who can't see it; may be empty
	Caption       string
	Width, Height int // pixels; 0: unknown
}

// Picture is a picture elsewhere on the web that belongs to a post.
type Picture struct {
	URL           string
	Alt           string // what it shows, for people who can't see it; may be empty
	Width, Height int    // pixels; 0: unknown
}

// Link is a link to a page.
type Link struct {
	URL   string
	Title string
	Text  string
}

// Checkin says where its author is.
type Checkin struct {
	Place     string
	Latitude  float64 // degrees north, -90 to 90
	Longitude float64 // degrees east, -180 to 180
	Text      string
	Photo     *Picture // may be nil
}

// Poll asks a question. Its options and closing time never change, so that votes keep their
// meaning.
type Poll struct {
	Question string
	Options  []string
	ClosesAt time.Time // zero: never
}

// Posts stores posts with their polls' votes and reactions.
type Posts interface {
	// InsertPost stores the post and the event in one transaction. A post without an id gets one,
	// and so does e.Post: the id holds the time when the post was stored, by the database's clock,
	// and is greater than those of all posts committed before. So the order of ids is the order of
	// commits, whatever the servers' clocks are. A post with an id keeps it, for posts in the past
	// (the demo, imports). The post has no earlier versions. Without a reply policy or an order it
	// gets RepliesEveryone and OrderOldest. ErrNotFound: the wall's owner has deleted their
	// account.
	InsertPost(ctx context.Context, p *Post, e Event) error
	// UpdatePost stores audience, content, reply policy, order, editing time and revision, and the
	// event. It does not touch the counts (comments, reactions, votes). In the same transaction it
	// appends the replaced version, and counts it in Post.Edits; nil: no version was replaced.
	// ErrConflict: the stored revision is not p.Revision-1. ErrNotFound.
	UpdatePost(ctx context.Context, p *Post, replaced *Version, e Event) error
	// Histories reads the earlier versions of posts, oldest first; posts without any are missing in
	// the map.
	Histories(ctx context.Context, posts []PostID) (map[PostID][]Version, error)
	// DeletePost removes the post with its versions, comments, reactions, votes and thread mutes,
	// and appends the event with the Author and Audience that the post had. ErrNotFound.
	DeletePost(ctx context.Context, id PostID, e Event) error
	// Posts reads by id; absent posts are missing in the map. Concurrent calls may share posts, so
	// they must not be changed.
	Posts(ctx context.Context, ids []PostID) (map[PostID]*Post, error)
	// PublicAuthors reads who wrote the public posts among the newest of all posts, the latest
	// author first, each once.
	PublicAuthors(ctx context.Context, newest int) ([]UserID, error)

	// PutVote stores the user's vote for an option (an index), replacing an earlier one, with exact
	// counts and the event in one transaction. ErrNotFound: no such post. The same vote again does
	// nothing.
	PutVote(ctx context.Context, post PostID, user UserID, option int, e Event) error
	// Votes reads the options that the user voted for; posts without a vote are missing in the map.
	Votes(ctx context.Context, user UserID, posts []PostID) (map[PostID]int, error)
	// Voters reads who voted in a poll, in the order of their ids, at most limit.
	Voters(ctx context.Context, post PostID, limit int) ([]UserID, error)
	// ClosePolls appends the event of NewPollClosed for polls whose closing time has passed by the
	// database's clock, earliest first, at most limit. It returns their number. A poll that
	// IsToClose when it is inserted gets exactly one event, unless it is deleted before: the server
	// that appends it notes that in the same transaction.
	ClosePolls(ctx context.Context, limit int) (closed int, err error)
	// PutReaction stores the user's reaction, replacing an earlier one, with exact counts and the
	// event in one transaction. ErrNotFound: no such post. The same reaction again does nothing.
	PutReaction(ctx context.Context, post PostID, user UserID, kind ReactionKind, e Event) error
	// DeleteReaction removes the user's reaction; no error if there is none. ErrNotFound: no such
	// post.
	DeleteReaction(ctx context.Context, post PostID, user UserID, e Event) error
	// Reactions reads the user's own reactions; posts without one are missing in the map.
	Reactions(ctx context.Context, user UserID, posts []PostID) (map[PostID]ReactionKind, error)

	// MuteThread stores that the user mutes the post's thread, counts it in Post.Muters, and
	// appends the event, in one transaction. False: it was muted already. ErrNotFound: no such
	// post.
	MuteThread(ctx context.Context, post PostID, user UserID, e Event) (bool, error)
	// UnmuteThread removes the mute. False: there was none. ErrNotFound: no such post.
	UnmuteThread(ctx context.Context, post PostID, user UserID, e Event) (bool, error)
	// MutedThreads reads which of these users mute which of these threads, in one batch; mutes that
	// do not exist are missing in the map.
	MutedThreads(ctx context.Context, mutes []ThreadMute) (map[ThreadMute]bool, error)
}

// ThreadMute is a user's mute of the thread of a post.
type ThreadMute struct {
	Post PostID
	User UserID
}

// ReactionKind is a kind of reaction to a post.
type ReactionKind string

// The kinds of reactions.
const (
	ReactionLike  ReactionKind = "LIKE"
	ReactionLove  ReactionKind = "LOVE"
	ReactionLaugh ReactionKind = "LAUGH"
	ReactionWow   ReactionKind = "WOW"
	ReactionSad   ReactionKind = "SAD"
	ReactionAngry ReactionKind = "ANGRY"
)

// ReactionKinds holds all kinds, in display order.
var ReactionKinds = []ReactionKind{ReactionLike, ReactionLove, ReactionLaugh, ReactionWow, ReactionSad, ReactionAngry}

// Type returns the type of the field that is set; "" for none.
func (c Content) Type() PostType {
	switch {
	case c.Status != nil:
		return TypeStatus
	case c.Photo != nil:
		return TypePhoto
	case c.Link != nil:
		return TypeLink
	case c.Checkin != nil:
		return TypeCheckin
	case c.Poll != nil:
		return TypePoll
	default:
		return ""
	}
}

// Text returns the text, caption or question.
func (c Content) Text() string {
	switch c.Type() {
	case TypeStatus:
		return c.Status.Text
	case TypePhoto:
		return c.Photo.Caption
	case TypeLink:
		return c.Link.Text
	case TypeCheckin:
		return c.Checkin.Text
	case TypePoll:
		return c.Poll.Question
	default:
		return ""
	}
}

// IsToClose reports whether there will be an event when a new post closes: it is a poll with a
// closing time. Posts that are created in the past, with an id, get none (see Posts.InsertPost).
func IsToClose(p *Post) bool {
	return p.ID.IsZero() && p.Content.Poll != nil && !p.Content.Poll.ClosesAt.IsZero()
}

// NewPollClosed returns the event of a poll that has closed.
func NewPollClosed(post PostID) Event {
	return Event{ID: EventID{id.New()}, Kind: EventPollClosed, Post: post}
}

// NewPostErased returns the event of a post that is removed with its author's account. It names no
// user, because SQLite's log would forget it with the deleted user, before all streams have read
// it. So it does not say who saw the post: when the post is removed must not show in notifications.
func NewPostErased(post PostID) Event {
	return Event{ID: EventID{id.New()}, Kind: EventPostDeleted, Post: post}
}

// NewPostReduced returns the event of a post that loses the reaction, the vote or the wall of a
// deleted user. It names no user, as NewPostErased.
func NewPostReduced(post PostID) Event {
	return Event{ID: EventID{id.New()}, Kind: EventPostReduced, Post: post}
}

// IsClosed reports whether the poll is closed at that time.
func (p *Poll) IsClosed(now time.Time) bool { return !p.ClosesAt.IsZero() && !now.Before(p.ClosesAt) }
