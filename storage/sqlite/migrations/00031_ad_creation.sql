-- +goose Up
-- Ads: when it was created, in microseconds. NULL: the time in the id.

ALTER TABLE ad_advertisers ADD COLUMN created_at INTEGER;
ALTER TABLE ad_campaigns ADD COLUMN created_at INTEGER;
ALTER TABLE ad_units ADD COLUMN created_at INTEGER;

-- +goose Down

ALTER TABLE ad_units DROP COLUMN created_at;
ALTER TABLE ad_campaigns DROP COLUMN created_at;
ALTER TABLE ad_advertisers DROP COLUMN created_at;
