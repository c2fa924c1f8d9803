package notifications

import (
	"context"
	"slices"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	leaseNotifier = sqldb.Define(`INSERT INTO notifier (one, server, until, position) VALUES (1, ?1, ?2, '')
		ON CONFLICT (one) DO UPDATE SET server = ?1, until = ?2 WHERE server = ?1 OR until < ?3 OR NOT ?4`)
	notifierPosition = sqldb.Define(`SELECT position FROM notifier WHERE one = 1`)
	moveNotifier     = sqldb.Define(`UPDATE notifier SET until = ?, position = ? WHERE one = 1 AND server = ?`)
	leaveNotifier    = sqldb.Define(`UPDATE notifier SET server = '', until = 0 WHERE one = 1 AND server = ?`)
	newestInGroup    = sqldb.Define(`SELECT ` + notificationColumns + ` FROM notifications INDEXED BY notifications_by_group
		WHERE recipient = ? AND kind = ? AND post IS ? AND comment IS ? ORDER BY latest DESC LIMIT 1`)
	putNotification = sqldb.Define(`INSERT INTO notifications (id, recipient, kind, post, comment, latest) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET latest = excluded.latest`)
	putAct    = sqldb.Define(`INSERT INTO notification_acts (notification, actor, comment, id) VALUES (?, ?, ?, ?)`)
	deleteAct = sqldb.Define(`DELETE FROM notification_acts WHERE notification = ? AND actor = ? AND id = ?`)
)

// LeaseNotifier implements social.Notifications. Only one process has the file, so a lease that it has
// not given belongs to a server that is gone: its first one waits for no other.
func (s *Store) LeaseNotifier(ctx context.Context, server string, lease time.Duration) (position string, is bool, err error) {
	s.leasing.Lock()
	defer s.leasing.Unlock()
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		now := s.clock()
		rows, err := tx.Exec(leaseNotifier, server, sqldb.Moment(now.Add(lease)), sqldb.Moment(now), s.hasLeased)
		if is = rows > 0; err != nil || !is {
			return err
		}
		_, err = tx.Row(notifierPosition, []any{&position})
		return err
	})
	s.hasLeased = s.hasLeased || is && err == nil
	return position, is && err == nil, err
}

// LeaveNotifier implements social.Notifications.
func (s *Store) LeaveNotifier(ctx context.Context, server string) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		_, err := tx.Exec(leaveNotifier, server)
		return err
	})
}

// Notify implements social.Notifications.
func (s *Store) Notify(ctx context.Context, server string, lease time.Duration, position string, notices []social.Notice) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(moveNotifier, sqldb.Moment(s.clock().Add(lease)), position, server)
		if err := sqldb.Changed(rows, err, social.ErrConflict); err != nil {
			return err
		}
		if err := s.addActs(tx, notices); err != nil {
			return err
		}
		if err := s.takeActs(tx, notices); err != nil {
			return err
		}
		for _, e := range social.NewNotified(notices) {
			if err := tx.Append(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// addActs stores new acts.
func (s *Store) addActs(tx *eventlog.Tx, notices []social.Notice) error {
	unread := map[social.NotificationGroup]*social.Notification{}
	for _, notice := range notices {
		group := notice.NotificationGroup
		if _, done := unread[group]; done || !notice.IsNew() {
			continue
		}
		n, err := unreadInGroup(tx, group)
		if err != nil {
			return err
		}
		unread[group] = n
	}
	if len(unread) == 0 {
		return nil
	}
	ids, err := s.nextNotifications(tx, len(notices))
	if err != nil {
		return err
	}
	stored := map[social.NotificationID][]social.Act{}
	for _, n := range unread {
		if n != nil {
			stored[n.ID] = n.Acts
		}
	}
	for _, n := range social.Gather(unread, notices, ids) {
		if err := storeNotification(tx, n, stored[n.ID]); err != nil {
			return err
		}
	}
	return nil
}

// nextNotifications returns a function that returns at least n new ids, one for each call, which
// sort after all earlier ones.
func (s *Store) nextNotifications(tx *eventlog.Tx, n int) (func() social.NotificationID, error) {
	last, err := s.nextID(tx, id.ID{})
	if err != nil {
		return nil, err
	}
	serial := last.Serial()
	_, err = s.nextID(tx, id.WithSerial(serial+int64(n)+1))
	return func() social.NotificationID {
		serial++
		return social.NotificationID{ID: id.WithSerial(serial)}
	}, err
}

// unreadInGroup reads the newest notification of a group; nil if there is none, or it has been
// read.
func unreadInGroup(tx sqldb.Reader, g social.NotificationGroup) (*social.Notification, error) {
	found, err := sqldb.All(tx, newestInGroup, scanNotification, g.To.Bytes(), string(g.Kind), sqldb.OrNull(g.Post.ID), sqldb.OrNull(g.Comment.ID))
	if err != nil || len(found) == 0 || found[0].Read {
		return nil, err
	}
	return found[0], readActs(tx, found)
}

// storeNotification stores a notification, and how its acts differ from those that are stored.
func storeNotification(tx *eventlog.Tx, n *social.Notification, stored []social.Act) error {
	_, err := tx.Exec(putNotification, n.ID.Bytes(), n.To.Bytes(), string(n.Kind), sqldb.OrNull(n.Post.ID), sqldb.OrNull(n.Comment.ID), n.Order.Bytes())
	if err != nil {
		return err
	}
	for _, act := range stored {
		if slices.Contains(n.Acts, act) {
			continue
		}
		if _, err := tx.Exec(deleteAct, n.ID.Bytes(), act.Actor.Bytes(), act.ID.Bytes()); err != nil {
			return err
		}
	}
	for _, act := range n.Acts {
		if slices.Contains(stored, act) {
			break // the new ones are in front
		}
		if _, err := tx.Exec(putAct, n.ID.Bytes(), act.Actor.Bytes(), sqldb.OrNull(act.Comment.ID), act.ID.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
