-- +goose Up

-- What profiles may have, and what users have filled in.

CREATE TABLE properties (
	id         BLOB PRIMARY KEY NOT NULL,
	key        TEXT NOT NULL UNIQUE,
	label      TEXT NOT NULL,
	type       TEXT NOT NULL,
	choices    TEXT NOT NULL, -- JSON list
	searchable INTEGER NOT NULL,
	visibility TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_values (
	user       BLOB NOT NULL,
	property   BLOB NOT NULL REFERENCES properties (id) ON DELETE CASCADE,
	visibility TEXT NOT NULL,
	value      ANY NOT NULL, -- what is compared: a text or a number
	text       TEXT,         -- as it was given, where that is another
	PRIMARY KEY (user, property)
) STRICT, WITHOUT ROWID;
CREATE INDEX profile_values_by_value ON profile_values (property, visibility, value, user);

-- +goose Down

DROP TABLE profile_values;
DROP TABLE properties;
