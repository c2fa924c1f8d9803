-- +goose Up
-- Sessions that have expired are removed.

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- +goose Down

DROP INDEX sessions_by_expiry;
