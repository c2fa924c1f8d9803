-- +goose Up
-- social.Event.Author and Audience, and what removes the notifications about a deleted post.

ALTER TABLE events ADD COLUMN author BLOB;
ALTER TABLE events ADD COLUMN audience TEXT;
ALTER TABLE events ADD COLUMN audience_circles BLOB;
CREATE INDEX notifications_by_post ON notifications (post) WHERE post IS NOT NULL;

-- +goose Down

DROP INDEX notifications_by_post;
ALTER TABLE events DROP COLUMN audience_circles;
ALTER TABLE events DROP COLUMN audience;
ALTER TABLE events DROP COLUMN author;
