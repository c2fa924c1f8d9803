-- +goose Up

-- Ads: conversions. A recording of the kind CONVERSION follows a click, and counts for so many days after it.
ALTER TABLE ad_campaigns ADD COLUMN attribution INTEGER NOT NULL DEFAULT 0; -- days; 0: the default
ALTER TABLE ad_units ADD COLUMN conversions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_recordings ADD COLUMN days INTEGER;
ALTER TABLE ad_tallies ADD COLUMN conversions INTEGER NOT NULL DEFAULT 0;

-- Ads that are paid for by the conversion: what the conversions that have not come yet are likely to cost, and the hour of which that is the value.
ALTER TABLE ad_ledgers ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_ledgers ADD COLUMN awaited_hour INTEGER NOT NULL DEFAULT 0;

-- Conversions that a way back has set aside. Reports of their hours, which the version before may have calculated without them, are calculated again.
CREATE TABLE IF NOT EXISTS ad_kept_conversions AS SELECT * FROM ad_recordings LIMIT 0;
INSERT INTO ad_recordings SELECT * FROM ad_kept_conversions;
INSERT INTO ad_stale_hours SELECT DISTINCT at / 3600000000 * 3600000000 FROM ad_kept_conversions WHERE true ON CONFLICT DO NOTHING;
UPDATE ad_units SET conversions = kept.count
	FROM (SELECT unit, count(*) AS count FROM ad_kept_conversions WHERE due IS NULL AND invalid = '' GROUP BY unit) AS kept WHERE kept.unit = ad_units.id;
DROP TABLE ad_kept_conversions;

-- +goose Down

ALTER TABLE ad_ledgers DROP COLUMN awaited_hour;
ALTER TABLE ad_ledgers DROP COLUMN awaited;
-- The version before would take conversions for impressions. They are kept for the next upgrade: a token must not be charged again.
CREATE TABLE ad_kept_conversions AS SELECT * FROM ad_recordings WHERE kind = 'CONVERSION';
DELETE FROM ad_recordings WHERE kind = 'CONVERSION';
-- The version before would show ads that are paid for by the conversion at no cost, ahead of those that pay.
UPDATE ad_units SET state = 'PAUSED' WHERE bid_model = 'CPA' AND state = 'ACTIVE';
UPDATE ad_placements SET running = 0 WHERE unit IN (SELECT id FROM ad_units WHERE bid_model = 'CPA');
ALTER TABLE ad_tallies DROP COLUMN conversions;
ALTER TABLE ad_recordings DROP COLUMN days;
ALTER TABLE ad_units DROP COLUMN conversions;
ALTER TABLE ad_campaigns DROP COLUMN attribution;
