-- +goose Up

-- Who has rights is asked for every second or so.

CREATE INDEX users_with_rights ON users (rights) WHERE rights <> '';

-- +goose Down

DROP INDEX users_with_rights;
