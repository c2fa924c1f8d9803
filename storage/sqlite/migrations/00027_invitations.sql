-- +goose Up
-- social.Invitation. The id is derived from the code, which is not stored; inviter: null for operators. Times are in Unix microseconds.

CREATE TABLE invitations (
	id         BLOB PRIMARY KEY NOT NULL,
	inviter    BLOB,
	max_uses   INTEGER NOT NULL,
	uses       INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_by_inviter ON invitations (inviter, expires_at);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);

-- +goose Down

DROP TABLE invitations;
