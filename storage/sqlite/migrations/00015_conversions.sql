-- +goose Up

-- Ads: conversions. A recording of the kind CONVERSION follows a click, and counts for so many days after it.
ALTER TABLE ad_campaigns ADD COLUMN attribution INTEGER NOT NULL DEFAULT 0; -- days; 0: the default
ALTER TABLE ad_units ADD COLUMN conversions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_recordings ADD COLUMN days INTEGER;
ALTER TABLE ad_tallies ADD COLUMN conversions INTEGER NOT NULL DEFAULT 0;

-- Ads that are paid for by the conversion: what the conversions that have not come yet are likely to cost, and the hour of which that is the value.
ALTER TABLE ad_ledgers ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_ledgers ADD COLUMN awaited_hour INTEGER NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE ad_ledgers DROP COLUMN awaited_hour;
ALTER TABLE ad_ledgers DROP COLUMN awaited;
DELETE FROM ad_recordings WHERE kind = 'CONVERSION';
ALTER TABLE ad_tallies DROP COLUMN conversions;
ALTER TABLE ad_recordings DROP COLUMN days;
ALTER TABLE ad_units DROP COLUMN conversions;
ALTER TABLE ad_campaigns DROP COLUMN attribution;
