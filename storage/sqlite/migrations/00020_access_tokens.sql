-- +goose Up
-- When a session was created, and used last, in Unix microseconds; 0: not known, or never. Access tokens are sessions
-- with a name (social.Grant); scopes is their texts, separated by spaces.

ALTER TABLE sessions ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN name TEXT;
ALTER TABLE sessions ADD COLUMN scopes TEXT;

-- +goose Down

DELETE FROM sessions WHERE name IS NOT NULL;
ALTER TABLE sessions DROP COLUMN scopes;
ALTER TABLE sessions DROP COLUMN name;
ALTER TABLE sessions DROP COLUMN used_at;
ALTER TABLE sessions DROP COLUMN created_at;
