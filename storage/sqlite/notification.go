package sqlite

import (
	"context"
	"slices"
	"time"

	"plaza/id"
	"plaza/social"
)

const notificationColumns = `id, recipient, kind, post, comment, latest, unread`

var (
	leaseNotifier = define(`INSERT INTO notifier (one, server, until, position) VALUES (1, ?1, ?2, '')
		ON CONFLICT (one) DO UPDATE SET server = ?1, until = ?2 WHERE server = ?1 OR until < ?3`)
	notifierPosition = define(`SELECT position FROM notifier WHERE one = 1`)
	moveNotifier     = define(`UPDATE notifier SET until = ?, position = ? WHERE one = 1 AND server = ?`)
	leaveNotifier    = define(`UPDATE notifier SET server = '', until = 0 WHERE one = 1 AND server = ?`)

	newestInGroup = define(`SELECT ` + notificationColumns + ` FROM notifications INDEXED BY notifications_by_group
		WHERE recipient = ? AND kind = ? AND post IS ? AND comment IS ? ORDER BY latest DESC LIMIT 1`)
	putNotification = define(`INSERT INTO notifications (id, recipient, kind, post, comment, latest) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET latest = excluded.latest`)
	putAct = define(`INSERT INTO notification_acts (notification, actor, comment, id) VALUES (?, ?, ?, ?)
		ON CONFLICT (notification, actor) DO UPDATE SET comment = excluded.comment, id = excluded.id`)
	notificationsWithAct = define(`SELECT notifications.id FROM notifications INDEXED BY notifications_by_group
		CROSS JOIN notification_acts ON notification_acts.notification = notifications.id AND notification_acts.actor = ?5
		WHERE recipient = ?1 AND kind = ?2 AND post IS ?3 AND notifications.comment IS ?4`)
	deleteAct               = define(`DELETE FROM notification_acts WHERE notification = ? AND actor = ?`)
	deleteEmptyNotification = define(`DELETE FROM notifications WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM notification_acts WHERE notification = ?1)`)

	notificationsOf = defineDirected(`SELECT ` + notificationColumns + ` FROM notifications INDEXED BY notifications_by_latest
		WHERE recipient = ? AND latest > ? AND latest < ? ORDER BY latest $order LIMIT ?`)
	unreadOf = define(`SELECT ` + notificationColumns + ` FROM notifications INDEXED BY notifications_unread
		WHERE recipient = ? AND unread = 1 ORDER BY latest DESC LIMIT ?`)
	notificationsByID = define(`SELECT ` + notificationColumns + ` FROM notifications
		WHERE id IN (SELECT unhex(value) FROM json_each(?)) AND recipient = ?`)
	actsOf = define(`SELECT notification, actor, comment, id FROM notification_acts
		WHERE notification IN (SELECT unhex(value) FROM json_each(?))`)
	markRead     = define(`UPDATE notifications SET unread = 0 WHERE id IN (SELECT unhex(value) FROM json_each(?)) AND recipient = ?`)
	markReadUpTo = define(`UPDATE notifications INDEXED BY notifications_unread SET unread = 0
		WHERE recipient = ? AND unread = 1 AND latest <= ?`)

	someNotificationsTo = define(`DELETE FROM notifications WHERE id IN (
		SELECT id FROM notifications INDEXED BY notifications_by_latest WHERE recipient = ? LIMIT ?)`)
	someNotificationsBy = define(`SELECT notification FROM notification_acts INDEXED BY notification_acts_by_actor WHERE actor = ? LIMIT ?`)
	oldNotifications    = define(`DELETE FROM notifications WHERE id IN (
		SELECT id FROM notifications INDEXED BY notifications_by_time WHERE latest < ? LIMIT ?)`)
)

// LeaseNotifier implements social.Notifications.
func (s *Store) LeaseNotifier(ctx context.Context, server string, lease time.Duration) (position string, is bool, err error) {
	err = s.update(ctx, func(w *work) error {
		now := s.clock()
		rows, err := w.exec(leaseNotifier, server, moment(now.Add(lease)), moment(now))
		if is = rows > 0; err != nil || !is {
			return err
		}
		_, err = w.row(notifierPosition, []any{&position})
		return err
	})
	return position, is && err == nil, err
}

// LeaveNotifier implements social.Notifications.
func (s *Store) LeaveNotifier(ctx context.Context, server string) error {
	return s.update(ctx, func(w *work) error {
		_, err := w.exec(leaveNotifier, server)
		return err
	})
}

// Notify implements social.Notifications.
func (s *Store) Notify(ctx context.Context, server string, lease time.Duration, position string, notices []social.Notice) error {
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(moveNotifier, moment(s.clock().Add(lease)), position, server)
		if err := changed(rows, err, social.ErrConflict); err != nil {
			return err
		}
		if err := s.addActs(w, notices); err != nil {
			return err
		}
		for _, notice := range notices {
			if !notice.Undone {
				continue
			}
			if err := w.undoAct(notice); err != nil {
				return err
			}
		}
		for _, e := range social.NewNotified(notices) {
			if err := w.append(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// addActs stores the acts that were not undone.
func (s *Store) addActs(w *work, notices []social.Notice) error {
	unread := map[social.NotificationGroup]*social.Notification{}
	for _, notice := range notices {
		group := notice.NotificationGroup
		if _, done := unread[group]; done || notice.Undone {
			continue
		}
		n, err := w.unreadInGroup(group)
		if err != nil {
			return err
		}
		unread[group] = n
	}
	if len(unread) == 0 {
		return nil
	}
	ids, err := s.nextNotifications(w, len(notices))
	if err != nil {
		return err
	}
	first := ids()
	for _, n := range social.Gather(unread, notices, ids) {
		if err := w.putNotification(n, first); err != nil {
			return err
		}
	}
	return nil
}

// nextNotifications returns a function that gives ids after all earlier ones, at least n.
func (s *Store) nextNotifications(w *work, n int) (func() social.NotificationID, error) {
	last, err := s.nextID(w, id.ID{})
	if err != nil {
		return nil, err
	}
	serial := last.Serial()
	_, err = s.nextID(w, id.WithSerial(serial+int64(n)+1))
	return func() social.NotificationID {
		serial++
		return social.NotificationID{ID: id.WithSerial(serial)}
	}, err
}

// unreadInGroup reads the newest notification of a group; nil if there is none, or it has been read.
func (w *work) unreadInGroup(g social.NotificationGroup) (*social.Notification, error) {
	found, err := all(w, newestInGroup, scanNotification, g.To.Bytes(), string(g.Kind), orNull(g.Post.ID), orNull(g.Comment.ID))
	if err != nil || len(found) == 0 || found[0].Read {
		return nil, err
	}
	return found[0], w.readActs(found)
}

// putNotification stores a notification, and those of its acts that were added from an id on.
func (w *work) putNotification(n *social.Notification, from social.NotificationID) error {
	_, err := w.exec(putNotification, n.ID.Bytes(), n.To.Bytes(), string(n.Kind), orNull(n.Post.ID), orNull(n.Comment.ID), n.Order.Bytes())
	if err != nil {
		return err
	}
	for _, act := range n.Acts {
		if act.ID.Compare(from.ID) < 0 {
			break
		}
		if _, err := w.exec(putAct, n.ID.Bytes(), act.Actor.Bytes(), orNull(act.Comment.ID), act.ID.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// undoAct removes an act from all notifications of its group.
func (w *work) undoAct(notice social.Notice) error {
	g := notice.NotificationGroup
	found, err := all(w, notificationsWithAct, scanNotificationID, g.To.Bytes(), string(g.Kind), orNull(g.Post.ID), orNull(g.Comment.ID), notice.Actor.Bytes())
	if err != nil {
		return err
	}
	return w.deleteActs(found, notice.Actor)
}

// deleteActs removes what a user did from notifications, and those without any other act.
func (w *work) deleteActs(from []social.NotificationID, actor social.UserID) error {
	for _, n := range from {
		if _, err := w.exec(deleteAct, n.Bytes(), actor.Bytes()); err != nil {
			return err
		}
		if _, err := w.exec(deleteEmptyNotification, n.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func scanNotificationID(scan scan) (n social.NotificationID, err error) {
	err = scan(into(&n.ID))
	return n, err
}

func scanNotification(scan scan) (*social.Notification, error) {
	n := &social.Notification{}
	var unread bool
	err := scan(into(&n.ID.ID), into(&n.To.ID), &n.Kind, into(&n.Post.ID), into(&n.Comment.ID), into(&n.Order.ID), &unread)
	n.Read = !unread
	return n, err
}

// readActs fills in the acts of notifications, newest first.
func (w *work) readActs(notifications []*social.Notification) error {
	if len(notifications) == 0 {
		return nil
	}
	byID := make(map[social.NotificationID]*social.Notification, len(notifications))
	ids := make([]social.NotificationID, len(notifications))
	for i, n := range notifications {
		ids[i], byID[n.ID] = n.ID, n
	}
	err := w.each(actsOf, func(scan scan) (bool, error) {
		var of social.NotificationID
		var act social.Act
		err := scan(into(&of.ID), into(&act.Actor.ID), into(&act.Comment.ID), into(&act.ID.ID))
		byID[of].Acts = append(byID[of].Acts, act)
		return true, err
	}, hexList(ids))
	for _, n := range notifications {
		slices.SortFunc(n.Acts, func(a, b social.Act) int { return b.ID.Compare(a.ID.ID) })
	}
	return err
}

// Notifications implements social.Notifications.
func (s *Store) Notifications(ctx context.Context, to social.UserID, p social.Page) ([]*social.Notification, error) {
	return read(ctx, s, func(w *work) ([]*social.Notification, error) {
		sp := descendingSpan(p)
		found, err := all(w, notificationsOf.along(sp), scanNotification, to.Bytes(), sp.low, sp.high, sp.limit)
		if err != nil {
			return nil, err
		}
		return inListOrder(sp, found), w.readActs(found)
	})
}

// UnreadNotifications implements social.Notifications.
func (s *Store) UnreadNotifications(ctx context.Context, to social.UserID, limit int) ([]*social.Notification, error) {
	return read(ctx, s, func(w *work) ([]*social.Notification, error) {
		found, err := all(w, unreadOf, scanNotification, to.Bytes(), limit)
		if err != nil {
			return nil, err
		}
		return found, w.readActs(found)
	})
}

// NotificationsByID implements social.Notifications.
func (s *Store) NotificationsByID(ctx context.Context, to social.UserID, ids []social.NotificationID) (map[social.NotificationID]*social.Notification, error) {
	return read(ctx, s, func(w *work) (map[social.NotificationID]*social.Notification, error) {
		found, err := all(w, notificationsByID, scanNotification, hexList(ids), to.Bytes())
		if err != nil {
			return nil, err
		}
		byID := make(map[social.NotificationID]*social.Notification, len(found))
		for _, n := range found {
			byID[n.ID] = n
		}
		return byID, w.readActs(found)
	})
}

// MarkRead implements social.Notifications.
func (s *Store) MarkRead(ctx context.Context, to social.UserID, ids []social.NotificationID, upTo social.NotificationID) error {
	return s.update(ctx, func(w *work) error {
		if _, err := w.exec(markRead, hexList(ids), to.Bytes()); err != nil {
			return err
		}
		_, err := w.exec(markReadUpTo, to.Bytes(), upTo.Bytes())
		return err
	})
}

// forgetNotifications removes some of the notifications to a deleted user, and some of what the user
// did from those to others.
func (w *work) forgetNotifications(user social.UserID) (left bool, err error) {
	found, err := all(w, someNotificationsBy, scanNotificationID, user.Bytes(), deleteBatch)
	if err != nil {
		return false, err
	}
	if err := w.deleteActs(found, user); err != nil {
		return false, err
	}
	left, err = w.deleteSome(user, someNotificationsTo)
	return left || len(found) == deleteBatch, err
}

// expireNotifications removes notifications whose newest act is too old.
func (s *Store) expireNotifications(ctx context.Context) error {
	return s.deleteBatches(ctx, oldNotifications, id.FirstAt(time.Now().Add(-social.NotificationRetention)).Bytes())
}
