-- +goose Up

-- Ads: recordings wait to be counted. What they need for that is set until then.

ALTER TABLE ad_recordings ADD COLUMN due INTEGER; -- NULL: it has been counted
ALTER TABLE ad_recordings ADD COLUMN cost INTEGER;
ALTER TABLE ad_recordings ADD COLUMN lease BLOB;
ALTER TABLE ad_recordings ADD COLUMN viewer BLOB; -- whose caps an impression counts for
ALTER TABLE ad_recordings ADD COLUMN staff INTEGER;
ALTER TABLE ad_recordings ADD COLUMN shown_by INTEGER;
CREATE INDEX ad_recordings_waiting ON ad_recordings (due) WHERE due IS NOT NULL;

-- +goose Down

DROP INDEX ad_recordings_waiting;
ALTER TABLE ad_recordings DROP COLUMN shown_by;
ALTER TABLE ad_recordings DROP COLUMN staff;
ALTER TABLE ad_recordings DROP COLUMN viewer;
ALTER TABLE ad_recordings DROP COLUMN lease;
ALTER TABLE ad_recordings DROP COLUMN cost;
ALTER TABLE ad_recordings DROP COLUMN due;
