-- +goose Up
-- The kinds of notifications that users have turned off: social.Notifications.SilentNotificationKinds.

CREATE TABLE silent_notification_kinds (
	user BLOB NOT NULL,
	kind TEXT NOT NULL,
	PRIMARY KEY (user, kind)
) STRICT, WITHOUT ROWID;

-- +goose Down

DROP TABLE silent_notification_kinds;
