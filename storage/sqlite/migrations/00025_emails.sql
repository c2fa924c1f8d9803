-- +goose Up
-- The e-mail addresses of users: social.Email; null: none. key is social.EmailKey of the confirmed address.

CREATE TABLE emails (
	user    BLOB PRIMARY KEY NOT NULL,
	address TEXT,
	key     TEXT,
	pending TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX emails_by_key ON emails (key, user) WHERE key IS NOT NULL;

-- Mails that are to be sent: social.Mail. Times are in Unix microseconds. Until due, a server that has taken the mail may be sending it.
CREATE TABLE mails (
	id         BLOB PRIMARY KEY NOT NULL,
	kind       TEXT NOT NULL,
	user       BLOB,
	account    TEXT NOT NULL,
	due        INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mails_by_due ON mails (due);
CREATE INDEX mails_by_user ON mails (user) WHERE user IS NOT NULL;
CREATE INDEX mails_by_expiry ON mails (expires_at);

-- social.MailToken. A void one still counts for the limit of mails, until it expires.
CREATE TABLE mail_tokens (
	hash       BLOB PRIMARY KEY NOT NULL,
	kind       TEXT NOT NULL,
	user       BLOB NOT NULL,
	address    TEXT NOT NULL,
	mail       BLOB NOT NULL,
	expires_at INTEGER NOT NULL,
	void       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_tokens_by_user ON mail_tokens (user, kind);
CREATE INDEX mail_tokens_by_expiry ON mail_tokens (expires_at);

-- The handles of deleted accounts, until others can take them. key is social.KeyOfLeftHandle; expires_at is in Unix microseconds.
CREATE TABLE left_handles (
	key        BLOB PRIMARY KEY NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX left_handles_by_expiry ON left_handles (expires_at);

-- +goose Down

DROP TABLE left_handles;

DROP TABLE mail_tokens;
DROP TABLE mails;
DROP TABLE emails;
