-- +goose Up

-- Ads that are paid for by the click: what the clicks that have not come yet are likely to cost, and the minute of which that is the value.
ALTER TABLE ad_ledgers ADD COLUMN expected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_ledgers ADD COLUMN faded INTEGER NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE ad_ledgers DROP COLUMN faded;
ALTER TABLE ad_ledgers DROP COLUMN expected;
