-- +goose Up
-- social.NotificationLoss: position is its Order.

CREATE TABLE notification_losses (
	position     BLOB PRIMARY KEY NOT NULL,
	recipient    BLOB NOT NULL,
	notification BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_losses_by_recipient ON notification_losses (recipient, position);
CREATE INDEX notification_acts_by_comment ON notification_acts (comment) WHERE comment IS NOT NULL;

-- +goose Down

DROP INDEX notification_acts_by_comment;
DROP TABLE notification_losses;
