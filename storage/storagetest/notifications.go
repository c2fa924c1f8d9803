package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
)

var notificationCases = []testCase{
	{"OneServerIsTheNotifier", oneServerIsTheNotifier},
	{"ALeaseEnds", aLeaseEnds},
	{"ActsOfAGroupAreTogether", actsOfAGroupAreTogether},
	{"ReadNotificationsTakeNoActs", readNotificationsTakeNoActs},
	{"CancelledReadsOfNotifications", cancelledReadsOfNotifications},
	{"FullNotificationsTakeNoActs", fullNotificationsTakeNoActs},
	{"OnePersonHasSeveralActs", onePersonHasSeveralActs},
	{"AFullNotificationKeepsEveryone", aFullNotificationKeepsEveryone},
	{"ActsAreUndone", actsAreUndone},
	{"ACommentLeavesItsNotifications", aCommentLeavesItsNotifications},
	{"LossesAreListed", lossesAreListed},
	{"RemovedNotificationsAreLost", removedNotificationsAreLost},
	{"ChangesArePaged", changesArePaged},
	{"NotificationsArePaged", notificationsArePaged},
	{"NotificationsAreMarkedAsRead", notificationsAreMarkedAsRead},
	{"NotificationsBelongToOneUser", notificationsBelongToOneUser},
	{"ANewNotificationIsInFront", aNewNotificationIsInFront},
	{"EachRecipientHasAnEvent", eachRecipientHasAnEvent},
	{"KindsAreTurnedOffAndOn", kindsAreTurnedOffAndOn},
	{"KindsAreTurnedOffConcurrently", kindsAreTurnedOffConcurrently},
}

// longLease outlasts every test.
const longLease = time.Hour

// notifier is the server that stores notifications.
type notifier struct {
	w      *world
	server string
	events int
}

func (w *world) notifier() *notifier {
	w.t.Helper()
	n := &notifier{w: w, server: "notifier " + id.New().String()}
	_, is, err := w.LeaseNotifier(w.ctx, n.server, longLease)
	w.ok(err, "LeaseNotifier")
	w.same(is, true, "whether the server is the notifier")
	return n
}

// notify stores notices.
func (n *notifier) notify(notices ...social.Notice) {
	n.w.t.Helper()
	n.events++
	n.w.ok(n.w.Notify(n.w.ctx, n.server, longLease, strconv.Itoa(n.events), notices), "Notify")
}

// notice returns notices of one act by each of the actors.
func notice(g social.NotificationGroup, actors ...person) []social.Notice {
	notices := make([]social.Notice, len(actors))
	for i, actor := range actors {
		notices[i] = social.Notice{NotificationGroup: g, Act: social.Act{Actor: actor.ID}}
	}
	return notices
}

// notifications reads all of a user's, and checks that their keys are in order.
func (w *world) notifications(to person) []*social.Notification {
	w.t.Helper()
	found, err := w.Notifications(w.ctx, to.ID, everything)
	w.ok(err, "Notifications")
	for i, n := range found {
		if i > 0 && n.Order.Compare(found[i-1].Order.ID) >= 0 {
			w.t.Errorf("notification %d is not older than the one before", i)
		}
		w.same(n.To, to.ID, "the recipient")
	}
	return found
}

// notified describes all of a user's notifications, newest first.
func (w *world) notified(to person) string {
	w.t.Helper()
	var all []string
	for _, n := range w.notifications(to) {
		all = append(all, fmt.Sprintf("%s by %d", n.Kind, len(n.Acts)))
	}
	return strings.Join(all, ", ")
}

func actorsOf(n *social.Notification) []social.UserID {
	var actors []social.UserID
	for _, act := range n.Acts {
		actors = append(actors, act.Actor)
	}
	return actors
}

func (w *world) unread(to person) int {
	w.t.Helper()
	found, err := w.UnreadNotifications(w.ctx, to.ID, 1000)
	return number(w)(len(found), err)
}

func followed(to person) social.NotificationGroup {
	return social.NotificationGroup{To: to.ID, Kind: social.NotifyFollow}
}

func reacted(to person, post social.PostID) social.NotificationGroup {
	return social.NotificationGroup{To: to.ID, Kind: social.NotifyReaction, Post: post}
}

func oneServerIsTheNotifier(w *world) {
	lease := func(server string) (string, bool) {
		position, is, err := w.LeaseNotifier(w.ctx, server, longLease)
		w.ok(err, "LeaseNotifier")
		return position, is
	}
	ada, ben := w.user(), w.user()
	w.fails(w.Notify(w.ctx, "a", longLease, "1", nil), social.ErrConflict, "Notify before any lease")
	position, is := lease("a")
	w.same([]any{position, is}, []any{"", true}, "the first lease")
	_, is = lease("b")
	w.same(is, false, "whether there are two")
	w.fails(w.Notify(w.ctx, "b", longLease, "1", notice(followed(ada), ben)), social.ErrConflict, "Notify by another server")
	w.same(w.notified(ada), "", "what a server stored that is not the notifier")
	w.ok(w.Notify(w.ctx, "a", longLease, "$1.2", notice(followed(ada), ben)), "Notify")
	w.ok(w.LeaveNotifier(w.ctx, "b"), "LeaveNotifier of another server")
	position, is = lease("a")
	w.same([]any{position, is}, []any{"$1.2", true}, "the lease of the server that has it")
	w.ok(w.LeaveNotifier(w.ctx, "a"), "LeaveNotifier")
	w.fails(w.Notify(w.ctx, "a", longLease, "3", nil), social.ErrConflict, "Notify after leaving")
	position, is = lease("b")
	w.same([]any{position, is}, []any{"$1.2", true}, "the lease of the next server")
}

func aLeaseEnds(w *world) {
	_, is, err := w.LeaseNotifier(w.ctx, "dead", time.Millisecond)
	w.ok(err, "LeaseNotifier")
	w.same(is, true, "whether the server is the notifier")
	testtime.Eventually(w.t, "another server is the notifier", func() bool {
		_, is, err := w.LeaseNotifier(w.ctx, "alive", longLease)
		w.ok(err, "LeaseNotifier")
		return is
	})
	w.fails(w.Notify(w.ctx, "dead", longLease, "1", nil), social.ErrConflict, "Notify after the lease has ended")
}

func actsOfAGroupAreTogether(w *world) {
	ada, ben, cem, dan := w.user(), w.user(), w.user(), w.user()
	n, post, other := w.notifier(), newPostID(), newPostID()
	n.notify(append(notice(reacted(ada, post), ben, cem), notice(reacted(ada, other), ben)...)...)
	first := w.notifications(ada)
	n.notify(notice(reacted(ada, post), dan, ben)...)
	found := w.notifications(ada)
	w.same(len(found), 2, "the number of notifications")
	w.same([]any{found[0].Post, found[1].Post}, []any{post, other}, "the posts")
	w.same(actorsOf(found[0]), []social.UserID{ben.ID, dan.ID, cem.ID}, "who reacted, newest first")
	w.same([]any{found[0].ID, found[1]}, []any{first[1].ID, first[0]}, "the ids, and the notification that has not changed")
	w.same(found[0].Acts[0].ID, found[0].Order, "the id of the newest act")
	if age := time.Since(found[0].UpdatedAt()).Abs(); age > patience {
		w.t.Errorf("the newest act was %v ago", age)
	}

	comment, answer := newCommentID(), newCommentID()
	reply := social.NotificationGroup{To: ada.ID, Kind: social.NotifyReply, Post: post, Comment: comment}
	n.notify(social.Notice{NotificationGroup: reply, Act: social.Act{Actor: ben.ID, Comment: answer}})
	newest := w.notifications(ada)[0]
	w.same(newest.NotificationGroup, reply, "the group of a reply")
	w.same([]any{newest.Acts[0].Actor, newest.Acts[0].Comment, newest.Read}, []any{ben.ID, answer, false}, "the reply")
	again := newCommentID()
	n.notify(social.Notice{NotificationGroup: reply, Act: social.Act{Actor: ben.ID, Comment: again}})
	newest = w.notifications(ada)[0]
	w.same([]any{len(newest.Acts), newest.Acts[0].Comment, newest.Acts[1].Comment}, []any{2, again, answer}, "two replies by one person")
}

func readNotificationsTakeNoActs(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	n := w.notifier()
	n.notify(notice(followed(ada), ben)...)
	old := w.notifications(ada)[0]
	w.ok(w.MarkRead(w.ctx, ada.ID, []social.NotificationID{old.ID}, social.NotificationID{}), "MarkRead")
	n.notify(notice(followed(ada), cem)...)
	found := w.notifications(ada)
	w.same([]any{len(found), actorsOf(found[0]), actorsOf(found[1])}, []any{2, []social.UserID{cem.ID}, []social.UserID{ben.ID}}, "the notifications")
	w.same([]bool{found[0].Read, found[1].Read}, []bool{false, true}, "which have been read")
}

func fullNotificationsTakeNoActs(w *world) {
	ada, others := w.user(), w.users(social.MaxActs+5)
	n, group := w.notifier(), followed(ada)
	n.notify(notice(group, others[:social.MaxActs-1]...)...)
	n.notify(notice(group, others[social.MaxActs-1])...)
	w.same(w.notified(ada), "FOLLOW by 100", "a full notification")
	n.notify(notice(group, others[0])...)
	w.same(w.notified(ada), "FOLLOW by 100", "a full notification, and someone in it")
	n.notify(notice(group, others[social.MaxActs:social.MaxActs+2]...)...)
	n.notify(notice(group, others[social.MaxActs+2:]...)...)
	w.same(w.notified(ada), "FOLLOW by 5, FOLLOW by 100", "two notifications")
	w.same(w.unread(ada), 2, "the number of unread notifications")
	n.notify(notice(reacted(ada, newPostID()), w.users(social.MaxActs*2+1)...)...)
	w.same(w.notified(ada), "REACTION by 1, REACTION by 100, REACTION by 100, FOLLOW by 5, FOLLOW by 100", "what one call stored")
}

// cancelledReadsOfNotifications: callers leave at any moment of a read.
func cancelledReadsOfNotifications(w *world) {
	ada, ben := w.user(), w.user()
	n := w.notifier()
	for range 30 {
		n.notify(notice(reacted(ada, newPostID()), ben)...)
	}
	for i := range 300 {
		ctx, cancel := context.WithTimeout(w.ctx, time.Duration(i)*5*time.Microsecond)
		found, err := w.Notifications(ctx, ada.ID, everything)
		cancel()
		if err == nil {
			w.same(len(found), 30, "the number of notifications")
		}
	}
}

// commentsIn lists the comments of a notification, newest first.
func commentsIn(n *social.Notification) []social.CommentID {
	var comments []social.CommentID
	for _, act := range n.Acts {
		comments = append(comments, act.Comment)
	}
	return comments
}

// onePersonHasSeveralActs: acts by one person about different comments stay, at most MaxActsOfOne,
// and each is removed alone.
func onePersonHasSeveralActs(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	n, post := w.notifier(), newPostID()
	comments := make([]social.CommentID, social.MaxActsOfOne+2) // newest first
	for i := range comments {
		comments[len(comments)-1-i] = newCommentID()
	}
	oldest := len(comments) - 1
	n.notify(commented(ada, post, ben, comments[oldest]), commented(ada, post, ben, comments[oldest-1]))
	w.same(commentsIn(w.notifications(ada)[0]), comments[oldest-1:], "two acts of one call")
	n.notify(commented(ada, post, ben, comments[oldest]))
	w.same(commentsIn(w.notifications(ada)[0]), []social.CommentID{comments[oldest], comments[oldest-1]}, "the acts, of which one has happened again")
	for i := oldest; i >= 0; i-- {
		n.notify(commented(ada, post, ben, comments[i]))
	}
	w.same(commentsIn(w.notifications(ada)[0]), comments[:social.MaxActsOfOne], "the newest acts of one person")
	dropped, err := w.ActsOn(w.ctx, comments[social.MaxActsOfOne:])
	w.ok(err, "ActsOn")
	w.same(len(dropped), 0, "the number of acts on older comments")

	cems := newCommentID()
	n.notify(commented(ada, post, cem, cems))
	before := w.notifications(ada)
	for _, gone := range []int{0, 4} {
		n.notify(lost(commented(ada, post, ben, comments[gone]), true))
	}
	after := w.notifications(ada)
	want := append([]social.CommentID{cems}, slices.Concat(comments[1:4], comments[5:social.MaxActsOfOne])...)
	w.same(commentsIn(after[0]), want, "the acts that are left")
	w.same([]any{after[0].ID, after[0].Order}, []any{before[0].ID, before[0].Order}, "the notification and its place")
	w.same(w.changes(ada, before...), []int{0, 0}, "what ada has lost")

	n.notify(lost(commented(ada, post, cem, cems), true))
	for i, comment := range slices.Concat(comments[1:4], comments[5:social.MaxActsOfOne]) {
		w.same(len(w.notifications(ada)), 1, "the number of notifications after %d comments of ben's are gone", i)
		n.notify(lost(commented(ada, post, ben, comment), true))
	}
	w.same(w.notified(ada), "", "what is left of ben's comments")
}

// aFullNotificationKeepsEveryone: the next person takes the place of an act of someone who has a newer
// one. If everyone has one, the notification is full.
func aFullNotificationKeepsEveryone(w *world) {
	ada, others := w.user(), w.users(social.MaxActs)
	n, post := w.notifier(), newPostID()
	comments := make([]social.CommentID, 4)
	for i := range comments {
		comments[i] = newCommentID()
		n.notify(commented(ada, post, others[i/2], comments[i]))
	}
	for _, other := range others[2 : social.MaxActs-1] {
		n.notify(commented(ada, post, other, newCommentID()))
	}
	full := w.notifications(ada)[0]
	w.same([]any{len(full.Acts), commentsIn(full)[social.MaxActs-3:]}, []any{social.MaxActs, []social.CommentID{comments[3], comments[2], comments[1]}},
		"the number of acts, and the oldest ones")
	n.notify(commented(ada, post, others[social.MaxActs-1], newCommentID()))
	full = w.notifications(ada)[0]
	w.same(commentsIn(full)[social.MaxActs-2:], []social.CommentID{comments[3], comments[1]}, "the oldest acts when everyone has one")
	again := newCommentID()
	n.notify(commented(ada, post, others[1], again))
	full = w.notifications(ada)[0]
	w.same([]any{len(full.Acts), commentsIn(full)[0], commentsIn(full)[social.MaxActs-1]}, []any{social.MaxActs, again, comments[1]}, "the acts after another one by someone in it")
	n.notify(commented(ada, post, w.user(), newCommentID()))
	w.same(w.notified(ada), "COMMENT by 1, COMMENT by 100", "two notifications")
}

func actsAreUndone(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	n, group := w.notifier(), reacted(ada, newPostID())
	undo := func(actor person) social.Notice {
		return social.Notice{NotificationGroup: group, Act: social.Act{Actor: actor.ID}, Undone: true}
	}
	n.notify(undo(ben))
	n.notify(notice(group, ben)...)
	w.ok(w.MarkRead(w.ctx, ada.ID, nil, w.notifications(ada)[0].Order), "MarkRead")
	n.notify(notice(group, ben, cem)...)
	n.notify(append(notice(reacted(ada, newPostID()), ben), undo(ben))...)
	w.same(w.notified(ada), "REACTION by 1, REACTION by 1", "what is left of three notifications")
	w.same(actorsOf(w.notifications(ada)[1]), []social.UserID{cem.ID}, "who is left")
}

// commented returns the notice of a comment on a post.
func commented(to person, post social.PostID, actor person, comment social.CommentID) social.Notice {
	group := social.NotificationGroup{To: to.ID, Kind: social.NotifyComment, Post: post}
	return social.Notice{NotificationGroup: group, Act: social.Act{Actor: actor.ID, Comment: comment}}
}

// lost returns the notice of the loss of an act, which is removed if it is undone.
func lost(n social.Notice, undone bool) social.Notice {
	n.Undone, n.Lost = undone, true
	return n
}

// changes reads all of a user's notifications and losses. It describes the losses, newest first:
// each by the place of its notification among the given ones.
func (w *world) changes(to person, of ...*social.Notification) (losses []int) {
	w.t.Helper()
	found, lost, err := w.NotificationChanges(w.ctx, to.ID, everything)
	w.ok(err, "NotificationChanges")
	w.same(found, w.notifications(to), "the notifications among the changes")
	for i, l := range lost {
		if i > 0 && l.Order.Compare(lost[i-1].Order.ID) >= 0 {
			w.t.Errorf("loss %d is not older than the one before", i)
		}
		losses = append(losses, slices.IndexFunc(of, func(n *social.Notification) bool { return n.ID == l.Notification }))
	}
	return losses
}

// aCommentLeavesItsNotifications: an act on a comment is found by the comment, and taken out of the
// notification that names it, even if another one of the group has a later comment by the actor.
func aCommentLeavesItsNotifications(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	n, post, first, second := w.notifier(), newPostID(), newCommentID(), newCommentID()
	old, later, other := commented(ada, post, ben, first), commented(ada, post, ben, second), commented(cem, post, ben, first)
	n.notify(old, commented(ada, post, cem, newCommentID()), other)
	w.ok(w.MarkRead(w.ctx, ada.ID, nil, w.notifications(ada)[0].Order), "MarkRead")
	n.notify(later)
	before := w.notifications(ada)

	acts, err := w.ActsOn(w.ctx, []social.CommentID{first, newCommentID()})
	w.ok(err, "ActsOn")
	recipients := map[social.UserID]bool{}
	for _, a := range acts {
		w.same([]any{a.Kind, a.Post, a.Actor, a.Act.Comment, a.IsNew()}, []any{social.NotifyComment, post, ben.ID, first, true}, "an act on the comment")
		recipients[a.To] = true
	}
	w.same(recipients, map[social.UserID]bool{ada.ID: true, cem.ID: true}, "who was notified of the comment")
	w.same(len(acts), 2, "the number of acts")

	n.notify(lost(old, true), lost(other, true))
	n.notify(lost(old, true), lost(other, true))
	found := w.notifications(ada)
	w.same(found[0], before[0], "the notification of the later comment")
	w.same([]any{found[1].ID, found[1].Order, actorsOf(found[1])}, []any{before[1].ID, before[1].Order, []social.UserID{cem.ID}}, "what is left of the other")
	w.same(w.notified(cem), "", "what is left of the only comment")
	acts, err = w.ActsOn(w.ctx, []social.CommentID{first})
	w.ok(err, "ActsOn")
	w.same(len(acts), 0, "the number of acts on the comment afterwards")
	w.same(w.changes(ada, before...), []int{1}, "what ada has lost")
	n.notify(lost(later, false))
	w.same(w.notifications(ada), found, "the notifications after a loss of something that stays")
	w.same(w.changes(ada, before...), []int{0, 1}, "what ada has lost")
}

// removedNotificationsAreLost: those about a post are read in parts, and removed with all acts. Who
// saw them gets a loss, once.
func removedNotificationsAreLost(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	n, post, other := w.notifier(), newPostID(), newPostID()
	n.notify(append(notice(reacted(ada, post), ben, cem), notice(reacted(ada, other), ben)...)...)
	n.notify(commented(ada, post, ben, newCommentID()), commented(cem, post, ben, newCommentID()))
	w.ok(w.MarkRead(w.ctx, ada.ID, nil, w.notifications(ada)[0].Order), "MarkRead")
	before := w.notifications(ada)

	part, err := w.NotificationsOn(w.ctx, post, 2)
	w.ok(err, "NotificationsOn")
	w.same(len(part), 2, "the number of notifications in a part")
	all, err := w.NotificationsOn(w.ctx, post, 100)
	w.ok(err, "NotificationsOn")
	read := map[social.NotificationID]*social.Notification{}
	for _, one := range all {
		read[one.ID] = one
	}
	w.same(read, map[social.NotificationID]*social.Notification{
		before[0].ID: before[0], before[2].ID: before[2], w.notifications(cem)[0].ID: w.notifications(cem)[0],
	}, "the notifications about the post")

	var removals []social.Notice
	for _, one := range all {
		removals = append(removals, social.Notice{NotificationGroup: one.NotificationGroup, Removed: one.ID, Lost: one.To == ada.ID && one.Kind == social.NotifyReaction})
	}
	n.notify(removals...)
	n.notify(removals...)
	w.same(w.notifications(ada), before[1:2], "what is left")
	w.same(w.notified(cem), "", "what is left to another recipient")
	w.same(w.changes(ada, before...), []int{2}, "what ada has lost")
	w.same(w.changes(cem), []int(nil), "what is lost without having been seen")
	n.notify(notice(reacted(ada, post), cem)...)
	w.same(w.notified(ada), "REACTION by 1, REACTION by 1", "another notification of a group that was removed")
}

// lossesAreListed: they have events, and an act that was undone without a loss has none.
func lossesAreListed(w *world) {
	ada, ben, cem, dan := w.user(), w.user(), w.user(), w.user()
	n, post := w.notifier(), newPostID()
	for range 2 { // ben reacts, ada reads it, and ben reacts again
		n.notify(notice(reacted(ada, post), ben)...)
		w.ok(w.MarkRead(w.ctx, ada.ID, nil, w.notifications(ada)[0].Order), "MarkRead")
	}
	n.notify(notice(followed(ada), cem, dan)...)
	before, tail := w.notifications(ada), w.tail()
	quietly := notice(followed(ada), cem)[0]
	quietly.Undone = true
	n.notify(quietly)
	w.same(w.changes(ada), []int(nil), "losses of what ada did not see")
	n.notify(append(notice(followed(cem), ben), lost(notice(reacted(ada, post), ben)[0], true))...)
	got := w.changes(ada, before...)
	slices.Sort(got)
	w.same(got, []int{1, 2}, "the notifications that have lost an act")
	w.same(w.notified(ada), "FOLLOW by 1", "what is left")
	w.same(w.changes(cem), []int(nil), "the losses of someone else")
	n.notify(notice(followed(cem), dan)...)
	var notified []social.UserID
	for _, e := range tail.rest() {
		notified = append(notified, e.Target)
	}
	w.same(notified, []social.UserID{cem.ID, ada.ID, cem.ID}, "who was notified")
}

// changesArePaged: notifications and losses have a common order, and each page of both is at most
// as long as asked for.
func changesArePaged(w *world) {
	ada, ben := w.user(), w.user()
	n := w.notifier()
	var orders []social.NotificationID // oldest first
	for range 3 {
		group := reacted(ada, newPostID())
		n.notify(notice(group, ben)...)
		orders = append(orders, w.notifications(ada)[0].Order)
		n.notify(lost(notice(group, ben)[0], false))
		_, losses, err := w.NotificationChanges(w.ctx, ada.ID, social.Page{Limit: 1})
		w.ok(err, "NotificationChanges")
		w.same([]any{len(losses), losses[0].Notification}, []any{1, orders[len(orders)-1]}, "the newest loss")
		orders = append(orders, losses[0].Order)
	}
	if !slices.IsSortedFunc(orders, func(a, b social.NotificationID) int { return a.Compare(b.ID) }) {
		w.t.Error("the orders do not grow")
	}
	orders = append(orders, social.NotificationID{}) // before all
	for after, want := range map[int][]social.NotificationID{
		6: {orders[0], orders[2], orders[1], orders[3]}, 0: {orders[2], orders[4], orders[1], orders[3]}, 1: {orders[2], orders[4], orders[3], orders[5]}, 4: {orders[5]}, 5: nil,
	} {
		found, losses, err := w.NotificationChanges(w.ctx, ada.ID, social.Page{Before: keyOf(orders[after].ID), Limit: 2, Last: true})
		w.ok(err, "NotificationChanges")
		var got []social.NotificationID
		for _, n := range slices.Backward(found) {
			got = append(got, n.Order)
		}
		for _, l := range slices.Backward(losses) {
			got = append(got, l.Order)
		}
		w.same(got, want, "what follows change %d", after)
	}
}

func notificationsArePaged(w *world) {
	ada, ben := w.user(), w.user()
	n := w.notifier()
	for range 7 {
		n.notify(notice(reacted(ada, newPostID()), ben)...)
	}
	all := w.notifications(ada)
	key, origin := func(i int) social.Key { return keyOf(all[i].Order.ID) }, keyOf(id.ID{})
	for name, c := range map[string]struct {
		page social.Page
		want []*social.Notification
	}{
		"the first":  {social.Page{Limit: 3}, all[:3]},
		"after":      {social.Page{Limit: 3, After: key(2)}, all[3:6]},
		"the last":   {social.Page{Limit: 3, Last: true}, all[4:]},
		"before":     {social.Page{Limit: 2, Last: true, Before: key(5)}, all[3:5]},
		"in between": {social.Page{Limit: 9, After: key(0), Before: key(3)}, all[1:3]},
		"the oldest": {social.Page{Limit: 2, Last: true, Before: origin}, all[5:]},
		"none":       {social.Page{Limit: 2, After: origin}, nil},
	} {
		page, err := w.Notifications(w.ctx, ada.ID, c.page)
		w.ok(err, "Notifications")
		w.same(page, c.want, "%s", name)
	}
	newest, err := w.UnreadNotifications(w.ctx, ada.ID, 2)
	w.ok(err, "UnreadNotifications")
	w.same(newest, all[:2], "the newest unread ones")
}

func notificationsAreMarkedAsRead(w *world) {
	ada, ben := w.user(), w.user()
	n := w.notifier()
	for range 5 {
		n.notify(notice(reacted(ada, newPostID()), ben)...)
	}
	all := w.notifications(ada)
	reads := func() (read []bool) {
		for _, n := range w.notifications(ada) {
			read = append(read, n.Read)
		}
		return read
	}
	mark := func(upTo social.NotificationID, ids ...social.NotificationID) {
		w.ok(w.MarkRead(w.ctx, ada.ID, ids, upTo), "MarkRead")
	}
	mark(social.NotificationID{})
	w.same(reads(), make([]bool, 5), "none")
	mark(social.NotificationID{}, all[1].ID, social.NotificationID{ID: id.New()})
	w.same(reads(), []bool{false, true, false, false, false}, "one")
	mark(all[3].Order)
	w.same(reads(), []bool{false, true, false, true, true}, "up to the fourth")
	w.same(w.unread(ada), 2, "the number of unread notifications")
	mark(all[0].Order, all[0].ID)
	mark(all[0].Order, all[0].ID)
	w.same(w.unread(ada), 0, "the number of unread notifications")
}

func notificationsBelongToOneUser(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	n := w.notifier()
	n.notify(append(notice(followed(ada), cem), notice(followed(ben), cem)...)...)
	adas, bens := w.notifications(ada)[0], w.notifications(ben)[0]
	found, err := w.NotificationsByID(w.ctx, ada.ID, []social.NotificationID{adas.ID, bens.ID, {ID: id.New()}, {}})
	w.ok(err, "NotificationsByID")
	w.same(found, map[social.NotificationID]*social.Notification{adas.ID: adas}, "what ada reads by id")
	none, err := w.NotificationsByID(w.ctx, ada.ID, nil)
	w.ok(err, "NotificationsByID")
	w.same(len(none), 0, "what ada reads without ids")
	w.ok(w.MarkRead(w.ctx, ada.ID, []social.NotificationID{bens.ID}, bens.Order), "MarkRead")
	w.same([]int{w.unread(ada), w.unread(ben)}, []int{0, 1}, "what is unread")
}

// aNewNotificationIsInFront: ids are in the order of commits, whatever the clock says.
func aNewNotificationIsInFront(w *world) {
	ada, ben := w.user(), w.user()
	n := w.notifier()
	var last social.NotificationID
	for i := range 50 {
		group := reacted(ada, newPostID())
		if i%3 == 0 {
			group = followed(ada)
		}
		n.notify(notice(group, ben)...)
		newest := w.notifications(ada)[0]
		if newest.NotificationGroup != group || newest.Order.Compare(last.ID) <= 0 {
			w.t.Fatalf("notification %d is not the first", i)
		}
		last = newest.Order
	}
}

func eachRecipientHasAnEvent(w *world) {
	people := w.users(5)
	ada, ben, cem, dan, eve := people[0], people[1], people[2], people[3], people[4]
	n := w.notifier()
	n.notify(notice(followed(eve), ada)...)
	tail := w.tail()
	undone := notice(followed(eve), ada)
	undone[0].Undone = true
	n.notify(slices.Concat(notice(followed(ada), ben, cem), undone, notice(followed(dan), ben))...)
	n.notify()
	w.fails(w.Notify(w.ctx, "another", longLease, "x", notice(followed(ada), dan)), social.ErrConflict, "Notify by another server")
	n.notify(notice(followed(ada), dan)...)
	var notified []social.UserID
	for _, e := range tail.rest() {
		notified = append(notified, e.Target)
		w.sameEvents([]social.Event{e}, []social.Event{{ID: e.ID, Kind: social.EventNotified, Target: e.Target}}, "the event of a notification")
	}
	w.same(notified, []social.UserID{ada.ID, dan.ID, ada.ID}, "who was notified")
}

// setKinds turns kinds of notifications on or off for a user.
func (w *world) setKinds(user person, enabled bool, kinds ...social.NotificationKind) {
	w.t.Helper()
	for _, kind := range kinds {
		w.ok(w.SetNotificationKind(w.ctx, user.ID, kind, enabled), "SetNotificationKind")
	}
}

// silent reads the kinds that users have turned off, each sorted.
func (w *world) silent(users ...person) map[social.UserID][]social.NotificationKind {
	w.t.Helper()
	ids := make([]social.UserID, len(users))
	for i, user := range users {
		ids[i] = user.ID
	}
	found, err := w.SilentNotificationKinds(w.ctx, ids)
	w.ok(err, "SilentNotificationKinds")
	for _, kinds := range found {
		slices.Sort(kinds)
	}
	return found
}

func kindsAreTurnedOffAndOn(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	type kinds = map[social.UserID][]social.NotificationKind
	w.same(w.silent(ada, ben), kinds{}, "what is off at first")
	w.same(w.silent(), kinds{}, "what is off for no users")
	w.setKinds(ada, true, social.NotifyFollow)
	w.same(w.silent(ada), kinds{}, "what is off after a kind that was on is turned on")
	n := w.notifier()
	n.notify(notice(followed(ada), ben)...)
	w.setKinds(ada, false, social.NotifyReply, social.NotifyFollow, social.NotifyFollow)
	w.setKinds(ben, false, social.NotifyMention)
	want := kinds{ada.ID: {social.NotifyFollow, social.NotifyReply}, ben.ID: {social.NotifyMention}}
	w.same(w.silent(ada, ben, cem), want, "what is off")
	w.same(w.silent(ben, cem), kinds{ben.ID: want[ben.ID]}, "what is off for others")
	w.same(w.notified(ada), "FOLLOW by 1", "what was stored before")
	w.setKinds(ada, true, social.NotifyFollow, social.NotifyMention)
	w.setKinds(ben, true, social.NotifyMention)
	w.same(w.silent(ada, ben), kinds{ada.ID: {social.NotifyReply}}, "what is still off")
}

// kindsAreTurnedOffConcurrently: each call changes its own kind only.
func kindsAreTurnedOffConcurrently(w *world) {
	ada := w.user()
	w.setKinds(ada, false, social.NotifyReply)
	off := []social.NotificationKind{social.NotifyComment, social.NotifyFollow, social.NotifyMention}
	var calls sync.WaitGroup
	for _, kind := range off {
		calls.Go(func() { w.setKinds(ada, false, kind) })
	}
	calls.Go(func() { w.setKinds(ada, true, social.NotifyReply) })
	calls.Wait()
	w.same(w.silent(ada)[ada.ID], off, "what is off")
}
