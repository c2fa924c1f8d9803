package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"plaza/ads"
)

var (
	adSightings      = define(`SELECT scope, choice, at, until, keep FROM ad_sightings WHERE profile = ?`)
	insertAdSighting = define(`INSERT INTO ad_sightings (profile, scope, choice, at, until, keep) VALUES (?, ?, ?, ?, ?, ?)`)
	// Each reservation also removes some expired ones, so that they never pile up.
	forgetSightings = define(`DELETE FROM ad_sightings WHERE (profile, scope, choice) IN
		(SELECT profile, scope, choice FROM ad_sightings WHERE until <= ? ORDER BY until LIMIT 10)`)
	forgetProfile    = define(`DELETE FROM ad_sightings WHERE profile = ?`)
	confirmSightings = define(`UPDATE ad_sightings SET until = keep WHERE profile = ? AND choice = ?`)
)

// reservations are those that wait for a transaction. Those that wait at the same time share one,
// because each must be on the disk before it is answered.
type reservations struct {
	turn chan struct{} // held by the waiting call that makes the transaction

	mu      sync.Mutex
	waiting []*reservation
}

type reservation struct {
	ads.Reservation

	done   chan struct{} // closed once the rest is known
	chosen []int
	err    error
}

func newReservations() *reservations { return &reservations{turn: make(chan struct{}, 1)} }

// Reserve implements ads.Profiles.
func (s adStore) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mine := &reservation{Reservation: r, done: make(chan struct{})}
	queue := s.file.reservations
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
func (s adStore) reserveAll(ctx context.Context) {
	queue := s.file.reservations
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
	err = s.file.update(ctx, func(w *work) (err error) {
		for _, r := range all {
			if r.chosen, err = w.reserve(r.Reservation); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *reservations) add(r *reservation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
}

func (q *reservations) take() []*reservation {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = nil
	return all
}

// remove cancels a reservation that still waits.
func (q *reservations) remove(r *reservation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(q.waiting, r); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
}

func (w *work) reserve(r ads.Reservation) ([]int, error) {
	if _, err := w.exec(forgetSightings, moment(r.Now)); err != nil {
		return nil, err
	}
	profile, err := w.adProfile(r.Profile)
	if err != nil {
		return nil, err
	}
	chosen := profile.Reserve(r)
	return chosen, w.insertSightings(r.Profile, added(&r, chosen))
}

// added returns the sightings of the chosen ads.
func added(r *ads.Reservation, chosen []int) (seen []ads.Sighting) {
	for _, i := range chosen {
		seen = append(seen, r.Candidates[i].Sightings(r.Now)...)
	}
	return seen
}

// ForgetProfile implements ads.Profiles.
func (s adStore) ForgetProfile(ctx context.Context, id ads.ProfileID) error {
	return s.file.update(ctx, func(w *work) error {
		_, err := w.exec(forgetProfile, id.Bytes())
		return err
	})
}

// Profile implements ads.Profiles.
func (s adStore) Profile(ctx context.Context, id ads.ProfileID) (*ads.Profile, error) {
	return read(ctx, s.file, func(w *work) (*ads.Profile, error) { return w.adProfile(id) })
}

func (w *work) adProfile(id ads.ProfileID) (*ads.Profile, error) {
	seen, err := all(w, adSightings, func(scan scan) (s ads.Sighting, err error) {
		err = scan(into(&s.Scope), into(&s.Choice.ID), scanTime{&s.At}, scanTime{&s.Until}, scanTime{&s.Keep})
		return s, err
	}, id.Bytes())
	return &ads.Profile{ID: id, Seen: seen}, err
}

// confirm makes a choice count for a person's caps for as long as the caps need it.
func (w *work) confirm(profile ads.ProfileID, choice ads.ChoiceID) error {
	_, err := w.exec(confirmSightings, profile.Bytes(), choice.Bytes())
	return err
}

// forgotten is the time before which clicks no longer count for click rates.
func forgotten(at time.Time) int64 { return moment(at.Add(-ads.ClickWindow)) }

// ImportAdProfiles stores profiles that do not exist yet, about a thousand at a time.
func (s *Store) ImportAdProfiles(ctx context.Context, profiles []ads.Profile) error {
	return s.update(ctx, func(w *work) error {
		for i := range profiles {
			if err := w.insertSightings(profiles[i].ID, profiles[i].Seen); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *work) insertSightings(of ads.ProfileID, all []ads.Sighting) error {
	for _, seen := range all {
		_, err := w.exec(insertAdSighting, of.Bytes(), seen.Scope.Bytes(), seen.Choice.Bytes(), moment(seen.At), moment(seen.Until), moment(seen.Keep))
		if err != nil {
			return err
		}
	}
	return nil
}
