-- +goose Up

-- Ads: refunds, and how much was asked for.

ALTER TABLE ad_recordings ADD COLUMN day TEXT NOT NULL DEFAULT '';         -- whose budget it was charged to
ALTER TABLE ad_recordings ADD COLUMN refunded INTEGER NOT NULL DEFAULT 0;  -- what had been billed
ALTER TABLE ad_recordings ADD COLUMN refund BLOB;                          -- which one it was; none: it was judged anew
CREATE INDEX ad_recordings_billed ON ad_recordings (campaign, at) WHERE billed > 0;

ALTER TABLE ad_tallies ADD COLUMN refunded INTEGER NOT NULL DEFAULT 0;

-- Hours that have tallies of before a refund.
CREATE TABLE ad_stale_hours (
	hour INTEGER PRIMARY KEY NOT NULL
) STRICT;

CREATE TABLE ad_refunds (
	id       BLOB PRIMARY KEY NOT NULL,
	campaign BLOB NOT NULL REFERENCES ad_campaigns,
	unit     BLOB,           -- these choose, where they are there
	choice   BLOB,
	kind     TEXT NOT NULL,
	person   BLOB,
	address  BLOB,
	from_at  INTEGER NOT NULL,
	to_at    INTEGER NOT NULL,
	most     INTEGER NOT NULL,
	by_user  TEXT NOT NULL,
	reason   TEXT NOT NULL,
	begun    INTEGER NOT NULL,
	count    INTEGER NOT NULL,
	amount   INTEGER NOT NULL,
	done     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ad_refunds_by_campaign ON ad_refunds (campaign, id);
CREATE INDEX ad_refunds_open ON ad_refunds (done, id) WHERE done = 0;

-- How many ads were asked for, chosen and shown: what one server has counted in an hour.
CREATE TABLE ad_traffic (
	id       BLOB PRIMARY KEY NOT NULL,
	zone     TEXT NOT NULL,
	currency TEXT NOT NULL,
	hour     INTEGER NOT NULL,
	asked    INTEGER NOT NULL,
	filled   INTEGER NOT NULL,
	shown    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ad_traffic_by_zone ON ad_traffic (zone, hour);
CREATE INDEX ad_traffic_by_hour ON ad_traffic (hour);

-- +goose Down

DROP TABLE ad_traffic;
DROP TABLE ad_refunds;
DROP TABLE ad_stale_hours;
ALTER TABLE ad_tallies DROP COLUMN refunded;
DROP INDEX ad_recordings_billed;
ALTER TABLE ad_recordings DROP COLUMN refund;
ALTER TABLE ad_recordings DROP COLUMN refunded;
ALTER TABLE ad_recordings DROP COLUMN day;
