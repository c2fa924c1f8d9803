package social

import (
	"context"
	"slices"
	"time"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	EventUserSignedUp    EventKind = "user.signed_up"
	EventUserDeleted     EventKind = "user.deleted"
	EventStandingChanged EventKind = "user.standing_changed" // Target may be away, or back
	EventSessionEnded    EventKind = "session.ended"
	EventProfileUpdated  EventKind = "profile.updated"
	EventPropertyDefined EventKind = "property.defined"
	EventPropertyUpdated EventKind = "property.updated"
	EventPropertyRemoved EventKind = "property.removed"
	EventProfileFilledIn EventKind = "profile.filled_in"
	EventRightGranted    EventKind = "right.granted"
	EventRightRevoked    EventKind = "right.revoked"
	EventCircleCreated   EventKind = "circle.created"
	EventCircleRenamed   EventKind = "circle.renamed"
	EventCircleDeleted   EventKind = "circle.deleted" // or some of its members were removed for that
	EventMemberAdded     EventKind = "circle.member_added"
	EventMemberRemoved   EventKind = "circle.member_removed"
	EventFollowed        EventKind = "user.followed"
	EventUnfollowed      EventKind = "user.unfollowed"
	EventNotified        EventKind = "user.notified" // Target has notifications with new acts, or fewer
	EventBlocked         EventKind = "user.blocked"
	EventUnblocked       EventKind = "user.unblocked"
	EventMuted           EventKind = "user.muted"
	EventUnmuted         EventKind = "user.unmuted"
	EventPostCreated     EventKind = "post.created"
	EventPostEdited      EventKind = "post.edited"
	EventAudienceChanged EventKind = "post.audience_changed"
	EventRepliesChanged  EventKind = "post.replies_changed"
	EventOrderChanged    EventKind = "post.order_changed"
	EventPostDeleted     EventKind = "post.deleted"
	EventPostReduced     EventKind = "post.reduced" // a deleted user's reaction, vote or wall is gone from it
	EventPollVoted       EventKind = "poll.voted"
	EventPollClosed      EventKind = "poll.closed" // its closing time has passed
	EventReactionAdded   EventKind = "reaction.added"
	EventReactionRemoved EventKind = "reaction.removed"
	EventThreadMuted     EventKind = "thread.muted"
	EventThreadUnmuted   EventKind = "thread.unmuted"
	EventCommentAdded    EventKind = "comment.added"
	EventCommentEdited   EventKind = "comment.edited"
	EventCommentDeleted  EventKind = "comment.deleted"
	EventReplyRemoved    EventKind = "comment.reply_removed" // Comment has one reply fewer
	EventErasureBegun    EventKind = "comments.erasure_begun"
)

// Event is one entry of the event log: its kind, and the ids of the objects (zero if a kind has
// none). It carries no content: readers look the objects up, through the privacy rule. Only of a post
// that was deleted it says who saw it, because that can't be looked up.
type Event struct {
	ID       EventID
	Kind     EventKind
	Actor    UserID // who did it; zero: the command line or the notifier
	Target   UserID // the user affected
	Post     PostID
	Comment  CommentID
	Circle   CircleID
	Session  [32]byte // of EventSessionEnded: the token's hash, or the key of the identity whose tokens have ended
	Author   UserID   // of EventPostDeleted: the post's; zero if the author's account is deleted (NewPostErased)
	Audience Audience // of EventPostDeleted: the post's last one; the engine sets both

	// Position is the event's position in the log, in the engine's own form; set when it is read.
	Position string
}

// Events are kept at least MinEventRetention, and by default DefaultEventRetention.
const (
	MinEventRetention     = time.Hour
	DefaultEventRetention = 30 * 24 * time.Hour
)

// EventLog reads the events that the writing calls of the other contracts append.
type EventLog interface {
	// Tail opens a stream of events, each once, in log order: of all that any server on this
	// database commits after the position, which is that of an earlier stream (also one of another
	// server), or if it is empty after Tail has returned. Error: ErrPositionLost.
	Tail(ctx context.Context, position string) (EventStream, error)
	// KeepEvents sets how long events are kept. Older ones are removed in the background after a
	// while. The database keeps the last setting of any server; a new one has
	// DefaultEventRetention. (SQLite keeps it while it is open, and removes nothing before the
	// first call.)
	KeepEvents(ctx context.Context, retention time.Duration) error
}

// EventStream is one reader's position in the event log. It is not safe for concurrent use.
type EventStream interface {
	// Next waits for the next event. It returns ctx's error when ctx ends, and any other error if
	// the stream is broken. The caller then opens a new one at its position, or at any other after
	// ErrPositionLost.
	Next(ctx context.Context) (Event, error)
	// Position is where a stream that continues this one begins: after the last event that Next
	// returned. It moves on while nothing happens, and remains available after the stream has
	// broken.
	Position() string
	// Close releases the stream's resources.
	Close() error
}

// Touches reports whether an event may change whether a viewer sees a post by an author (zero:
// unknown), although it is not about the post.
func (e Event) Touches(viewer, author UserID) bool {
	switch e.Kind {
	case EventMemberAdded, EventMemberRemoved, EventUnfollowed:
		return viewer == e.Target && mayBe(author, e.Actor)
	case EventCircleDeleted:
		return mayBe(author, e.Actor)
	default:
		return e.TouchesUser(viewer, author)
	}
}

// TouchesUser reports whether an event may change whether a viewer sees a user (zero: unknown).
func (e Event) TouchesUser(viewer, user UserID) bool {
	switch e.Kind {
	case EventBlocked, EventUnblocked:
		return viewer == e.Target && mayBe(user, e.Actor) || viewer == e.Actor && mayBe(user, e.Target)
	case EventUserDeleted, EventStandingChanged:
		return mayBe(user, e.Target)
	default:
		return false
	}
}

// mayBe reports whether a user, zero if unknown, may be another.
func mayBe(user, other UserID) bool { return user.IsZero() || user == other }

// ChangesPost reports whether a kind of event changes what is shown of the event's post.
func (k EventKind) ChangesPost() bool {
	return slices.Contains([]EventKind{
		EventPostEdited, EventAudienceChanged, EventRepliesChanged, EventOrderChanged, EventPostDeleted, EventPollVoted,
		EventPollClosed, EventReactionAdded, EventReactionRemoved, EventCommentAdded, EventCommentEdited, EventCommentDeleted,
		EventReplyRemoved, EventPostReduced,
	}, k)
}

// Hides reports whether a kind of event may hide something.
func (k EventKind) Hides() bool {
	switch k {
	case EventBlocked, EventMuted, EventUnfollowed, EventMemberRemoved, EventCircleDeleted,
		EventAudienceChanged, EventPostDeleted, EventCommentDeleted, EventThreadMuted, EventUserDeleted,
		EventStandingChanged:
		return true
	default:
		return false
	}
}

// HidesFrom returns the viewers that an event of a kind that Hides may hide something from; none:
// it may be any viewer. For all others, what the event changes has no part in a rule (policy.go). A
// block concerns any viewer, because it also hides posts on the blocker's wall from everyone.
func (e Event) HidesFrom() []UserID {
	switch {
	case e.Actor.IsZero():
		return nil
	case e.Kind == EventMuted, e.Kind == EventUnfollowed, e.Kind == EventMemberRemoved:
		return []UserID{e.Actor, e.Target}
	case e.Kind == EventThreadMuted:
		return []UserID{e.Actor}
	default:
		return nil
	}
}
