-- +goose Up
-- The kinds of notifications that users have turned off: social.Notifications.SilentNotificationKinds.

CREATE TABLE silent_notification_kinds (
	user BLOB NOT NULL,
	kind TEXT NOT NULL,
	PRIMARY KEY (user, kind)
) STRICT, WITHOUT ROWID;

-- The polls whose closing has no event yet: social.Posts.ClosePolls. closes_at is in Unix microseconds.

CREATE TABLE open_polls (
	post      BLOB PRIMARY KEY NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
	closes_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX open_polls_by_time ON open_polls (closes_at);
INSERT INTO open_polls (post, closes_at)
	SELECT id, json_extract(detail, '$.closesAt') FROM posts
	WHERE type = 'POLL' AND json_extract(detail, '$.closesAt') > unixepoch() * 1000000;

-- +goose Down

DROP TABLE open_polls;
DROP TABLE silent_notification_kinds;
