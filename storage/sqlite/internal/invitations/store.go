package invitations

import (
	"context"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

const columns = `id, inviter, max_uses, uses, created_at, expires_at`

var (
	insert  = sqldb.Define(`INSERT INTO invitations (` + columns + `) VALUES (?, ?, ?, ?, ?, ?)`)
	byID    = sqldb.Define(`SELECT ` + columns + ` FROM invitations WHERE id = ? AND expires_at > ?`)
	by      = sqldb.Define(`SELECT ` + columns + ` FROM invitations INDEXED BY invitations_by_inviter WHERE inviter IS ? AND expires_at > ?`)
	countBy = sqldb.Define(`SELECT count(*) FROM invitations INDEXED BY invitations_by_inviter WHERE inviter IS ? AND expires_at > ?`)
	use     = sqldb.Define(`UPDATE invitations SET uses = uses + 1 WHERE id = ? AND uses < max_uses AND expires_at > ?`)
	remove  = sqldb.Define(`DELETE FROM invitations WHERE id = ?`)
	unused  = sqldb.Define(`DELETE FROM invitations WHERE id = ? AND uses = 0`)
	ofUser  = sqldb.Define(`DELETE FROM invitations WHERE inviter = ?`)
	expired = sqldb.Define(`DELETE FROM invitations WHERE id IN (
		SELECT id FROM invitations INDEXED BY invitations_by_expiry WHERE expires_at <= ? LIMIT ?)`)
)

// Store implements social.Invitations on a file.
type Store struct {
	log    *eventlog.Log
	db     *sqldb.DB
	clock  func() time.Time
	refuse Refuse
}

// Refuse returns an error if a user may store nothing any more.
type Refuse func(tx sqldb.Reader, user social.UserID) error

var _ social.Invitations = (*Store)(nil)

// New returns the store for the invitations in a file.
func New(db *sqldb.DB, log *eventlog.Log, clock func() time.Time, refuse Refuse) *Store {
	return &Store{db: db, log: log, clock: clock, refuse: refuse}
}

// InsertInvitation implements social.Invitations.
func (s *Store) InsertInvitation(ctx context.Context, i social.Invitation, maximum int) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := s.mayInvite(tx, &i, maximum); err != nil {
			return err
		}
		_, err := tx.Exec(insert, i.ID.Bytes(), sqldb.OrNull(i.Inviter.ID), i.MaxUses, i.Uses, sqldb.Moment(i.CreatedAt), sqldb.Moment(i.ExpiresAt))
		return err
	})
}

// mayInvite returns the error of a user who can't have another invitation. Operators always can.
func (s *Store) mayInvite(tx sqldb.Reader, i *social.Invitation, maximum int) error {
	if i.Inviter.IsZero() {
		return nil
	}
	if err := s.refuse(tx, i.Inviter); err != nil {
		return err
	}
	return sqldb.MustHaveRoom(tx, maximum, countBy, i.Inviter.Bytes(), sqldb.Moment(i.CreatedAt))
}

// Invitation implements social.Invitations.
func (s *Store) Invitation(ctx context.Context, which social.InvitationID, now time.Time) (social.Invitation, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (social.Invitation, error) {
		return sqldb.One(tx, byID, scan, which.Bytes(), sqldb.Moment(now))
	})
}

// InvitationsBy implements social.Invitations.
func (s *Store) InvitationsBy(ctx context.Context, inviter social.UserID, now time.Time) ([]social.Invitation, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.Invitation, error) {
		return sqldb.All(tx, by, scan, sqldb.OrNull(inviter.ID), sqldb.Moment(now))
	})
}

func scan(into sqldb.Scan) (i social.Invitation, err error) {
	err = into(sqldb.Into(&i.ID.ID), sqldb.Into(&i.Inviter.ID), &i.MaxUses, &i.Uses, sqldb.IntoTime(&i.CreatedAt), sqldb.IntoTime(&i.ExpiresAt))
	return i, err
}

// DeleteInvitation implements social.Invitations.
func (s *Store) DeleteInvitation(ctx context.Context, which social.InvitationID, kind social.InvitationKind) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		statement := remove
		if kind == social.UnusedInvitations {
			statement = unused
		}
		rows, err := tx.Exec(statement, which.Bytes())
		return sqldb.Changed(rows, err, social.ErrNotFound)
	})
}

// Use counts the account that an invitation creates; a user without one needs none. Error:
// social.ErrInvitationOver.
func Use(tx *eventlog.Tx, u *social.NewUser) error {
	if u.Invitation.IsZero() {
		return nil
	}
	rows, err := tx.Exec(use, u.Invitation.Bytes(), sqldb.Moment(u.At))
	return sqldb.Changed(rows, err, social.ErrInvitationOver)
}

// Forget removes the invitations of a deleted user.
func Forget(tx *eventlog.Tx, user social.UserID) error {
	_, err := tx.Exec(ofUser, user.Bytes())
	return err
}

// Expire removes invitations that have expired.
func (s *Store) Expire(ctx context.Context) error {
	return s.db.DeleteAll(ctx, expired, sqldb.Moment(s.clock()))
}
