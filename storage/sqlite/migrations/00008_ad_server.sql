-- +goose Up

-- Ads: states, schedules, budgets, caps, keywords, profiles. Lists and schedules are JSON.

ALTER TABLE ad_advertisers ADD COLUMN caps TEXT NOT NULL DEFAULT '[]';
ALTER TABLE ad_advertisers ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;

ALTER TABLE ad_campaigns ADD COLUMN state TEXT NOT NULL DEFAULT 'ACTIVE';
UPDATE ad_campaigns SET state = 'PAUSED' WHERE paused = 1;
ALTER TABLE ad_campaigns DROP COLUMN paused;
ALTER TABLE ad_campaigns ADD COLUMN house INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_campaigns ADD COLUMN schedule TEXT NOT NULL DEFAULT '{}';
ALTER TABLE ad_campaigns ADD COLUMN budget_currency TEXT NOT NULL DEFAULT '';
ALTER TABLE ad_campaigns ADD COLUMN budget_total INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_campaigns ADD COLUMN budget_daily INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_campaigns ADD COLUMN budget_even INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_campaigns ADD COLUMN caps TEXT NOT NULL DEFAULT '[]';
ALTER TABLE ad_campaigns ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
CREATE INDEX ad_campaigns_by_advertiser ON ad_campaigns (advertiser, id);

ALTER TABLE ad_zones ADD COLUMN design TEXT NOT NULL DEFAULT 'ZONE';
ALTER TABLE ad_zones ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE ad_zones DROP COLUMN placed;

ALTER TABLE ad_units ADD COLUMN state TEXT NOT NULL DEFAULT 'ACTIVE';
ALTER TABLE ad_units ADD COLUMN keywords TEXT NOT NULL DEFAULT '[]';
ALTER TABLE ad_units ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_units ADD COLUMN caps TEXT NOT NULL DEFAULT '[]';
ALTER TABLE ad_units ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
CREATE INDEX ad_units_by_campaign ON ad_units (campaign, id);
CREATE INDEX ad_placements_by_zone ON ad_placements (zone, unit);

ALTER TABLE ad_recordings ADD COLUMN campaign BLOB NOT NULL DEFAULT x'';
ALTER TABLE ad_recordings ADD COLUMN billed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_recordings ADD COLUMN invalid TEXT NOT NULL DEFAULT '';
ALTER TABLE ad_recordings ADD COLUMN keywords TEXT NOT NULL DEFAULT '[]';
ALTER TABLE ad_recordings ADD COLUMN profile BLOB; -- of clicks, for their rate
ALTER TABLE ad_recordings ADD COLUMN address BLOB; -- the same
CREATE INDEX ad_recordings_by_profile ON ad_recordings (profile, at) WHERE profile IS NOT NULL;
CREATE INDEX ad_recordings_by_address ON ad_recordings (address, at) WHERE address IS NOT NULL;

CREATE TABLE ad_ledgers (
	campaign  BLOB PRIMARY KEY NOT NULL REFERENCES ad_campaigns,
	taken     INTEGER NOT NULL,
	spent     INTEGER NOT NULL,
	day       TEXT NOT NULL,
	day_taken INTEGER NOT NULL,
	day_spent INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ad_leases (
	id        BLOB PRIMARY KEY NOT NULL,
	campaign  BLOB NOT NULL REFERENCES ad_campaigns,
	amount    INTEGER NOT NULL,
	spent     INTEGER NOT NULL,
	day       TEXT NOT NULL,
	use_until INTEGER NOT NULL,
	settle_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ad_leases_by_end ON ad_leases (settle_at);

CREATE TABLE ad_sightings (
	profile BLOB NOT NULL,
	scope   BLOB NOT NULL, -- a unit, campaign or advertiser
	choice  BLOB NOT NULL,
	at      INTEGER NOT NULL,
	until   INTEGER NOT NULL,
	keep    INTEGER NOT NULL,
	PRIMARY KEY (profile, scope, choice)
) STRICT, WITHOUT ROWID;
CREATE INDEX ad_sightings_by_end ON ad_sightings (until);

CREATE INDEX ad_recordings_by_time ON ad_recordings (at);

-- What was recorded in an hour: of each unit in each zone, and, with a keyword, of each campaign.
CREATE TABLE ad_tallies (
	hour        INTEGER NOT NULL,
	campaign    BLOB NOT NULL,
	unit        BLOB NOT NULL, -- empty with a keyword
	zone        TEXT NOT NULL, -- the same
	keyword     TEXT NOT NULL, -- empty: none
	currency    TEXT NOT NULL,
	impressions INTEGER NOT NULL,
	clicks      INTEGER NOT NULL,
	invalid     INTEGER NOT NULL,
	spend       INTEGER NOT NULL,
	PRIMARY KEY (hour, campaign, unit, zone, keyword, currency)
) STRICT, WITHOUT ROWID;

CREATE TABLE ad_rollups (
	name  TEXT PRIMARY KEY NOT NULL,
	until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down

DROP TABLE ad_rollups;
DROP TABLE ad_tallies;
DROP INDEX ad_recordings_by_time;
DROP TABLE ad_sightings;
DROP TABLE ad_leases;
DROP TABLE ad_ledgers;
DROP INDEX ad_recordings_by_address;
DROP INDEX ad_recordings_by_profile;
ALTER TABLE ad_recordings DROP COLUMN address;
ALTER TABLE ad_recordings DROP COLUMN profile;
ALTER TABLE ad_recordings DROP COLUMN keywords;
ALTER TABLE ad_recordings DROP COLUMN invalid;
ALTER TABLE ad_recordings DROP COLUMN billed;
ALTER TABLE ad_recordings DROP COLUMN campaign;
DROP INDEX ad_placements_by_zone;
DROP INDEX ad_units_by_campaign;
ALTER TABLE ad_units DROP COLUMN revision;
ALTER TABLE ad_units DROP COLUMN caps;
ALTER TABLE ad_units DROP COLUMN weight;
ALTER TABLE ad_units DROP COLUMN keywords;
ALTER TABLE ad_units DROP COLUMN state;
ALTER TABLE ad_zones ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_zones DROP COLUMN revision;
ALTER TABLE ad_zones DROP COLUMN design;
DROP INDEX ad_campaigns_by_advertiser;
ALTER TABLE ad_campaigns DROP COLUMN revision;
ALTER TABLE ad_campaigns DROP COLUMN caps;
ALTER TABLE ad_campaigns DROP COLUMN budget_even;
ALTER TABLE ad_campaigns DROP COLUMN budget_daily;
ALTER TABLE ad_campaigns DROP COLUMN budget_total;
ALTER TABLE ad_campaigns DROP COLUMN budget_currency;
ALTER TABLE ad_campaigns DROP COLUMN schedule;
ALTER TABLE ad_campaigns DROP COLUMN house;
ALTER TABLE ad_campaigns ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
UPDATE ad_campaigns SET paused = 1 WHERE state <> 'ACTIVE';
ALTER TABLE ad_campaigns DROP COLUMN state;
ALTER TABLE ad_advertisers DROP COLUMN revision;
ALTER TABLE ad_advertisers DROP COLUMN caps;
