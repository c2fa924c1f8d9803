-- +goose Up
-- Moderators hide comments: social.Comment.Hidden.

ALTER TABLE comments ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
DROP INDEX comments_live;
CREATE INDEX comments_live ON comments (post, id, author) WHERE deleted = 0 AND hidden = 0;

-- +goose Down

-- Versions before this one would show hidden comments. They become deleted ones: tombstones above comments that remain, and
-- otherwise nothing.
CREATE TEMP TABLE touched AS SELECT DISTINCT post FROM comments WHERE hidden = 1;
UPDATE comments SET deleted = 1, author = NULL, text = '', edited_at = 0 WHERE hidden = 1;
DELETE FROM comments WHERE deleted = 1 AND post IN (SELECT post FROM touched) AND NOT EXISTS (
	SELECT 1 FROM comments AS below WHERE below.post = comments.post AND below.deleted = 0
		AND below.tree_path > comments.tree_path AND below.tree_path < comments.tree_path || '~');
UPDATE comments SET replies = (SELECT count(*) FROM comments AS reply WHERE reply.post = comments.post AND reply.parent = comments.id)
	WHERE post IN (SELECT post FROM touched);
UPDATE posts SET comment_count = (SELECT count(*) FROM comments WHERE comments.post = posts.id AND deleted = 0)
	WHERE id IN (SELECT post FROM touched);
DROP TABLE touched;

DROP INDEX comments_live;
ALTER TABLE comments DROP COLUMN hidden;
CREATE INDEX comments_live ON comments (post, id, author) WHERE deleted = 0;
