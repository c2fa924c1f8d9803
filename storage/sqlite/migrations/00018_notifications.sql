-- +goose Up
-- What users are notified of: social.Notification. latest is its Order.

CREATE TABLE notifications (
	id        BLOB PRIMARY KEY NOT NULL,
	recipient BLOB NOT NULL,
	kind      TEXT NOT NULL,
	post      BLOB,
	comment   BLOB,
	latest    BLOB NOT NULL,
	unread    INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX notifications_by_latest ON notifications (recipient, latest);
CREATE INDEX notifications_unread ON notifications (recipient, latest) WHERE unread = 1;
CREATE INDEX notifications_by_group ON notifications (recipient, kind, post, comment, latest);
CREATE INDEX notifications_by_time ON notifications (latest);

CREATE TABLE notification_acts (
	notification BLOB NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
	actor        BLOB NOT NULL,
	comment      BLOB,
	id           BLOB NOT NULL,
	PRIMARY KEY (notification, actor)
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_acts_by_actor ON notification_acts (actor);

-- The server that stores notifications, until when (Unix microseconds), and how far it has read the event log.
CREATE TABLE notifier (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	server   TEXT NOT NULL,
	until    INTEGER NOT NULL,
	position TEXT NOT NULL
) STRICT;

-- +goose Down

DROP TABLE notifier;
DROP TABLE notification_acts;
DROP TABLE notifications;
