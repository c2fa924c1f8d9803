-- +goose Up
-- The newest id that a post or comment was given: one row. It outlives what has that id, so that no later one sorts before it.

CREATE TABLE sequence (
	one  INTEGER PRIMARY KEY CHECK (one = 1),
	last BLOB NOT NULL
) STRICT;
INSERT INTO sequence (one, last) SELECT 1, coalesce(max(id), zeroblob(16))
FROM (SELECT max(id) AS id FROM posts UNION ALL SELECT max(id) FROM comments);

-- +goose Down

DROP TABLE sequence;
