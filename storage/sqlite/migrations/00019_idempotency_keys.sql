-- +goose Up
-- The operations that clients may send again: social.IdempotencyKeys. until is the end of the attempt's lease; until
-- and expires are in Unix microseconds.

CREATE TABLE idempotency_keys (
	user        BLOB NOT NULL,
	key         TEXT NOT NULL,
	fingerprint BLOB NOT NULL,
	attempt     BLOB NOT NULL,
	until       INTEGER NOT NULL,
	effect      INTEGER NOT NULL DEFAULT 0,
	answer      BLOB,
	expires     INTEGER NOT NULL,
	PRIMARY KEY (user, key)
) STRICT;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires);

-- +goose Down

DROP TABLE idempotency_keys;
