-- +goose Up

-- Ads. A zone is named by "site/name". Money is in micros of a currency.

CREATE TABLE ad_advertisers (
	id   BLOB PRIMARY KEY NOT NULL,
	name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ad_campaigns (
	id         BLOB PRIMARY KEY NOT NULL,
	advertiser BLOB NOT NULL REFERENCES ad_advertisers,
	name       TEXT NOT NULL,
	paused     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ad_zones (
	zone     TEXT PRIMARY KEY NOT NULL,
	currency TEXT NOT NULL,
	placed   INTEGER NOT NULL DEFAULT 0 -- units, running or not
) STRICT, WITHOUT ROWID;

CREATE TABLE ad_units (
	id           BLOB PRIMARY KEY NOT NULL,
	campaign     BLOB NOT NULL REFERENCES ad_campaigns,
	headline     TEXT NOT NULL,
	body         TEXT NOT NULL,
	image_url    TEXT NOT NULL,
	landing_url  TEXT NOT NULL,
	bid_model    TEXT NOT NULL,
	bid_price    INTEGER NOT NULL,
	bid_currency TEXT NOT NULL,
	impressions  INTEGER NOT NULL DEFAULT 0,
	clicks       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE ad_placements (
	unit     BLOB NOT NULL REFERENCES ad_units,
	position INTEGER NOT NULL, -- in the unit's list of zones
	zone     TEXT NOT NULL REFERENCES ad_zones,
	campaign BLOB NOT NULL,    -- the unit's
	ecpm     INTEGER NOT NULL, -- by the unit's bid and counters
	running  INTEGER NOT NULL, -- the campaign is not paused
	PRIMARY KEY (unit, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX ad_placements_running ON ad_placements (zone, ecpm DESC, unit) WHERE running = 1;
CREATE INDEX ad_placements_by_campaign ON ad_placements (campaign);

CREATE TABLE ad_recordings (
	choice     BLOB NOT NULL,
	kind       TEXT NOT NULL,
	unit       BLOB NOT NULL,
	zone       TEXT NOT NULL,
	at         INTEGER NOT NULL,
	keep_until INTEGER NOT NULL,
	PRIMARY KEY (choice, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX ad_recordings_by_end ON ad_recordings (keep_until);

CREATE TABLE ad_keys (
	name TEXT PRIMARY KEY NOT NULL,
	key  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down

DROP TABLE ad_keys;
DROP TABLE ad_recordings;
DROP TABLE ad_placements;
DROP TABLE ad_units;
DROP TABLE ad_zones;
DROP TABLE ad_campaigns;
DROP TABLE ad_advertisers;
