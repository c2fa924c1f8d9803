-- +goose Up
-- What was reported: social.Case. id is that of the subject. sort is its Order; reasons are the counts of its reports, as JSON.

CREATE TABLE cases (
	id       BLOB PRIMARY KEY NOT NULL,
	kind     TEXT NOT NULL,
	author   BLOB NOT NULL,
	state    TEXT NOT NULL,
	sort     BLOB NOT NULL,
	reasons  TEXT NOT NULL,
	first_at INTEGER NOT NULL,
	last_at  INTEGER NOT NULL,

	decisions     INTEGER NOT NULL, -- how many there have been
	held_audience TEXT,             -- of a hidden post: its audience before, and its circles, as in posts
	held_circles  BLOB
) STRICT;
CREATE INDEX cases_by_state ON cases (state, sort);
CREATE INDEX cases_by_author ON cases (author);

-- social.Report. sort is that of the case when the report was made.
CREATE TABLE reports (
	case_id  BLOB NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	reporter BLOB NOT NULL,
	sort     BLOB NOT NULL,
	reason   TEXT NOT NULL,
	text     TEXT NOT NULL,
	at       INTEGER NOT NULL,
	PRIMARY KEY (case_id, reporter)
) STRICT, WITHOUT ROWID;
CREATE INDEX reports_by_opening ON reports (sort, at);
CREATE INDEX reports_by_reporter ON reports (reporter, at);

-- social.Decision: the audit log. subject is the id of the case.
CREATE TABLE decisions (
	id        BLOB PRIMARY KEY NOT NULL,
	subject   BLOB NOT NULL,
	kind      TEXT NOT NULL,
	author    BLOB NOT NULL,
	moderator BLOB NOT NULL,
	action    TEXT NOT NULL,
	reason    TEXT NOT NULL,
	at        INTEGER NOT NULL,
	told      INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_told ON decisions (author, id) WHERE told = 1;

-- +goose Down

-- Versions before this one can't restore a hidden post: its author alone sees it, on the author's own wall.
UPDATE posts SET audience = 'ONLY_ME', wall_owner = author, revision = revision + 1 WHERE audience = 'HIDDEN';
DROP TABLE decisions;

DROP TABLE reports;
DROP TABLE cases;
