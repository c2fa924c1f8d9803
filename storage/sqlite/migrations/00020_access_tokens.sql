-- +goose Up
-- Access tokens are sessions with a name (social.Grant). scopes is their texts, separated by spaces; the times are in
-- Unix microseconds.

ALTER TABLE sessions ADD COLUMN name TEXT;
ALTER TABLE sessions ADD COLUMN scopes TEXT;
ALTER TABLE sessions ADD COLUMN created_at INTEGER;
ALTER TABLE sessions ADD COLUMN used_at INTEGER;

-- +goose Down

DELETE FROM sessions WHERE name IS NOT NULL;
ALTER TABLE sessions DROP COLUMN used_at;
ALTER TABLE sessions DROP COLUMN created_at;
ALTER TABLE sessions DROP COLUMN scopes;
ALTER TABLE sessions DROP COLUMN name;
