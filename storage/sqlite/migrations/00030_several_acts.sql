-- +goose Up
-- One person may have several acts in a notification, each about another comment.

CREATE TABLE several_acts (
	notification BLOB NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
	actor        BLOB NOT NULL,
	comment      BLOB,
	id           BLOB NOT NULL,
	PRIMARY KEY (notification, actor, id)
) STRICT, WITHOUT ROWID;
INSERT INTO several_acts SELECT notification, actor, comment, id FROM notification_acts;
DROP TABLE notification_acts;
ALTER TABLE several_acts RENAME TO notification_acts;
CREATE INDEX notification_acts_by_actor ON notification_acts (actor);
CREATE INDEX notification_acts_by_comment ON notification_acts (comment) WHERE comment IS NOT NULL;

-- +goose Down

CREATE TABLE newest_acts (
	notification BLOB NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
	actor        BLOB NOT NULL,
	comment      BLOB,
	id           BLOB NOT NULL,
	PRIMARY KEY (notification, actor)
) STRICT, WITHOUT ROWID;
INSERT INTO newest_acts SELECT notification, actor, comment, max(id) FROM notification_acts GROUP BY notification, actor;
DROP TABLE notification_acts;
ALTER TABLE newest_acts RENAME TO notification_acts;
CREATE INDEX notification_acts_by_actor ON notification_acts (actor);
CREATE INDEX notification_acts_by_comment ON notification_acts (comment) WHERE comment IS NOT NULL;
