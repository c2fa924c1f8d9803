-- +goose Up

ALTER TABLE users ADD COLUMN rights TEXT NOT NULL DEFAULT ''; -- their names, with spaces between them

-- +goose Down

ALTER TABLE users DROP COLUMN rights;
