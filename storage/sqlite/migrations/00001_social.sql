-- +goose Up

-- Ids are 16 bytes and sort by time. Moments are Unix microseconds; 0 is never. Tables whose rows can be
-- large have a rowid, so that walking their keys does not read the rows; the others lie in their key's tree.

CREATE TABLE users (
	id              BLOB PRIMARY KEY NOT NULL,
	handle          TEXT NOT NULL UNIQUE,
	name            TEXT NOT NULL,
	bio             TEXT NOT NULL,
	avatar_url      TEXT NOT NULL,
	wall_policy     TEXT NOT NULL,
	password_hash   TEXT NOT NULL,
	followers_count INTEGER NOT NULL DEFAULT 0,
	following_count INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE sessions (
	token_hash BLOB PRIMARY KEY NOT NULL,
	user       BLOB NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE circles (
	id            BLOB PRIMARY KEY NOT NULL,
	owner         BLOB NOT NULL,
	name          TEXT NOT NULL,
	folded_name   TEXT NOT NULL, -- what makes names equal
	is_default    INTEGER NOT NULL,
	members_count INTEGER NOT NULL DEFAULT 0,
	UNIQUE (owner, folded_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX circles_by_owner ON circles (owner, id);

CREATE TABLE circle_members (
	circle BLOB NOT NULL REFERENCES circles ON DELETE CASCADE,
	member BLOB NOT NULL,
	owner  BLOB NOT NULL, -- the circle's
	PRIMARY KEY (circle, member)
) STRICT, WITHOUT ROWID;
CREATE INDEX circle_members_by_member ON circle_members (member, owner);

-- A row exists exactly while the followed is in at least one of the follower's circles.
CREATE TABLE follows (
	follower BLOB NOT NULL,
	followed BLOB NOT NULL,
	edge     BLOB NOT NULL,
	PRIMARY KEY (follower, followed)
) STRICT, WITHOUT ROWID;
CREATE INDEX follows_by_follower ON follows (follower, edge);
CREATE INDEX follows_by_followed ON follows (followed, edge);

CREATE TABLE blocks (
	blocker BLOB NOT NULL,
	blocked BLOB NOT NULL,
	edge    BLOB NOT NULL,
	PRIMARY KEY (blocker, blocked)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocks_by_blocker ON blocks (blocker, edge);

CREATE TABLE mutes (
	muter BLOB NOT NULL,
	muted BLOB NOT NULL,
	edge  BLOB NOT NULL,
	PRIMARY KEY (muter, muted)
) STRICT, WITHOUT ROWID;
CREATE INDEX mutes_by_muter ON mutes (muter, edge);

CREATE TABLE posts (
	id               BLOB PRIMARY KEY NOT NULL,
	author           BLOB NOT NULL,
	wall_owner       BLOB NOT NULL,
	audience         TEXT NOT NULL,
	audience_circles BLOB NOT NULL, -- the listed circles' ids, one after the other
	type             TEXT NOT NULL,
	detail           TEXT NOT NULL, -- JSON, by type
	edited_at        INTEGER NOT NULL,
	history          TEXT NOT NULL, -- JSON list, or empty
	revision         INTEGER NOT NULL,
	comment_count    INTEGER NOT NULL DEFAULT 0,
	reactions        TEXT NOT NULL DEFAULT '', -- JSON object: a count by kind; or empty
	votes            TEXT NOT NULL DEFAULT ''  -- JSON list: a count by option; or empty
) STRICT;
CREATE INDEX posts_by_time ON posts (id, author);
CREATE INDEX posts_by_author ON posts (author, id);
CREATE INDEX posts_by_wall ON posts (wall_owner, id, author);
CREATE INDEX posts_to_circles ON posts (author, id) WHERE audience = 'CIRCLES';
CREATE INDEX posts_shared ON posts (id, author, audience) WHERE audience IN ('CIRCLES', 'LISTED');

CREATE TABLE post_circles (
	circle BLOB NOT NULL,
	post   BLOB NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
	PRIMARY KEY (circle, post)
) STRICT, WITHOUT ROWID;
CREATE INDEX post_circles_by_post ON post_circles (post);

CREATE TABLE votes (
	post   BLOB NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
	user   BLOB NOT NULL,
	option INTEGER NOT NULL,
	PRIMARY KEY (post, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE reactions (
	post BLOB NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
	user BLOB NOT NULL,
	kind TEXT NOT NULL,
	PRIMARY KEY (post, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE comments (
	id        BLOB PRIMARY KEY NOT NULL,
	post      BLOB NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
	parent    BLOB,          -- NULL: a reply to the post
	slug      TEXT NOT NULL,
	path      TEXT NOT NULL,
	tree_path TEXT NOT NULL,
	author    BLOB,          -- NULL: a tombstone
	text      TEXT NOT NULL,
	edited_at INTEGER NOT NULL,
	replies   INTEGER NOT NULL DEFAULT 0,
	deleted   INTEGER NOT NULL DEFAULT 0,
	UNIQUE (post, slug)
) STRICT;
CREATE INDEX comments_by_time ON comments (post, id);
CREATE INDEX comments_by_tree ON comments (post, tree_path);
CREATE INDEX comments_by_parent ON comments (post, parent, id) WHERE parent IS NOT NULL;
CREATE INDEX comments_live ON comments (post, id, author) WHERE deleted = 0;

-- AUTOINCREMENT: a sequence number is never used twice, so that a position stays right.
CREATE TABLE events (
	seq     INTEGER PRIMARY KEY AUTOINCREMENT,
	id      BLOB NOT NULL,
	kind    TEXT NOT NULL,
	actor   BLOB,
	target  BLOB,
	post    BLOB,
	comment BLOB,
	circle  BLOB,
	session BLOB
) STRICT;

-- +goose Down

DROP TABLE events;
DROP TABLE comments;
DROP TABLE reactions;
DROP TABLE votes;
DROP TABLE post_circles;
DROP TABLE posts;
DROP TABLE mutes;
DROP TABLE blocks;
DROP TABLE follows;
DROP TABLE circle_members;
DROP TABLE circles;
DROP TABLE sessions;
DROP TABLE users;
