package adstore

import (
	"context"
	"errors"
	"time"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	adSightings      = sqldb.Define(`SELECT scope, choice, at, until, keep FROM ad_sightings WHERE profile = ?`)
	insertAdSighting = sqldb.Define(`INSERT INTO ad_sightings (profile, scope, choice, at, until, keep) VALUES (?, ?, ?, ?, ?, ?)`)
	// Each reservation also removes some expired ones, so that they never pile up.
	forgetSightings = sqldb.Define(`DELETE FROM ad_sightings WHERE (profile, scope, choice) IN
		(SELECT profile, scope, choice FROM ad_sightings WHERE until <= ? ORDER BY until LIMIT 10)`)
	forgetProfile  = sqldb.Define(`DELETE FROM ad_sightings WHERE profile = ?`)
	forgetRecorded = sqldb.Define(`UPDATE ad_recordings SET profile = NULL WHERE (choice, kind) IN
		(SELECT choice, kind FROM ad_recordings INDEXED BY ad_recordings_by_profile WHERE profile = ? LIMIT ?)`)
	confirmSightings = sqldb.Define(`UPDATE ad_sightings SET until = keep WHERE profile = ? AND choice = ?`)
)

// Reserve implements ads.Profiles.
func (s *Store) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mine := &reservation{Reservation: r, done: make(chan struct{})}
	queue := s.reservations
	queue.add(mine)
	defer queue.remove(mine)
	for {
		select {
		case <-mine.done:
			return mine.chosen, mine.err
		case <-ctx.Done():
			return nil, ctx.Err()
		case queue.turn <- struct{}{}:
			go s.reserveAll(context.WithoutCancel(ctx)) // the others' reservations must not fail when this caller leaves
		}
	}
}

var errNotReserved = errors.New("the reservation was not made")

// reserveAll makes all waiting reservations in one transaction; if that fails, it makes none.
func (s *Store) reserveAll(ctx context.Context) {
	queue := s.reservations
	defer func() { <-queue.turn }()
	all, err := queue.take(), errNotReserved
	if len(all) == 0 {
		return
	}
	defer func() {
		for _, r := range all {
			if err != nil {
				r.chosen, r.err = nil, err
			}
			close(r.done)
		}
	}()
	err = s.db.Update(ctx, func(tx *sqldb.Tx) (err error) {
		for _, r := range all {
			if r.chosen, err = reserve(tx, r.Reservation); err != nil {
				return err
			}
		}
		return nil
	})
}

func reserve(tx *sqldb.Tx, r ads.Reservation) ([]int, error) {
	if _, err := tx.Exec(forgetSightings, sqldb.Moment(r.Now)); err != nil {
		return nil, err
	}
	profile, err := readProfile(tx, r.Profile)
	if err != nil {
		return nil, err
	}
	chosen := profile.Reserve(r)
	return chosen, insertSightings(tx, r.Profile, added(&r, chosen))
}

// added returns the sightings of the chosen ads.
func added(r *ads.Reservation, chosen []int) (seen []ads.Sighting) {
	for _, i := range chosen {
		seen = append(seen, r.Candidates[i].Sightings(r.Now)...)
	}
	return seen
}

// ForgetUser implements ads.Profiles.
func (s *Store) ForgetUser(ctx context.Context, user string) (left bool, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		left, err = ForgetUser(tx, user)
		return err
	})
	return left && err == nil, err
}

// ForgetUser does the same in a transaction.
func ForgetUser(tx *sqldb.Tx, user string) (left bool, err error) {
	var key []byte
	if known, err := tx.Row(adKey, []any{&key}); err != nil || !known {
		return false, err
	}
	person := ads.UserProfile(key, user)
	if _, err := tx.Exec(forgetProfile, person.Bytes()); err != nil {
		return false, err
	}
	rows, err := tx.Exec(forgetRecorded, person.Bytes(), ads.MaxForgotten)
	return rows == ads.MaxForgotten, err
}

// Profile implements ads.Profiles.
func (s *Store) Profile(ctx context.Context, id ads.ProfileID) (*ads.Profile, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (*ads.Profile, error) { return readProfile(tx, id) })
}

func readProfile(tx sqldb.Reader, id ads.ProfileID) (*ads.Profile, error) {
	seen, err := sqldb.All(tx, adSightings, func(scan sqldb.Scan) (s ads.Sighting, err error) {
		err = scan(sqldb.Into(&s.Scope), sqldb.Into(&s.Choice.ID), sqldb.IntoTime(&s.At), sqldb.IntoTime(&s.Until), sqldb.IntoTime(&s.Keep))
		return s, err
	}, id.Bytes())
	return &ads.Profile{ID: id, Seen: seen}, err
}

// confirm makes a choice count for a person's caps for as long as the caps need it.
func confirm(tx *sqldb.Tx, profile ads.ProfileID, choice ads.ChoiceID) error {
	_, err := tx.Exec(confirmSightings, profile.Bytes(), choice.Bytes())
	return err
}

// forgotten is the time before which clicks no longer count for click rates.
func forgotten(at time.Time) int64 { return sqldb.Moment(at.Add(-ads.ClickWindow)) }

// ImportProfiles stores profiles that do not exist yet, about a thousand at a time.
func (s *Store) ImportProfiles(ctx context.Context, profiles []ads.Profile) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		for i := range profiles {
			if err := insertSightings(tx, profiles[i].ID, profiles[i].Seen); err != nil {
				return err
			}
		}
		return nil
	})
}

func insertSightings(tx *sqldb.Tx, of ads.ProfileID, all []ads.Sighting) error {
	for _, seen := range all {
		_, err := tx.Exec(insertAdSighting, of.Bytes(), seen.Scope.Bytes(), seen.Choice.Bytes(), sqldb.Moment(seen.At), sqldb.Moment(seen.Until), sqldb.Moment(seen.Keep))
		if err != nil {
			return err
		}
	}
	return nil
}
