package sqlite

import (
	"context"
	"errors"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertMail    = sqldb.Define(`INSERT INTO mails (id, kind, user, account, due, expires_at) VALUES (?, ?, ?, ?, 0, ?)`)
	dueMail       = sqldb.Define(`SELECT id, kind, user, account, expires_at FROM mails INDEXED BY mails_by_due WHERE due <= ?1 AND expires_at > ?1 ORDER BY due LIMIT 1`)
	takeMail      = sqldb.Define(`UPDATE mails SET due = ? WHERE id = ?`)
	deleteMail    = sqldb.Define(`DELETE FROM mails WHERE id = ?`)
	deleteMailsOf = sqldb.Define(`DELETE FROM mails WHERE user = ?`)
	expiredMails  = sqldb.Define(`DELETE FROM mails WHERE id IN (SELECT id FROM mails INDEXED BY mails_by_expiry WHERE expires_at <= ? LIMIT ?)`)
)

// QueueMail implements social.Emails.
func (s *Store) QueueMail(ctx context.Context, m social.Mail) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error { return addMail(tx, m) })
}

func addMail(tx *eventlog.Tx, m social.Mail) error {
	_, err := tx.Exec(insertMail, m.ID.Bytes(), string(m.Kind), sqldb.OrNull(m.User.ID), m.Account, sqldb.Moment(m.ExpiresAt))
	return err
}

// TakeMail implements social.Emails. It writes only if a mail is due.
func (s *Store) TakeMail(ctx context.Context, now, until time.Time) (m social.Mail, err error) {
	if _, err := sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (social.Mail, error) { return readDueMail(tx, now) }); err != nil {
		return social.Mail{}, err
	}
	err = s.log.Update(ctx, func(tx *eventlog.Tx) (err error) {
		if m, err = readDueMail(tx, now); err != nil {
			return err
		}
		_, err = tx.Exec(takeMail, sqldb.Moment(until), m.ID.Bytes())
		return err
	})
	return m, err
}

func readDueMail(tx sqldb.Reader, now time.Time) (social.Mail, error) {
	return sqldb.One(tx, dueMail, func(scan sqldb.Scan) (m social.Mail, err error) {
		err = scan(sqldb.Into(&m.ID.ID), &m.Kind, sqldb.Into(&m.User.ID), &m.Account, sqldb.IntoTime(&m.ExpiresAt))
		return m, err
	}, sqldb.Moment(now))
}

// EndMail implements social.Emails.
func (s *Store) EndMail(ctx context.Context, mail social.MailID) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		_, err := tx.Exec(deleteMail, mail.Bytes())
		return err
	})
}

// expireMail removes mails that were never sent, and tokens, that have expired.
func (s *Store) expireMail(ctx context.Context) error {
	now := sqldb.Moment(s.clock())
	return errors.Join(s.db.DeleteAll(ctx, expiredMails, now), s.db.DeleteAll(ctx, expiredMailTokens, now))
}
