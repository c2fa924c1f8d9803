package notifications

import (
	"context"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	silenceKind   = sqldb.Define(`INSERT INTO silent_notification_kinds (user, kind) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	unsilenceKind = sqldb.Define(`DELETE FROM silent_notification_kinds WHERE user = ? AND kind = ?`)
	silentKinds   = sqldb.Define(`SELECT user, kind FROM silent_notification_kinds WHERE user IN (SELECT unhex(value) FROM json_each(?))`)
	forgetSilent  = sqldb.Define(`DELETE FROM silent_notification_kinds WHERE user = ?`)
)

// SetNotificationKind implements social.Notifications.
func (s *Store) SetNotificationKind(ctx context.Context, user social.UserID, kind social.NotificationKind, enabled bool) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := s.refuse(tx, user); err != nil {
			return err
		}
		set := silenceKind
		if enabled {
			set = unsilenceKind
		}
		_, err := tx.Exec(set, user.Bytes(), string(kind))
		return err
	})
}

// SilentNotificationKinds implements social.Notifications.
func (s *Store) SilentNotificationKinds(ctx context.Context, users []social.UserID) (map[social.UserID][]social.NotificationKind, error) {
	silent := map[social.UserID][]social.NotificationKind{}
	err := s.db.View(ctx, func(tx sqldb.Reader) error {
		return tx.Each(silentKinds, func(scan sqldb.Scan) (bool, error) {
			var user social.UserID
			var kind social.NotificationKind
			err := scan(sqldb.Into(&user.ID), &kind)
			silent[user] = append(silent[user], kind)
			return true, err
		}, sqldb.HexList(users))
	})
	return silent, err
}
