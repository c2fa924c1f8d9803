package sqlite

import (
	"context"
	"database/sql"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	emailOf        = sqldb.Define(`SELECT address, pending FROM emails WHERE user = ?`)
	usersWithEmail = sqldb.Define(`SELECT user FROM emails INDEXED BY emails_by_key WHERE key = ? ORDER BY user LIMIT ?`)
	putPending     = sqldb.Define(`INSERT INTO emails (user, pending) VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET pending = excluded.pending`)
	confirmEmail   = sqldb.Define(`UPDATE emails SET address = pending, key = ?, pending = NULL WHERE user = ? AND pending = ?`)
	deleteEmail    = sqldb.Define(`DELETE FROM emails WHERE user = ?`)

	insertMailToken   = sqldb.Define(`INSERT INTO mail_tokens (hash, kind, user, address, mail, expires_at) VALUES (?, ?, ?, ?, ?, ?)`)
	mailToken         = sqldb.Define(`SELECT hash, kind, user, address, mail, expires_at FROM mail_tokens WHERE hash = ? AND kind = ? AND void = 0 AND expires_at > ?`)
	useMailToken      = sqldb.Define(`UPDATE mail_tokens SET void = 1 WHERE hash = ? AND user = ? AND kind = 'RESET' AND void = 0 AND expires_at > ?`)
	voidMailTokens    = sqldb.Define(`UPDATE mail_tokens SET void = 1 WHERE user = ? AND kind = ?`)
	replaceMailTokens = sqldb.Define(`DELETE FROM mail_tokens WHERE user = ? AND kind = ? AND mail = ?`)
	countOtherTokens  = sqldb.Define(`SELECT count(*) FROM mail_tokens INDEXED BY mail_tokens_by_user WHERE user = ? AND kind = ? AND mail <> ? AND expires_at > ?`)
	deleteMailTokens  = sqldb.Define(`DELETE FROM mail_tokens WHERE user = ?`)
	expiredMailTokens = sqldb.Define(`DELETE FROM mail_tokens WHERE hash IN (
		SELECT hash FROM mail_tokens INDEXED BY mail_tokens_by_expiry WHERE expires_at <= ? LIMIT ?)`)
)

// Email implements social.Emails.
func (s *Store) Email(ctx context.Context, user social.UserID) (social.Email, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (social.Email, error) { return readEmail(tx, user) })
}

func readEmail(tx sqldb.Reader, user social.UserID) (social.Email, error) {
	var address, pending sql.NullString
	_, err := tx.Row(emailOf, []any{&address, &pending}, user.Bytes())
	return social.Email{Address: address.String, Pending: pending.String}, err
}

// UsersWithEmail implements social.Emails.
func (s *Store) UsersWithEmail(ctx context.Context, key string, limit int) ([]social.UserID, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.UserID, error) {
		return sqldb.All(tx, usersWithEmail, func(scan sqldb.Scan) (user social.UserID, err error) {
			err = scan(sqldb.Into(&user.ID))
			return user, err
		}, key, limit)
	})
}

// SetEmail implements social.Emails.
func (s *Store) SetEmail(ctx context.Context, user social.UserID, pending string, m social.Mail) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, user, social.ErrAccountGone); err != nil {
			return err
		}
		if _, err := tx.Exec(putPending, user.Bytes(), pending); err != nil {
			return err
		}
		return addMail(tx, m)
	})
}

// RemoveEmail implements social.Emails.
func (s *Store) RemoveEmail(ctx context.Context, user social.UserID) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if _, err := tx.Exec(deleteEmail, user.Bytes()); err != nil {
			return err
		}
		return voidAllMailTokens(tx, user)
	})
}

func voidAllMailTokens(tx *eventlog.Tx, user social.UserID) error {
	for _, kind := range []social.MailKind{social.MailConfirm, social.MailReset} {
		if _, err := tx.Exec(voidMailTokens, user.Bytes(), string(kind)); err != nil {
			return err
		}
	}
	return nil
}

// ConfirmEmail implements social.Emails.
func (s *Store) ConfirmEmail(ctx context.Context, tokenHash [32]byte, now time.Time) (social.UserID, error) {
	var user social.UserID
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		t, err := readMailToken(tx, tokenHash, social.MailConfirm, now)
		if err != nil {
			return err
		}
		rows, err := tx.Exec(confirmEmail, social.EmailKey(t.Address), t.User.Bytes(), t.Address)
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		user = t.User
		return voidAllMailTokens(tx, user)
	})
	return user, err
}

// MailToken implements social.Emails.
func (s *Store) MailToken(ctx context.Context, hash [32]byte, kind social.MailKind, now time.Time) (social.MailToken, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (social.MailToken, error) { return readMailToken(tx, hash, kind, now) })
}

func readMailToken(tx sqldb.Reader, hash [32]byte, kind social.MailKind, now time.Time) (social.MailToken, error) {
	return sqldb.One(tx, mailToken, func(scan sqldb.Scan) (t social.MailToken, err error) {
		var raw []byte
		err = scan(&raw, &t.Kind, sqldb.Into(&t.User.ID), &t.Address, sqldb.Into(&t.Mail.ID), sqldb.IntoTime(&t.ExpiresAt))
		copy(t.Hash[:], raw)
		return t, err
	}, hash[:], string(kind), sqldb.Moment(now))
}

// IssueMailToken implements social.Emails.
func (s *Store) IssueMailToken(ctx context.Context, t social.MailToken, most int, now time.Time) (issued bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		issued = false
		email, err := readEmail(tx, t.User)
		if err != nil {
			return err
		}
		if t.Address != email.For(t.Kind) {
			return social.ErrNotFound
		}
		user, kind := t.User.Bytes(), string(t.Kind)
		var others int
		if _, err := tx.Row(countOtherTokens, []any{&others}, user, kind, t.Mail.Bytes(), sqldb.Moment(now)); err != nil || others >= most {
			return err
		}
		if _, err := tx.Exec(replaceMailTokens, user, kind, t.Mail.Bytes()); err != nil {
			return err
		}
		if _, err := tx.Exec(voidMailTokens, user, kind); err != nil {
			return err
		}
		_, err = tx.Exec(insertMailToken, t.Hash[:], kind, user, t.Address, t.Mail.Bytes(), sqldb.Moment(t.ExpiresAt))
		issued = err == nil
		return err
	})
	return issued && err == nil, err
}

// useResetToken uses up the token of a change of a password, and makes the user's other ones void.
func useResetToken(tx *eventlog.Tx, c social.PasswordChange) error {
	if c.Reset != [32]byte{} {
		rows, err := tx.Exec(useMailToken, c.Reset[:], c.User.Bytes(), sqldb.Moment(c.At))
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
	}
	_, err := tx.Exec(voidMailTokens, c.User.Bytes(), string(social.MailReset))
	return err
}

// forgetEmail removes a deleted user's addresses, and the tokens that were sent there.
func forgetEmail(tx *eventlog.Tx, user social.UserID) error {
	if _, err := tx.Exec(deleteEmail, user.Bytes()); err != nil {
		return err
	}
	if _, err := tx.Exec(deleteMailsOf, user.Bytes()); err != nil {
		return err
	}
	_, err := tx.Exec(deleteMailTokens, user.Bytes())
	return err
}
