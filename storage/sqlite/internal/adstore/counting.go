package adstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	recordingsToCount = sqldb.Define(`SELECT choice, kind, unit, zone, at, profile, address, cost, lease, viewer, staff, shown_by, coalesce(days, 0)
		FROM ad_recordings WHERE choice IN (SELECT unhex(value) FROM json_each(?)) AND kind = ? AND due IS NOT NULL`)
	putOff          = sqldb.Define(`UPDATE ad_recordings SET due = ? WHERE choice = ? AND kind = ?`)
	countRecording  = sqldb.Define(`UPDATE ad_recordings SET campaign = ?, billed = ?, day = ?, invalid = ?, ` + noLongerWaiting + ` WHERE choice = ? AND kind = ?`)
	isWaiting       = sqldb.Define(`SELECT 1 FROM ad_recordings WHERE choice = ? AND kind = ? AND due IS NOT NULL`)
	dropRecording   = sqldb.Define(`DELETE FROM ad_recordings WHERE choice = ? AND kind = ?`)
	countedOf       = sqldb.Define(`SELECT invalid, at FROM ad_recordings WHERE choice = ? AND kind = ? AND due IS NULL`)
	clicksByProfile = sqldb.Define(`SELECT count(*) FROM ad_recordings WHERE profile = ?1 AND ` + clickBefore)
	clicksByAddress = sqldb.Define(`SELECT count(*) FROM ad_recordings WHERE address = ?1 AND ` + clickBefore)
	campaignOfUnit  = sqldb.Define(`SELECT campaign FROM ad_units WHERE id = ?`)
)

// Count implements ads.Recorder.
func (s *Store) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) (receipts []ads.Receipt, err error) {
	choices := make([]ads.ChoiceID, len(keys))
	for i := range keys {
		choices[i] = keys[i].Choice
	}
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		receipts = nil
		for _, kind := range ads.Kinds() {
			waiting, err := sqldb.All(tx, recordingsToCount, scanRecording, sqldb.HexList(choices), string(kind))
			if err != nil {
				return err
			}
			slices.SortFunc(waiting, ads.Recording.Compare)
			for i := range waiting {
				if err := countOne(tx, &waiting[i], now, &receipts); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return receipts, nil
}

// scanRecording reads what counting needs.
func scanRecording(scan sqldb.Scan) (r ads.Recording, err error) {
	var zone string
	var viewer ads.ProfileID
	err = scan(sqldb.Into(&r.Choice.ID), &r.Kind, sqldb.Into(&r.Unit.ID), &zone, sqldb.IntoTime(&r.At), sqldb.Into(&r.Profile.ID), sqldb.Into(&r.Address.ID),
		&r.Cost, sqldb.Into(&r.Lease.ID), sqldb.Into(&viewer.ID), &r.Staff, sqldb.IntoTime(&r.WaitUntil), &r.Days)
	if err == nil {
		r.Zone, err = ads.ParseZoneID(zone)
	}
	if r.Kind == ads.Impression {
		r.Profile = viewer
	}
	return r, err
}

// countOne counts a recording unless it waits for another one. An earlier recording of the same
// batch may have settled it already: see takeBackBurst.
func countOne(tx *sqldb.Tx, r *ads.Recording, now time.Time, receipts *[]ads.Receipt) error {
	if waits, err := tx.Exists(isWaiting, r.Choice.Bytes(), string(r.Kind)); err != nil || !waits {
		return err
	}
	evidence, err := readEvidence(tx, r)
	if err != nil {
		return err
	}
	verdict, waits := r.Judge(evidence, now)
	if waits {
		_, err := tx.Exec(putOff, sqldb.Moment(r.LookAgain(now)), r.Choice.Bytes(), string(r.Kind))
		return err
	}
	there, err := tx.Row(campaignOfUnit, []any{sqldb.Into(&r.Campaign.ID)}, r.Unit.Bytes())
	if err != nil || !there {
		_, gone := tx.Exec(dropRecording, r.Choice.Bytes(), string(r.Kind))
		return errors.Join(err, gone)
	}
	receipt := ads.Receipt{RecordingKey: r.Key(), Campaign: r.Campaign, Zone: r.Zone, Invalid: verdict}
	if err := settleRecording(tx, r, &receipt, evidence.Burst()); err != nil {
		return err
	}
	*receipts = append(*receipts, receipt)
	if !r.IsLate(now) {
		return nil
	}
	_, err = tx.Exec(staleHour, sqldb.Moment(r.At.Truncate(time.Hour)))
	return err
}

// settleRecording does everything that follows from the verdict on a recording.
func settleRecording(tx *sqldb.Tx, r *ads.Recording, receipt *ads.Receipt, burst bool) (err error) {
	var day string
	switch {
	case receipt.Invalid == "":
		if receipt.Billed, day, err = charge(tx, r.Campaign, r); err != nil {
			return err
		}
		err = countValid(tx, r)
	case receipt.Invalid == ads.TooMany && burst:
		err = takeBackBurst(tx, r)
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(countRecording, r.Campaign.Bytes(), int64(receipt.Billed), day, string(receipt.Invalid), r.Choice.Bytes(), string(r.Kind))
	return err
}

// readEvidence reads what a recording is judged by.
func readEvidence(tx sqldb.Reader, r *ads.Recording) (e ads.Evidence, err error) {
	before := r.Kind.Before()
	if before == "" {
		return e, nil
	}
	var invalid ads.Invalid
	if e.Arrived, err = tx.Row(countedOf, []any{&invalid, sqldb.IntoTime(&e.At)}, r.Choice.Bytes(), string(before)); err != nil {
		return e, err
	}
	e.Valid = e.Arrived && invalid == ""
	if !e.Valid || r.Kind != ads.Click {
		return e, nil
	}
	since, at, own := forgotten(r.At), sqldb.Moment(r.At), r.Choice.Bytes()
	if _, err := tx.Row(clicksByProfile, []any{&e.PersonClicks}, sqldb.OrNull(r.Profile.ID), since, at, own); err != nil {
		return e, err
	}
	_, err = tx.Row(clicksByAddress, []any{&e.AddressClicks}, sqldb.OrNull(r.Address.ID), since, at, own)
	return e, err
}

// countValid adds one to the unit's counters, and confirms what the person has seen.
func countValid(tx *sqldb.Tx, r *ads.Recording) error {
	if err := countBy(tx, r.Unit, r.Kind, 1); err != nil {
		return err
	}
	if r.Kind != ads.Impression || r.Profile.IsZero() {
		return nil
	}
	return confirm(tx, r.Profile, r.Choice)
}
