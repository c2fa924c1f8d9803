-- +goose Up

-- Ads: weights of single keywords. JSON: [{"keyword": "anvil", "weight": 5}], sorted.
ALTER TABLE ad_units ADD COLUMN keyword_weights TEXT NOT NULL DEFAULT '[]';

-- +goose Down

ALTER TABLE ad_units DROP COLUMN keyword_weights;
