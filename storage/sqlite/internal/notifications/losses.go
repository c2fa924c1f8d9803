package notifications

import (
	"context"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	actsOnComments = sqldb.Define(`SELECT recipient, kind, post, notifications.comment, actor, notification_acts.comment, notification_acts.id
		FROM notification_acts INDEXED BY notification_acts_by_comment
		CROSS JOIN notifications ON notifications.id = notification_acts.notification
		WHERE notification_acts.comment IN (SELECT unhex(value) FROM json_each(?))`)
	notificationsOnPost  = sqldb.Define(`SELECT ` + notificationColumns + ` FROM notifications INDEXED BY notifications_by_post WHERE post = ? LIMIT ?`)
	deleteNotification   = sqldb.Define(`DELETE FROM notifications WHERE id = ?`)
	notificationsWithAct = sqldb.Define(`SELECT notifications.id FROM notifications INDEXED BY notifications_by_group
		CROSS JOIN notification_acts ON notification_acts.notification = notifications.id AND notification_acts.actor = ?5
		WHERE recipient = ?1 AND kind = ?2 AND post IS ?3 AND notifications.comment IS ?4 AND (?6 IS NULL OR notification_acts.comment = ?6)`)
	putLoss  = sqldb.Define(`INSERT INTO notification_losses (position, recipient, notification) VALUES (?, ?, ?)`)
	lossesOf = sqldb.DefineDirected(`SELECT position, notification FROM notification_losses INDEXED BY notification_losses_by_recipient
		WHERE recipient = ? AND position > ? AND position < ? ORDER BY position $order LIMIT ?`)

	someLossesOf = sqldb.Define(`DELETE FROM notification_losses WHERE position IN (
		SELECT position FROM notification_losses INDEXED BY notification_losses_by_recipient WHERE recipient = ? LIMIT ?)`)
	oldLosses = sqldb.Define(`DELETE FROM notification_losses WHERE position IN (SELECT position FROM notification_losses WHERE position < ? LIMIT ?)`)
)

// ActsOn implements social.Notifications.
func (s *Store) ActsOn(ctx context.Context, comments []social.CommentID) ([]social.Notice, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.Notice, error) {
		return sqldb.All(tx, actsOnComments, scanNotice, sqldb.HexList(comments))
	})
}

func scanNotice(scan sqldb.Scan) (n social.Notice, err error) {
	g, a := &n.NotificationGroup, &n.Act
	err = scan(sqldb.Into(&g.To.ID), &g.Kind, sqldb.Into(&g.Post.ID), sqldb.Into(&g.Comment.ID), sqldb.Into(&a.Actor.ID), sqldb.Into(&a.Comment.ID), sqldb.Into(&a.ID.ID))
	return n, err
}

// NotificationsOn implements social.Notifications.
func (s *Store) NotificationsOn(ctx context.Context, post social.PostID, limit int) ([]*social.Notification, error) {
	return s.read(ctx, notificationsOnPost, post.Bytes(), limit)
}

// NotificationChanges implements social.Notifications.
func (s *Store) NotificationChanges(ctx context.Context, to social.UserID, p social.Page) (found []*social.Notification, lost []social.NotificationLoss, err error) {
	err = s.db.View(ctx, func(tx sqldb.Reader) (err error) {
		if found, err = page(tx, to, p); err != nil {
			return err
		}
		sp := sqldb.Descending(p)
		lost, err = sqldb.All(tx, lossesOf.Along(sp), scanLoss, to.Bytes(), sp.Low, sp.High, sp.Limit)
		lost = sqldb.InListOrder(sp, lost)
		return err
	})
	return found, lost, err
}

func scanLoss(scan sqldb.Scan) (l social.NotificationLoss, err error) {
	err = scan(sqldb.Into(&l.Order.ID), sqldb.Into(&l.Notification.ID))
	return l, err
}

// loss is a loss to store.
type loss struct {
	to           social.UserID
	notification social.NotificationID
}

// takeActs removes the acts that were undone, and the notifications that were removed, and stores
// losses.
func (s *Store) takeActs(tx *eventlog.Tx, notices []social.Notice) error {
	var losses []loss
	for _, notice := range notices {
		if notice.IsNew() {
			continue
		}
		from, err := take(tx, notice)
		if err != nil {
			return err
		}
		if notice.Lost {
			for _, n := range from {
				losses = append(losses, loss{notice.To, n})
			}
		}
	}
	return s.putLosses(tx, losses)
}

// take does what a notice says that is not new. It returns the notifications that have lost something.
func take(tx *eventlog.Tx, notice social.Notice) ([]social.NotificationID, error) {
	if notice.Removed.IsZero() {
		return takeAct(tx, notice)
	}
	rows, err := tx.Exec(deleteNotification, notice.Removed.Bytes())
	if err != nil || rows == 0 {
		return nil, err
	}
	return []social.NotificationID{notice.Removed}, nil
}

// takeAct removes an act that was undone from all notifications of its group. It returns those that
// have it.
func takeAct(tx *eventlog.Tx, notice social.Notice) ([]social.NotificationID, error) {
	g := notice.NotificationGroup
	found, err := sqldb.All(tx, notificationsWithAct, scanNotificationID,
		g.To.Bytes(), string(g.Kind), sqldb.OrNull(g.Post.ID), sqldb.OrNull(g.Comment.ID), notice.Actor.Bytes(), sqldb.OrNull(notice.Act.Comment.ID))
	if err != nil || !notice.Undone {
		return found, err
	}
	return found, deleteActs(tx, found, notice.Actor, notice.Act.Comment)
}

func (s *Store) putLosses(tx *eventlog.Tx, losses []loss) error {
	if len(losses) == 0 {
		return nil
	}
	next, err := s.nextNotifications(tx, len(losses))
	if err != nil {
		return err
	}
	for _, l := range losses {
		if _, err := tx.Exec(putLoss, next().Bytes(), l.to.Bytes(), l.notification.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
