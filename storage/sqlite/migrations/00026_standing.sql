-- +goose Up
-- social.Standing of users. away is what social.IsAway says of it; an identity of such a user is away, too.

ALTER TABLE users ADD COLUMN sanction TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN sanction_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN sanction_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN deactivated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN away INTEGER NOT NULL DEFAULT 0;
CREATE INDEX users_away ON users (id) WHERE away = 1;

ALTER TABLE identities ADD COLUMN away INTEGER NOT NULL DEFAULT 0;

-- The end of a suspension; 0: none.
ALTER TABLE decisions ADD COLUMN until INTEGER NOT NULL DEFAULT 0;

-- +goose Down

-- Versions before this one know no such decisions: everyone may sign in, and is visible.
DELETE FROM decisions WHERE action IN ('SUSPEND', 'BAN', 'REINSTATE');
ALTER TABLE decisions DROP COLUMN until;
ALTER TABLE identities DROP COLUMN away;
DROP INDEX users_away;
ALTER TABLE users DROP COLUMN away;
ALTER TABLE users DROP COLUMN deactivated;
ALTER TABLE users DROP COLUMN sanction_reason;
ALTER TABLE users DROP COLUMN sanction_until;
ALTER TABLE users DROP COLUMN sanction;
