-- +goose Up
-- Users of other sites, and their accounts: social.Identity. user is null if the account is deleted; ended_at is in Unix
-- microseconds, 0: none.

CREATE TABLE identities (
	key      BLOB PRIMARY KEY NOT NULL,
	user     BLOB,
	ended_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_user ON identities (user) WHERE user IS NOT NULL;

-- +goose Down

DROP TABLE identities;
