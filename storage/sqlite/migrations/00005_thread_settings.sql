-- +goose Up

ALTER TABLE posts ADD COLUMN replies TEXT NOT NULL DEFAULT 'EVERYONE'; -- who may reply
ALTER TABLE posts ADD COLUMN reply_circles BLOB NOT NULL DEFAULT x'';  -- the listed circles' ids, one after the other
ALTER TABLE posts ADD COLUMN comment_order TEXT NOT NULL DEFAULT 'OLDEST';
ALTER TABLE posts ADD COLUMN muters INTEGER NOT NULL DEFAULT 0;        -- how many thread_mutes there are

CREATE TABLE thread_mutes (
	post BLOB NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
	user BLOB NOT NULL,
	PRIMARY KEY (post, user)
) STRICT, WITHOUT ROWID;

CREATE INDEX comments_by_author ON comments (author, id) WHERE author IS NOT NULL;

-- All comments up to an id of a user in this table are being erased, in chunks.
CREATE TABLE comment_erasures (
	user       BLOB PRIMARY KEY NOT NULL,
	up_to      BLOB NOT NULL,
	started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down

DROP TABLE comment_erasures;
DROP INDEX comments_by_author;
DROP TABLE thread_mutes;
ALTER TABLE posts DROP COLUMN muters;
ALTER TABLE posts DROP COLUMN comment_order;
ALTER TABLE posts DROP COLUMN reply_circles;
ALTER TABLE posts DROP COLUMN replies;
