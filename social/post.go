package social

import (
	"context"
	"time"
)

// Post is something that a user wrote on a wall. Content says what it is; everything else is common to all types.
type Post struct {
	ID        PostID
	Author    UserID
	WallOwner UserID // the author, where the post was directed at nobody else's wall
	Audience  Audience
	Content   Content
	EditedAt  time.Time // zero: never
	Edits     int       // how many earlier versions there are: see Histories
	Revision  int       // grows with every change by UpdatePost

	Replies ReplyPolicy
	Order   CommentOrder // in which the thread is listed where no order is asked for
	Muters  int          // how many mute the thread: see MutedThreads; nobody is told

	CommentCount int                  // without deleted comments; counts everybody's
	Latest       []*Comment           // the newest live comments, oldest first: see PreviewSize
	Reactions    map[ReactionKind]int // without zeros
	Votes        []int                // of a poll: one count an option
}

// PreviewSize is how many of a post's newest live comments come with every post that an engine reads (all of them,
// where there are fewer). It is more than the three that are shown, so that leaving one out rarely costs a read.
const PreviewSize = 8

// CreatedAt is when the post was made.
func (p *Post) CreatedAt() time.Time { return p.ID.Time() }

// Version is what a post said before an edit, and to whom.
type Version struct {
	Content  Content
	Audience Audience  // the post's when this version was replaced
	EditedAt time.Time // when this version was replaced
}

// AudienceKind says who may see a post, apart from its author and the owner of its wall, who always may.
type AudienceKind string

// The kinds of audience.
const (
	AudiencePublic  AudienceKind = "PUBLIC"  // everybody, signed in or not
	AudienceCircles AudienceKind = "CIRCLES" // everybody in any of the author's circles
	AudienceListed  AudienceKind = "LISTED"  // everybody in one of the listed circles
	AudienceOnlyMe  AudienceKind = "ONLY_ME" // nobody else
)

// Audience is who may see a post.
type Audience struct {
	Kind    AudienceKind
	Circles []CircleID // of AudienceListed: the author's own; else none
}

// ReplyKind says who may reply to a post, of those who see it; its author always may.
type ReplyKind string

// The kinds of reply policies.
const (
	RepliesEveryone ReplyKind = "EVERYONE" // everybody who is signed in
	RepliesCircles  ReplyKind = "CIRCLES"  // everybody in any of the author's circles
	RepliesListed   ReplyKind = "LISTED"   // everybody in one of the listed circles
	RepliesNobody   ReplyKind = "NOBODY"   // nobody else
)

// ReplyPolicy is who may reply to a post. Like the audience, it is evaluated against the author's circles as they are then.
type ReplyPolicy struct {
	Kind    ReplyKind
	Circles []CircleID // of RepliesListed: the author's own; else none
}

// PostType names the type of a post's content.
type PostType string

// The types of posts.
const (
	TypeStatus  PostType = "STATUS"
	TypePhoto   PostType = "PHOTO"
	TypeLink    PostType = "LINK"
	TypeCheckin PostType = "CHECKIN"
	TypePoll    PostType = "POLL"
)

// Content is what a post says: exactly one field is set.
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

// Photo is a picture that lies elsewhere on the web.
type Photo struct {
	URL           string
	Alt           string // what it shows, for those who do not see it; may be empty
	Caption       string
	Width, Height int // pixels; 0: unknown
}

// Picture is a picture elsewhere on the web that belongs to something else.
type Picture struct {
	URL           string
	Alt           string // what it shows, for those who do not see it; may be empty
	Width, Height int    // pixels; 0: unknown
}

// Link points at a page.
type Link struct {
	URL   string
	Title string
	Text  string
}

// Checkin says where somebody is.
type Checkin struct {
	Place     string
	Latitude  float64 // degrees north, -90 to 90
	Longitude float64 // degrees east, -180 to 180
	Text      string
	Photo     *Picture // may be nil
}

// Poll asks a question. Its options and closing time never change, so that votes keep their meaning.
type Poll struct {
	Question string
	Options  []string
	ClosesAt time.Time // zero: never
}

// Posts stores posts with their polls' votes and reactions.
type Posts interface {
	// InsertPost stores the post and the event in one transaction. A post without an id gets one, and so does e.Post: the id says
	// when the post was stored, by the database's clock, and is greater than that of every post that was committed before. So the
	// order of ids is the order of commits, whatever the clocks of servers say. A post with an id keeps it: that is for what is
	// given a past (the demo, imports). The post has no earlier versions. Without a reply policy or
	// an order it gets RepliesEveryone and OrderOldest. ErrNotFound: the wall's owner has deleted their account.
	InsertPost(ctx context.Context, p *Post, e Event) error
	// UpdatePost stores audience, content, reply policy, order, editing time and revision, and the event, and leaves everything that others
	// count (comments, reactions, votes) alone. In the same transaction it appends the replaced version, and counts it
	// as one of Post.Edits; nil: no version was replaced. ErrConflict: the stored revision is not p.Revision-1. ErrNotFound.
	UpdatePost(ctx context.Context, p *Post, replaced *Version, e Event) error
	// Histories reads the earlier versions of posts, oldest first; posts without any are missing in the map.
	Histories(ctx context.Context, posts []PostID) (map[PostID][]Version, error)
	// DeletePost removes the post with its versions, comments, reactions, votes and thread mutes, and appends the event. ErrNotFound.
	DeletePost(ctx context.Context, id PostID, e Event) error
	// Posts reads by id; absent posts are missing in the map.
	Posts(ctx context.Context, ids []PostID) (map[PostID]*Post, error)

	// PutVote stores the user's vote for an option (an index), instead of an earlier one, with exact counts and the
	// event in one transaction. ErrNotFound: no such post. The same vote again does nothing.
	PutVote(ctx context.Context, post PostID, user UserID, option int, e Event) error
	// Votes reads the options that the user voted for; posts without a vote are missing in the map.
	Votes(ctx context.Context, user UserID, posts []PostID) (map[PostID]int, error)
	// PutReaction stores the user's reaction, instead of an earlier one, with exact counts and the event in one
	// transaction. ErrNotFound: no such post. The same reaction again does nothing.
	PutReaction(ctx context.Context, post PostID, user UserID, kind ReactionKind, e Event) error
	// DeleteReaction takes the user's reaction back; without an error where there is none. ErrNotFound: no such post.
	DeleteReaction(ctx context.Context, post PostID, user UserID, e Event) error
	// Reactions reads the user's own reactions; posts without one are missing in the map.
	Reactions(ctx context.Context, user UserID, posts []PostID) (map[PostID]ReactionKind, error)

	// MuteThread stores that the user mutes the post's thread, counts it as one of Post.Muters, and appends the event, in one
	// transaction. False: it was so already. ErrNotFound: no such post.
	MuteThread(ctx context.Context, post PostID, user UserID, e Event) (bool, error)
	// UnmuteThread takes that back. False: it was not so. ErrNotFound: no such post.
	UnmuteThread(ctx context.Context, post PostID, user UserID, e Event) (bool, error)
	// MutedThreads reads which of the posts' threads the user mutes; the others are missing in the map.
	MutedThreads(ctx context.Context, user UserID, posts []PostID) (map[PostID]bool, error)
}

// ReactionKind is how somebody reacts to a post.
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

// ReactionKinds has all kinds, in the order in which they are shown.
var ReactionKinds = []ReactionKind{ReactionLike, ReactionLove, ReactionLaugh, ReactionWow, ReactionSad, ReactionAngry}

// Type says which field of the content is set; "" for none.
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

// Text is the content's own words: the text, caption or question.
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

// IsClosed says whether the poll is over at that time.
func (p *Poll) IsClosed(now time.Time) bool { return !p.ClosesAt.IsZero() && !now.Before(p.ClosesAt) }
