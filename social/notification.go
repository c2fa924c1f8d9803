package social

import (
	"context"
	"slices"
	"time"

	"plaza/id"
)

// NotificationKind is the kind of acts that a notification is about.
type NotificationKind string

// The kinds of notifications.
const (
	NotifyComment  NotificationKind = "COMMENT"   // comments on the recipient's post
	NotifyReply    NotificationKind = "REPLY"     // replies to the recipient's comment
	NotifyMention  NotificationKind = "MENTION"   // mentions of the recipient in a post or its comments
	NotifyReaction NotificationKind = "REACTION"  // reactions to the recipient's post
	NotifyFollow   NotificationKind = "FOLLOW"    // new followers of the recipient
	NotifyWallPost NotificationKind = "WALL_POST" // a post on the recipient's wall

	// NotifyPollClosed is the end of a poll that the recipient wrote or voted in. Its one act is by
	// the author, also for the author.
	NotifyPollClosed NotificationKind = "POLL_CLOSED"
)

// NotificationKinds are all kinds of notifications, in the order in which settings list them.
var NotificationKinds = []NotificationKind{
	NotifyComment, NotifyReply, NotifyMention, NotifyReaction, NotifyFollow, NotifyWallPost, NotifyPollClosed,
}

// NotificationSetting says whether a user is notified of a kind of acts.
type NotificationSetting struct {
	Kind    NotificationKind
	Enabled bool
}

// NotificationGroup is what the acts of one notification have in common.
type NotificationGroup struct {
	To      UserID
	Kind    NotificationKind
	Post    PostID    // zero: of NotifyFollow
	Comment CommentID // of NotifyReply: the comment that was answered; otherwise zero
}

// Notification tells its recipient of acts of one group: "ada and 4 others". It takes more acts
// until the recipient has read it or it holds MaxActs; then the next act begins another one.
type Notification struct {
	NotificationGroup

	ID    NotificationID
	Order NotificationID // greater than those of all earlier acts: it holds the time of the newest
	Acts  []Act          // newest first; one for each actor as users see it, when NewestOfEach has been applied
	Read  bool
}

// MaxActs is the maximum number of acts in a notification, and MaxActsOfOne of those by one actor:
// the older ones count when the newer ones are lost.
const (
	MaxActs      = 100
	MaxActsOfOne = 10
)

// UpdatedAt is when the newest of its acts was added.
func (n *Notification) UpdatedAt() time.Time { return n.Acts[0].ID.Time() }

// Act is what one user did.
type Act struct {
	Actor   UserID
	Comment CommentID      // of NotifyComment, NotifyReply and NotifyMention; zero: the post
	ID      NotificationID // set when it is added: that act's Notification.Order
}

// Notice is an act that a user is to be notified of, or one that was undone or lost.
type Notice struct {
	NotificationGroup
	Act

	Undone bool // the act is removed; that of a comment only where it names this comment
	// Removed is a notification that is removed with all its acts, because its post was deleted. Then
	// Act is zero, and Undone is false.
	Removed NotificationID
	Lost    bool // the recipient saw the act until now: a NotificationLoss is stored
}

// IsNew reports whether the act is to be added.
func (n *Notice) IsNew() bool { return !n.Undone && !n.Lost && n.Removed.IsZero() }

// NotificationLoss says that a notification has lost acts that its recipient saw. It may have none
// left, and be gone.
type NotificationLoss struct {
	Order        NotificationID // greater than those of all earlier acts and losses
	Notification NotificationID
}

// NewestOfEach returns the newest act of each actor, newest first as acts are.
func NewestOfEach(acts []Act) (newest []Act) {
	for i, a := range acts {
		if !slices.ContainsFunc(acts[:i], a.isBySame) {
			newest = append(newest, a)
		}
	}
	return newest
}

func (a Act) isBySame(other Act) bool { return a.Actor == other.Actor }

// add makes an act the newest one, in place of an equal one. Of too many it drops the oldest for
// which its actor has a newer one. False: the notification is full.
func (n *Notification) add(a Act) bool {
	acts, by := []Act{a}, 1
	for _, known := range n.Acts {
		if known.isBySame(a) {
			if known.Comment == a.Comment || by == MaxActsOfOne {
				continue
			}
			by++
		}
		acts = append(acts, known)
	}
	for i := MaxActs; i > 0 && len(acts) > MaxActs; i-- {
		if slices.ContainsFunc(acts[:i], acts[i].isBySame) {
			acts = slices.Delete(acts, i, i+1)
		}
	}
	if len(acts) > MaxActs {
		return false
	}
	n.Acts = acts
	return true
}

// Gather adds acts, oldest first, to the newest unread notification of each group, or to new ones.
// It returns the notifications that are new or have changed. next returns an id that is greater
// than all before.
func Gather(unread map[NotificationGroup]*Notification, notices []Notice, next func() NotificationID) []*Notification {
	var changed []*Notification
	for _, notice := range notices {
		if !notice.IsNew() {
			continue
		}
		act := notice.Act
		act.ID = next()
		n := unread[notice.NotificationGroup]
		if n == nil || !n.add(act) {
			n = &Notification{NotificationGroup: notice.NotificationGroup, ID: act.ID, Acts: []Act{act}}
			unread[n.NotificationGroup] = n
		}
		n.Order = act.ID
		if !slices.Contains(changed, n) {
			changed = append(changed, n)
		}
	}
	return changed
}

// NotificationRetention is how long notifications are kept after their newest act.
const NotificationRetention = 90 * 24 * time.Hour

// Notifications stores what users are notified of. One server at a time, the notifier, reads the
// event log and stores notifications; it has a lease, and stores its position in the log with them,
// so that each event counts exactly once. Notifications and losses expire NotificationRetention
// after their newest act, in the background.
type Notifications interface {
	// LeaseNotifier makes a server the notifier for a time, by the database's clock, unless another
	// server is. It returns the position in the event log where the notifier continues (Tail),
	// empty if there was none yet. False: another server is the notifier. An engine may end the leases
	// of servers that are certainly gone.
	LeaseNotifier(ctx context.Context, server string, lease time.Duration) (position string, is bool, err error)
	// Notify stores acts, in their order (see Gather); whether a notification that was full takes
	// acts again after it has lost some is up to the engine. Then it removes those that were undone,
	// also from read notifications, and those notifications that are removed, and stores the losses;
	// a notification without acts is removed. In the same transaction it stores the position up to
	// which events have been processed, extends the lease, and appends the events of NewNotified.
	// ErrConflict: the server is no longer the notifier.
	Notify(ctx context.Context, server string, lease time.Duration, position string, notices []Notice) error
	// ActsOn reads the stored acts that name these comments, in any order.
	ActsOn(ctx context.Context, comments []CommentID) ([]Notice, error)
	// NotificationsOn reads stored notifications about a post, at most limit, in any order.
	NotificationsOn(ctx context.Context, post PostID, limit int) ([]*Notification, error)
	// LeaveNotifier ends a server's lease. If it has none, it does nothing.
	LeaveNotifier(ctx context.Context, server string) error

	// Notifications lists a user's notifications, the newest act first. Keys are
	// Notification.Order: a notification that gets another act moves to the front.
	Notifications(ctx context.Context, to UserID, p Page) ([]*Notification, error)
	// NotificationChanges reads, at one moment, the same page of Notifications and of the losses
	// by Order, so that neither lacks what was stored before an entry of the other.
	NotificationChanges(ctx context.Context, to UserID, p Page) ([]*Notification, []NotificationLoss, error)
	// UnreadNotifications lists those that the user has not read, newest first, at most limit.
	UnreadNotifications(ctx context.Context, to UserID, limit int) ([]*Notification, error)
	// NotificationsByID reads a user's notifications by id; absent ones, and those of others, are
	// missing in the map.
	NotificationsByID(ctx context.Context, to UserID, ids []NotificationID) (map[NotificationID]*Notification, error)
	// MarkRead marks a user's notifications as read: those with these ids, and all whose Order is
	// at most upTo (zero: none). Absent ones are ignored.
	MarkRead(ctx context.Context, to UserID, ids []NotificationID, upTo NotificationID) error

	// SetNotificationKind turns a kind of notifications on or off for a user; all kinds are on at
	// first. Calls for several kinds may be concurrent: each changes its own kind only. It neither
	// removes stored notifications, nor makes Notify ignore acts of that kind: the caller leaves
	// those out.
	SetNotificationKind(ctx context.Context, user UserID, kind NotificationKind, enabled bool) error
	// SilentNotificationKinds reads the kinds that users have turned off, in any order. Users who
	// have turned off none are missing in the map.
	SilentNotificationKinds(ctx context.Context, users []UserID) (map[UserID][]NotificationKind, error)
}

// NewNotified returns the events of notices that are stored: one for each recipient of a new act or
// a loss.
func NewNotified(notices []Notice) []Event {
	var events []Event
	recipients := map[UserID]bool{}
	for _, n := range notices {
		if (n.IsNew() || n.Lost) && !recipients[n.To] {
			recipients[n.To] = true
			events = append(events, Event{ID: EventID{id.New()}, Kind: EventNotified, Target: n.To})
		}
	}
	return events
}
