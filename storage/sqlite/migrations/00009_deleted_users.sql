-- +goose Up
-- Users who have deleted their account. A row is permanent: to all others, such a user does not exist. Until it is done, there is
-- something of theirs left to remove.

CREATE TABLE deleted_users (
	id         BLOB PRIMARY KEY NOT NULL,
	deleted_at INTEGER NOT NULL,
	log_up_to  INTEGER,                    -- entries of the event log after this one do not name them any more; NULL: all may
	done       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_users_left ON deleted_users (deleted_at) WHERE done = 0;

CREATE INDEX sessions_by_user ON sessions (user);
CREATE INDEX blocks_by_blocked ON blocks (blocked);
CREATE INDEX mutes_by_muted ON mutes (muted);
CREATE INDEX votes_by_user ON votes (user);
CREATE INDEX reactions_by_user ON reactions (user);
CREATE INDEX thread_mutes_by_user ON thread_mutes (user);

-- +goose Down

DROP INDEX thread_mutes_by_user;
DROP INDEX reactions_by_user;
DROP INDEX votes_by_user;
DROP INDEX mutes_by_muted;
DROP INDEX blocks_by_blocked;
DROP INDEX sessions_by_user;
DROP TABLE deleted_users;
