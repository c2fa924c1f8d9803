package sqlite

import (
	"context"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

const standingColumns = `sanction, sanction_until, sanction_reason, deactivated`

var (
	standingOf  = sqldb.Define(`SELECT ` + standingColumns + ` FROM users WHERE id = ?`)
	setStanding = sqldb.Define(`UPDATE users SET sanction = ?, sanction_until = ?, sanction_reason = ?, deactivated = ?, away = ? WHERE id = ?`)

	awayIdentity = sqldb.Define(`UPDATE identities SET away = 1, ended_at = max(ended_at, ?) WHERE key = ?`)
	awayNoMore   = sqldb.Define(`UPDATE identities SET away = 0 WHERE key = ?`)
)

// Leave implements social.Standings.
func (s *Store) Leave(ctx context.Context, user social.UserID, at time.Time, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		_, err := s.changeStanding(tx, user, at, e, func(before social.Standing) social.Standing {
			before.Left = true
			return before
		})
		return err
	})
}

// Return implements social.Standings.
func (s *Store) Return(ctx context.Context, user social.UserID, e social.Event) (did bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) (err error) {
		did, err = s.changeStanding(tx, user, time.Time{}, e, func(before social.Standing) social.Standing {
			before.Left = false
			return before
		})
		return err
	})
	return did && err == nil, err
}

// changeStanding changes the standing of a user at a time, as social.Standings says. False: it is
// the same as before.
func (s *Store) changeStanding(tx *eventlog.Tx, user social.UserID, at time.Time, e social.Event, change func(social.Standing) social.Standing) (bool, error) {
	found, err := sqldb.All(tx, standingOf, scanStanding, user.Bytes())
	if err != nil {
		return false, err
	}
	if len(found) == 0 {
		return false, social.ErrNotFound
	}
	after := change(found[0])
	if after == found[0] {
		return false, nil
	}
	isAway := social.IsAway(after)
	_, err = tx.Exec(setStanding, string(after.Sanction), sqldb.Moment(after.Until), after.Reason, after.Left, isAway, user.Bytes())
	if err == nil && isAway != social.IsAway(found[0]) {
		err = s.applyAway(tx, user, at, isAway)
	}
	if err != nil {
		return false, err
	}
	return true, tx.AppendWith(social.AroundChanged(user), e)
}

// applyAway changes what depends on whether an account is away.
func (s *Store) applyAway(tx *eventlog.Tx, user social.UserID, at time.Time, isAway bool) error {
	if !isAway {
		return changeIdentities(tx, user, awayNoMore)
	}
	if err := s.endSessions(tx, user, [32]byte{}, social.AllSessions); err != nil {
		return err
	}
	return changeIdentities(tx, user, awayIdentity, sqldb.Moment(at))
}

func scanStanding(scan sqldb.Scan) (found social.Standing, err error) {
	var until int64
	err = scan(&found.Sanction, &until, &found.Reason, &found.Left)
	found.Until = sqldb.MomentOf(until)
	return found, err
}
