-- +goose Up

-- The earlier versions of posts, apart from them: what a post said before must not be read with it each time.

CREATE TABLE post_versions (
	post             BLOB NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
	number           INTEGER NOT NULL, -- the post's revision that replaced this version
	audience         TEXT NOT NULL,    -- as of posts, when it was replaced
	audience_circles BLOB NOT NULL,
	type             TEXT NOT NULL,
	detail           TEXT NOT NULL,
	edited_at        INTEGER NOT NULL, -- when it was replaced
	PRIMARY KEY (post, number)
) STRICT;

ALTER TABLE posts ADD COLUMN edits INTEGER NOT NULL DEFAULT 0; -- how many versions there are

-- Histories did not say to whom a version was shown. Where there were no other changes than edits it was the
-- present one; otherwise it is unknown, and the version is shown to no one else.
INSERT INTO post_versions (post, number, audience, audience_circles, type, detail, edited_at)
	SELECT posts.id, version.key + 1,
		iif(posts.revision = json_array_length(posts.history), posts.audience, 'ONLY_ME'),
		iif(posts.revision = json_array_length(posts.history), posts.audience_circles, x''),
		version.value ->> '$.type', version.value -> '$.detail', version.value ->> '$.editedAt'
	FROM posts, json_each(iif(posts.history = '', '[]', posts.history)) AS version
	WHERE posts.history <> '';
UPDATE posts SET edits = json_array_length(history) WHERE history <> '';

ALTER TABLE posts DROP COLUMN history;

-- +goose Down

-- Versions that the post's readers of now would not have seen are left out: histories were shown to all of them.
ALTER TABLE posts ADD COLUMN history TEXT NOT NULL DEFAULT '';
UPDATE posts SET history = (
	SELECT json_group_array(json_object('type', type, 'detail', json(detail), 'editedAt', edited_at) ORDER BY number)
	FROM post_versions WHERE post = posts.id AND audience = posts.audience AND post_versions.audience_circles = posts.audience_circles
) WHERE EXISTS (
	SELECT 1 FROM post_versions
	WHERE post = posts.id AND audience = posts.audience AND post_versions.audience_circles = posts.audience_circles
);
ALTER TABLE posts DROP COLUMN edits;
DROP TABLE post_versions;
