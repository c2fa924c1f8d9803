package network

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// Notifications lists what the viewer is notified of, the newest act first, and the posts and
// comments that these acts are about. Acts that the viewer may not see now are left out, and so are
// notifications without other acts.
func (v *Viewer) Notifications(ctx context.Context, p social.Page) (social.Slice[*social.Notification], Subjects, error) {
	if v.ID.IsZero() {
		return social.Slice[*social.Notification]{}, Subjects{}, nil
	}
	all := Subjects{map[social.PostID]*social.Post{}, map[social.CommentID]*social.Comment{}}
	see := func(ctx context.Context, candidates []*social.Notification) (func(social.UserID, *social.Notification) bool, error) {
		subjects, err := v.dropHiddenActs(ctx, candidates)
		maps.Copy(all.Posts, subjects.Posts)
		maps.Copy(all.Comments, subjects.Comments)
		return func(_ social.UserID, n *social.Notification) bool { return len(n.Acts) > 0 }, err
	}
	list := social.List[social.UserID]{Of: v.ID, Page: p}
	found, err := collect(ctx, v, []social.List[social.UserID]{list}, paging.Alone(v.s.store.Notifications), notificationKey, see)
	return found[list], all.of(found[list].Items), err
}

// Subjects are the posts and comments that notifications are about.
type Subjects struct {
	Posts    map[social.PostID]*social.Post
	Comments map[social.CommentID]*social.Comment
}

// of returns the subjects that the viewer sees, because notifications about them are shown.
func (s Subjects) of(shown []*social.Notification) Subjects {
	seen := Subjects{map[social.PostID]*social.Post{}, map[social.CommentID]*social.Comment{}}
	for _, n := range shown {
		if p := s.Posts[n.Post]; p != nil {
			seen.Posts[n.Post] = p
		}
		for _, a := range n.Acts {
			if c := s.Comments[a.Comment]; c != nil {
				seen.Comments[a.Comment] = c
			}
		}
	}
	return seen
}

func notificationKey(_ social.UserID, n *social.Notification) social.Key {
	return social.Key(n.Order.Bytes())
}

// NewestNotification returns the position of the newest change of a user's notifications, after
// which NotificationsSince continues.
func (s *Service) NewestNotification(ctx context.Context, to social.UserID) (social.Key, error) {
	found, lost, err := s.store.NotificationChanges(ctx, to, social.Page{Limit: 1})
	newest := social.Key(social.NotificationID{}.Bytes())
	if len(found) > 0 {
		newest = notificationKey(to, found[0])
	}
	if len(lost) > 0 {
		newest = max(newest, social.Key(lost[0].Order.Bytes()))
	}
	return newest, err
}

// NotificationsSince reads a viewer's notifications that got or lost acts after a position, at most
// limit. It leaves out those with new acts that the rule hides, unless the viewer sees another new
// act, and losses of notifications that are newer than the position: what is left of those is an
// entry of its own.
func (s *Service) NotificationsSince(ctx context.Context, viewer social.UserID, after social.Key, limit int) (Past, error) {
	found, lost, err := s.store.NotificationChanges(ctx, viewer, since(after, limit))
	changes := notificationChanges(found, lost)
	if err != nil || len(changes) == 0 {
		return Past{Last: after}, err
	}
	past := Past{More: len(changes) >= limit}
	changes = changes[:min(limit, len(changes))]
	past.Last = changes[len(changes)-1].key
	changes, losing := dropLosses(after, changes)
	v := s.Viewer(viewer)
	rule, err := v.ruleOn(ctx, found)
	if err != nil {
		return past, err
	}
	known, err := v.NotificationsByID(ctx, losing)
	if err != nil {
		return past, err
	}
	for _, c := range changes {
		if c.found == nil {
			past.Seen = append(past.Seen, sightLoss(viewer, c.lost, known[c.lost.Notification]))
		} else if rule.mayTell(c.found, after) && rule.drop(c.found) {
			past.Seen = append(past.Seen, sightNotification(c.found))
		}
	}
	return past, nil
}

// notificationChange is a notification that got an act, or a loss.
type notificationChange struct {
	key   social.Key
	found *social.Notification // nil: a loss
	lost  social.NotificationLoss
}

// notificationChanges merges pages of notifications and losses, both newest first. It returns the
// oldest first.
func notificationChanges(found []*social.Notification, lost []social.NotificationLoss) []notificationChange {
	var all []notificationChange
	for _, n := range found {
		all = append(all, notificationChange{key: notificationKey(n.To, n), found: n})
	}
	for _, l := range lost {
		all = append(all, notificationChange{key: social.Key(l.Order.Bytes()), lost: l})
	}
	slices.SortFunc(all, func(a, b notificationChange) int { return cmp.Compare(a.key, b.key) })
	return all
}

// dropLosses leaves out the losses that do not matter to someone who knows the notifications up to a
// position: those of newer notifications, and those that another loss of the same notification
// follows. It also returns the notifications of the others.
func dropLosses(after social.Key, changes []notificationChange) (kept []notificationChange, losing []social.NotificationID) {
	for i, c := range changes {
		if c.found == nil {
			which := c.lost.Notification
			isSame := func(later notificationChange) bool { return later.lost.Notification == which }
			if social.Key(which.Bytes()) > after || slices.ContainsFunc(changes[i+1:], isSame) {
				continue
			}
			losing = append(losing, which)
		}
		kept = append(kept, c)
	}
	return kept, losing
}

// NotificationViewers finds out whether a notification's recipient may see it now.
func (s *Service) NotificationViewers(ctx context.Context, to social.UserID, notification social.NotificationID) (Sighting, error) {
	found, err := s.Viewer(to).NotificationsByID(ctx, []social.NotificationID{notification})
	if err != nil || found[notification] == nil {
		return Sighting{}, err
	}
	return sightNotification(found[notification]), nil
}

// LossViewers finds out what the recipient of a notification that has lost acts sees of it now.
func (s *Service) LossViewers(ctx context.Context, to social.UserID, loss social.NotificationLoss) (Sighting, error) {
	found, err := s.Viewer(to).NotificationsByID(ctx, []social.NotificationID{loss.Notification})
	return sightLoss(to, loss, found[loss.Notification]), err
}

func sightNotification(n *social.Notification) Sighting {
	return Sighting{Notification: n, Viewers: recipientAlone(n.To)}
}

func sightLoss(to social.UserID, loss social.NotificationLoss, left *social.Notification) Sighting {
	return Sighting{Loss: &loss, Notification: left, Viewers: recipientAlone(to)}
}

func recipientAlone(to social.UserID) map[social.UserID]map[social.UserID]social.Relation {
	return map[social.UserID]map[social.UserID]social.Relation{to: {}}
}

// MaxUnread is the maximum number of unread notifications that are counted.
const MaxUnread = 100

// UnreadNotifications counts the notifications that the viewer sees and has not read, among the
// newest MaxUnread.
func (v *Viewer) UnreadNotifications(ctx context.Context) (int, error) {
	if v.ID.IsZero() {
		return 0, nil
	}
	unread, err := v.s.store.UnreadNotifications(ctx, v.ID, MaxUnread)
	if err != nil {
		return 0, err
	}
	if _, err := v.dropHiddenActs(ctx, unread); err != nil {
		return 0, err
	}
	seen := slices.DeleteFunc(unread, func(n *social.Notification) bool { return len(n.Acts) == 0 })
	return len(seen), nil
}

// NotificationsByID reads the viewer's own notifications; those that the viewer does not see now
// are missing in the map.
func (v *Viewer) NotificationsByID(ctx context.Context, ids []social.NotificationID) (map[social.NotificationID]*social.Notification, error) {
	if v.ID.IsZero() {
		return nil, nil
	}
	found, err := v.s.store.NotificationsByID(ctx, v.ID, ids)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(maps.Values(found))
	if _, err := v.dropHiddenActs(ctx, all); err != nil {
		return nil, err
	}
	for _, n := range all {
		if len(n.Acts) == 0 {
			delete(found, n.ID)
		}
	}
	return found, nil
}

// MarkNotificationsRead marks the viewer's notifications as read: those with these ids, and all up
// to a place in the list (zero: none). Error: NOT_FOUND, also for another user's.
func (s *Service) MarkNotificationsRead(ctx context.Context, viewer social.UserID, ids []social.NotificationID, upTo social.NotificationID) error {
	found, err := s.Viewer(viewer).NotificationsByID(ctx, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if found[id] == nil {
			return fault.NotFound(fault.Part("notificationIds", strconv.Itoa(i)), "notification")
		}
	}
	return s.store.MarkRead(ctx, viewer, ids, upTo)
}

// dropHiddenActs removes the acts that the viewer may not see now, and returns what the others are
// about.
func (v *Viewer) dropHiddenActs(ctx context.Context, all []*social.Notification) (Subjects, error) {
	rule, err := v.ruleOn(ctx, all)
	if err != nil {
		return rule.subjects, err
	}
	for _, n := range all {
		rule.drop(n)
	}
	return rule.subjects, nil
}

// actRule is the rule on the acts of some notifications, with all that it looks at.
type actRule struct {
	subjects  Subjects
	relations map[social.UserID]social.Relation
	muted     map[social.PostID]bool
}

// ruleOn reads everything that the notifications name, in one batch of each kind.
func (v *Viewer) ruleOn(ctx context.Context, all []*social.Notification) (r actRule, err error) {
	if len(all) == 0 {
		return r, nil
	}
	var people []social.UserID
	r.subjects, people, err = v.readSubjects(ctx, all)
	if err != nil {
		return r, err
	}
	r.relations, err = v.recallOr(ctx, people, v.named)
	if err != nil {
		return r, err
	}
	r.muted, err = v.MutedThreads(ctx, slices.Collect(maps.Values(r.subjects.Posts)))
	if err != nil {
		return r, err
	}
	err = r.readEarlier(ctx, v.s.store, all)
	return r, err
}

// readEarlier reads the comments of actors whose newest comments in a notification are lost: an
// earlier one may be shown instead. These are few, because the notifier removes what is deleted.
func (r *actRule) readEarlier(ctx context.Context, store social.Comments, all []*social.Notification) error {
	var earlier []social.CommentID
	for _, n := range all {
		for _, newest := range social.NewestOfEach(n.Acts) {
			if !r.shows(n, newest) && r.showed(n, newest) {
				earlier = append(earlier, commentsBy(newest.Actor, n.Acts)...)
			}
		}
	}
	if len(earlier) == 0 {
		return nil
	}
	read, err := store.Comments(ctx, earlier)
	maps.Copy(r.subjects.Comments, read)
	return err
}

// commentsBy lists the comments of one actor.
func commentsBy(actor social.UserID, acts []social.Act) (comments []social.CommentID) {
	for _, a := range acts {
		if a.Actor == actor && !a.Comment.IsZero() {
			comments = append(comments, a.Comment)
		}
	}
	return comments
}

func (r *actRule) shows(n *social.Notification, a social.Act) bool {
	return social.InNotification(n.NotificationGroup, a, r.subjects.Posts[n.Post], r.subjects.Comments[a.Comment], r.relations, r.muted[n.Post])
}

// showed reports whether the act is or was shown: if not, its comment is deleted or hidden.
func (r *actRule) showed(n *social.Notification, a social.Act) bool {
	return social.LosesFromNotification(n.NotificationGroup, a, r.subjects.Posts[n.Post], r.relations, r.muted[n.Post])
}

// mayTell reports whether the recipient may learn that a notification has moved to the front since
// a position: they see a new act, or all new acts are lost, because their comments are deleted or
// hidden, and it only has another place in the list.
func (r *actRule) mayTell(n *social.Notification, after social.Key) bool {
	hidden := false
	for _, a := range n.Acts {
		if social.Key(a.ID.Bytes()) <= after {
			break
		}
		if r.shows(n, a) {
			return true
		}
		hidden = hidden || !r.showed(n, a)
	}
	return !hidden
}

// drop keeps the newest act of each actor that is shown, and reports whether there is any.
func (r *actRule) drop(n *social.Notification) bool {
	n.Acts = social.NewestOfEach(slices.DeleteFunc(n.Acts, func(a social.Act) bool { return !r.shows(n, a) }))
	return len(n.Acts) > 0
}

// readSubjects reads the posts of notifications, and the newest comment of each actor. It lists the
// actors and the posts' authors.
func (v *Viewer) readSubjects(ctx context.Context, all []*social.Notification) (s Subjects, people []social.UserID, err error) {
	var posts []social.PostID
	var comments []social.CommentID
	for _, n := range all {
		if !n.Post.IsZero() {
			posts = append(posts, n.Post)
		}
		for _, a := range social.NewestOfEach(n.Acts) {
			people = append(people, a.Actor)
			if !a.Comment.IsZero() {
				comments = append(comments, a.Comment)
			}
		}
	}
	if len(posts) > 0 {
		s.Posts, err = v.s.store.Posts(ctx, posts)
	}
	if len(comments) > 0 && err == nil {
		s.Comments, err = v.s.store.Comments(ctx, comments)
	}
	for _, p := range s.Posts {
		people = append(people, p.Author)
	}
	return s, people, err
}
