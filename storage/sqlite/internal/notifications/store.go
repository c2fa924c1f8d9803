package notifications

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

const notificationColumns = `id, recipient, kind, post, comment, latest, unread`

var (
	deleteActsBy            = sqldb.Define(`DELETE FROM notification_acts WHERE notification = ?1 AND actor = ?2 AND (?3 IS NULL OR comment = ?3)`)
	deleteEmptyNotification = sqldb.Define(`DELETE FROM notifications WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM notification_acts WHERE notification = ?1)`)

	notificationsOf = sqldb.DefineDirected(`SELECT ` + notificationColumns + ` FROM notifications INDEXED BY notifications_by_latest
		WHERE recipient = ? AND latest > ? AND latest < ? ORDER BY latest $order LIMIT ?`)
	unreadOf = sqldb.Define(`SELECT ` + notificationColumns + ` FROM notifications INDEXED BY notifications_unread
		WHERE recipient = ? AND unread = 1 ORDER BY latest DESC LIMIT ?`)
	notificationsByID = sqldb.Define(`SELECT ` + notificationColumns + ` FROM notifications
		WHERE id IN (SELECT unhex(value) FROM json_each(?)) AND recipient = ?`)
	actsOf = sqldb.Define(`SELECT notification, actor, comment, id FROM notification_acts
		WHERE notification IN (SELECT unhex(value) FROM json_each(?))`)
	markRead     = sqldb.Define(`UPDATE notifications SET unread = 0 WHERE id IN (SELECT unhex(value) FROM json_each(?)) AND recipient = ?`)
	markReadUpTo = sqldb.Define(`UPDATE notifications INDEXED BY notifications_unread SET unread = 0
		WHERE recipient = ? AND unread = 1 AND latest <= ?`)

	someNotificationsTo = sqldb.Define(`DELETE FROM notifications WHERE id IN (
		SELECT id FROM notifications INDEXED BY notifications_by_latest WHERE recipient = ? LIMIT ?)`)
	someNotificationsBy = sqldb.Define(`SELECT notification FROM notification_acts INDEXED BY notification_acts_by_actor WHERE actor = ? LIMIT ?`)
	oldNotifications    = sqldb.Define(`DELETE FROM notifications WHERE id IN (
		SELECT id FROM notifications INDEXED BY notifications_by_time WHERE latest < ? LIMIT ?)`)
)

// Store implements social.Notifications on a file.
type Store struct {
	db     *sqldb.DB
	log    *eventlog.Log
	clock  func() time.Time
	nextID NextID
	refuse Refuse

	leasing   sync.Mutex
	hasLeased bool // whether LeaseNotifier has given a lease
}

// Refuse returns an error if a user may store nothing any more.
type Refuse func(tx sqldb.Reader, user social.UserID) error

// NextID returns an id that sorts after all earlier ones. If an id is given, it returns that one,
// and the next ids sort after it.
type NextID func(tx *eventlog.Tx, given id.ID) (id.ID, error)

var _ social.Notifications = (*Store)(nil)

// New returns the store for the notifications in a file.
func New(db *sqldb.DB, log *eventlog.Log, clock func() time.Time, next NextID, refuse Refuse) *Store {
	return &Store{db: db, log: log, clock: clock, nextID: next, refuse: refuse}
}

// Notifications implements social.Notifications.
func (s *Store) Notifications(ctx context.Context, to social.UserID, p social.Page) ([]*social.Notification, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Notification, error) {
		return page(tx, to, p)
	})
}

func page(tx sqldb.Reader, to social.UserID, p social.Page) ([]*social.Notification, error) {
	sp := sqldb.Descending(p)
	found, err := sqldb.All(tx, notificationsOf.Along(sp), scanNotification, to.Bytes(), sp.Low, sp.High, sp.Limit)
	if err != nil {
		return nil, err
	}
	return sqldb.InListOrder(sp, found), readActs(tx, found)
}

// UnreadNotifications implements social.Notifications.
func (s *Store) UnreadNotifications(ctx context.Context, to social.UserID, limit int) ([]*social.Notification, error) {
	return s.read(ctx, unreadOf, to.Bytes(), limit)
}

// read reads the notifications that a query selects, with their acts.
func (s *Store) read(ctx context.Context, query *sqldb.Statement, args ...any) ([]*social.Notification, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Notification, error) {
		found, err := sqldb.All(tx, query, scanNotification, args...)
		if err != nil {
			return nil, err
		}
		return found, readActs(tx, found)
	})
}

// NotificationsByID implements social.Notifications.
func (s *Store) NotificationsByID(ctx context.Context, to social.UserID, ids []social.NotificationID) (map[social.NotificationID]*social.Notification, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.NotificationID]*social.Notification, error) {
		found, err := sqldb.All(tx, notificationsByID, scanNotification, sqldb.HexList(ids), to.Bytes())
		if err != nil {
			return nil, err
		}
		byID := make(map[social.NotificationID]*social.Notification, len(found))
		for _, n := range found {
			byID[n.ID] = n
		}
		return byID, readActs(tx, found)
	})
}

// MarkRead implements social.Notifications.
func (s *Store) MarkRead(ctx context.Context, to social.UserID, ids []social.NotificationID, upTo social.NotificationID) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if _, err := tx.Exec(markRead, sqldb.HexList(ids), to.Bytes()); err != nil {
			return err
		}
		_, err := tx.Exec(markReadUpTo, to.Bytes(), upTo.Bytes())
		return err
	})
}

// Forget removes a deleted user's settings, some of the notifications to the user, and some of what
// the user did from those to others. It reports whether there may be more.
func Forget(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	if _, err := tx.Exec(forgetSilent, user.Bytes()); err != nil {
		return false, err
	}
	found, err := sqldb.All(tx, someNotificationsBy, scanNotificationID, user.Bytes(), sqldb.Batch)
	if err != nil {
		return false, err
	}
	if err := deleteActs(tx, found, user, social.CommentID{}); err != nil {
		return false, err
	}
	left, err = sqldb.DeleteSome(tx.Tx, user, someNotificationsTo, someLossesOf)
	return left || len(found) == sqldb.Batch, err
}

// Expire removes notifications whose newest act is too old, and losses that are.
func (s *Store) Expire(ctx context.Context) error {
	before := id.FirstAt(time.Now().Add(-social.NotificationRetention)).Bytes()
	return errors.Join(s.db.DeleteAll(ctx, oldNotifications, before), s.db.DeleteAll(ctx, oldLosses, before))
}

// deleteActs removes what a user did from notifications, or only one comment, and removes those
// without any other act.
func deleteActs(tx *eventlog.Tx, from []social.NotificationID, actor social.UserID, comment social.CommentID) error {
	for _, n := range from {
		if _, err := tx.Exec(deleteActsBy, n.Bytes(), actor.Bytes(), sqldb.OrNull(comment.ID)); err != nil {
			return err
		}
		if _, err := tx.Exec(deleteEmptyNotification, n.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func scanNotificationID(scan sqldb.Scan) (n social.NotificationID, err error) {
	err = scan(sqldb.Into(&n.ID))
	return n, err
}

func scanNotification(scan sqldb.Scan) (*social.Notification, error) {
	n := &social.Notification{}
	var unread bool
	err := scan(sqldb.Into(&n.ID.ID), sqldb.Into(&n.To.ID), &n.Kind, sqldb.Into(&n.Post.ID), sqldb.Into(&n.Comment.ID), sqldb.Into(&n.Order.ID), &unread)
	n.Read = !unread
	return n, err
}

// readActs fills in the acts of notifications, newest first.
func readActs(tx sqldb.Reader, notifications []*social.Notification) error {
	if len(notifications) == 0 {
		return nil
	}
	byID := make(map[social.NotificationID]*social.Notification, len(notifications))
	ids := make([]social.NotificationID, len(notifications))
	for i, n := range notifications {
		ids[i], byID[n.ID] = n.ID, n
	}
	err := tx.Each(actsOf, func(scan sqldb.Scan) (bool, error) {
		var of social.NotificationID
		var act social.Act
		if err := scan(sqldb.Into(&of.ID), sqldb.Into(&act.Actor.ID), sqldb.Into(&act.Comment.ID), sqldb.Into(&act.ID.ID)); err != nil {
			return false, err // the call was cancelled
		}
		byID[of].Acts = append(byID[of].Acts, act)
		return true, nil
	}, sqldb.HexList(ids))
	for _, n := range notifications {
		slices.SortFunc(n.Acts, func(a, b social.Act) int { return b.ID.Compare(a.ID.ID) })
	}
	return err
}
