-- +goose Up
-- The members of a circle are in the order in which they were added. For earlier ones that is when their owner
-- followed them. An index of an expression would not do: later additions have their own ids.

ALTER TABLE circle_members ADD COLUMN edge BLOB NOT NULL DEFAULT x'';
UPDATE circle_members SET edge = coalesce(
	(SELECT edge FROM follows WHERE follower = circle_members.owner AND followed = circle_members.member), member);
CREATE INDEX circle_members_by_edge ON circle_members (circle, edge, owner);

-- +goose Down

DROP INDEX circle_members_by_edge;
ALTER TABLE circle_members DROP COLUMN edge;
