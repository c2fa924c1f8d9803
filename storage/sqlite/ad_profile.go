package sqlite

import (
	"context"
	"time"

	"plaza/ads"
)

var (
	adSightings      = define(`SELECT scope, choice, at, until, keep FROM ad_sightings WHERE profile = ?`)
	insertAdSighting = define(`INSERT INTO ad_sightings (profile, scope, choice, at, until, keep) VALUES (?, ?, ?, ?, ?, ?)`)
	// Each reservation takes some old ones along, so that they never pile up.
	forgetSightings = define(`DELETE FROM ad_sightings WHERE (profile, scope, choice) IN
		(SELECT profile, scope, choice FROM ad_sightings WHERE until <= ? ORDER BY until LIMIT 10)`)
	forgetProfile    = define(`DELETE FROM ad_sightings WHERE profile = ?`)
	confirmSightings = define(`UPDATE ad_sightings SET until = keep WHERE profile = ? AND choice = ?`)
)

// Reserve implements ads.Profiles.
func (s adStore) Reserve(ctx context.Context, r ads.Reservation) (chosen []int, err error) {
	err = s.file.update(ctx, func(w *work) error {
		chosen, err = w.reserve(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return chosen, nil
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
	for _, seen := range added(&r, chosen) {
		_, err := w.exec(insertAdSighting, r.Profile.Bytes(), seen.Scope.Bytes(), seen.Choice.Bytes(),
			moment(seen.At), moment(seen.Until), moment(seen.Keep))
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// added are the sightings of what was chosen.
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

// confirm makes a person's caps count a choice for as long as they need it.
func (w *work) confirm(profile ads.ProfileID, choice ads.ChoiceID) error {
	_, err := w.exec(confirmSightings, profile.Bytes(), choice.Bytes())
	return err
}

// forgotten is how long ago a click no longer counts for click rates.
func forgotten(at time.Time) int64 { return moment(at.Add(-ads.ClickWindow)) }
