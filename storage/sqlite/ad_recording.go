package sqlite

import (
	"context"
	"errors"
	"slices"
	"time"

	"plaza/ads"
)

var (
	insertRecording = define(`INSERT INTO ad_recordings (choice, kind, unit, campaign, zone, at, keep_until, keywords, profile, address,
		due, cost, lease, viewer, staff, shown_by, days) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	waitingRecordings = define(`SELECT kind, choice, campaign FROM ad_recordings WHERE due <= ? ORDER BY due LIMIT ?`)
	recordingsToCount = define(`SELECT choice, kind, unit, zone, at, profile, address, cost, lease, viewer, staff, shown_by, coalesce(days, 0)
		FROM ad_recordings WHERE choice IN (SELECT unhex(value) FROM json_each(?)) AND kind = ? AND due IS NOT NULL`)
	putOff          = define(`UPDATE ad_recordings SET due = ? WHERE choice = ? AND kind = ?`)
	countRecording  = define(`UPDATE ad_recordings SET campaign = ?, billed = ?, day = ?, invalid = ?, ` + noLongerWaiting + ` WHERE choice = ? AND kind = ?`)
	isWaiting       = define(`SELECT 1 FROM ad_recordings WHERE choice = ? AND kind = ? AND due IS NOT NULL`)
	dropRecording   = define(`DELETE FROM ad_recordings WHERE choice = ? AND kind = ?`)
	countedOf       = define(`SELECT invalid, at FROM ad_recordings WHERE choice = ? AND kind = ? AND due IS NULL`)
	clicksByProfile = define(`SELECT count(*) FROM ad_recordings WHERE profile = ?1 AND ` + clickBefore)
	clicksByAddress = define(`SELECT count(*) FROM ad_recordings WHERE address = ?1 AND ` + clickBefore)
	countUnit       = define(`UPDATE ad_units SET impressions = impressions + ?, clicks = clicks + ?, conversions = conversions + ? WHERE id = ?
		RETURNING bid_model, bid_price, bid_currency, impressions, clicks, conversions`)
	movePlacements = define(`UPDATE ad_placements SET ecpm = ?1 WHERE unit = ?2 AND ecpm <> ?1`)
	campaignOfUnit = define(`SELECT campaign FROM ad_units WHERE id = ?`)
	// Each recording also removes two old ones, so that they never pile up.
	forgetRecordings = define(`DELETE FROM ad_recordings WHERE (choice, kind) IN
		(SELECT choice, kind FROM ad_recordings WHERE keep_until < ? ORDER BY keep_until LIMIT 2)`)
)

const (
	noLongerWaiting = `due = NULL, cost = NULL, lease = NULL, viewer = NULL, staff = NULL, shown_by = NULL, days = NULL`
	// clickBefore selects the clicks that count for the rate of a click: earlier ones, and counted
	// ones of the same moment.
	clickBefore = `kind = 'CLICK' AND at > ?2 AND at <= ?3 AND (at < ?3 OR due IS NULL) AND choice <> ?4`
)

// Record implements ads.Recorder.
func (s adStore) Record(ctx context.Context, r ads.Recording) (recorded bool, err error) {
	err = s.file.update(ctx, func(w *work) error {
		recorded, err = w.record(&r)
		return err
	})
	return recorded && err == nil, err
}

func (w *work) record(r *ads.Recording) (bool, error) {
	if _, err := w.exec(forgetRecordings, moment(r.At)); err != nil {
		return false, err
	}
	var profile, address, viewer any
	if r.Kind == ads.Impression {
		viewer = orNull(r.Profile.ID)
	} else {
		profile, address = orNull(r.Profile.ID), orNull(r.Address.ID)
	}
	rows, err := w.exec(insertRecording, r.Choice.Bytes(), string(r.Kind), r.Unit.Bytes(), r.Campaign.Bytes(), r.Zone.String(),
		moment(r.At), moment(r.KeepUntil), asJSON(append([]string{}, r.Keywords...)), profile, address,
		moment(r.At), int64(r.Cost), orNull(r.Lease.ID), viewer, r.Staff, moment(r.WaitUntil), r.Days)
	return rows == 1, err
}

// Waiting implements ads.Recorder.
func (s adStore) Waiting(ctx context.Context, due time.Time) ([]ads.Waiting, error) {
	return read(ctx, s.file, func(w *work) ([]ads.Waiting, error) {
		return all(w, waitingRecordings, func(scan scan) (each ads.Waiting, err error) {
			err = scan(&each.Kind, into(&each.Choice.ID), into(&each.Campaign.ID))
			return each, err
		}, moment(due), ads.MaxCounted)
	})
}

// Count implements ads.Recorder.
func (s adStore) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) (receipts []ads.Receipt, err error) {
	choices := make([]ads.ChoiceID, len(keys))
	for i := range keys {
		choices[i] = keys[i].Choice
	}
	err = s.file.update(ctx, func(w *work) error {
		receipts = nil
		for _, kind := range ads.Kinds() {
			waiting, err := all(w, recordingsToCount, scanRecording, hexList(choices), string(kind))
			if err != nil {
				return err
			}
			slices.SortFunc(waiting, ads.Recording.Compare)
			for i := range waiting {
				if err := w.countOne(&waiting[i], now, &receipts); err != nil {
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
func scanRecording(scan scan) (r ads.Recording, err error) {
	var zone string
	var viewer ads.ProfileID
	err = scan(into(&r.Choice.ID), &r.Kind, into(&r.Unit.ID), &zone, scanTime{&r.At}, into(&r.Profile.ID), into(&r.Address.ID),
		&r.Cost, into(&r.Lease.ID), into(&viewer.ID), &r.Staff, scanTime{&r.WaitUntil}, &r.Days)
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
func (w *work) countOne(r *ads.Recording, now time.Time, receipts *[]ads.Receipt) error {
	if waits, err := w.exists(isWaiting, r.Choice.Bytes(), string(r.Kind)); err != nil || !waits {
		return err
	}
	evidence, err := w.evidence(r)
	if err != nil {
		return err
	}
	verdict, waits := r.Judge(evidence, now)
	if waits {
		_, err := w.exec(putOff, moment(r.LookAgain(now)), r.Choice.Bytes(), string(r.Kind))
		return err
	}
	there, err := w.row(campaignOfUnit, []any{into(&r.Campaign.ID)}, r.Unit.Bytes())
	if err != nil || !there {
		_, gone := w.exec(dropRecording, r.Choice.Bytes(), string(r.Kind))
		return errors.Join(err, gone)
	}
	receipt := ads.Receipt{RecordingKey: r.Key(), Campaign: r.Campaign, Zone: r.Zone, Invalid: verdict}
	if err := w.settleRecording(r, &receipt, evidence.Burst()); err != nil {
		return err
	}
	*receipts = append(*receipts, receipt)
	if !r.IsLate(now) {
		return nil
	}
	_, err = w.exec(staleHour, moment(r.At.Truncate(time.Hour)))
	return err
}

// settleRecording does all that follows from the verdict on a recording.
func (w *work) settleRecording(r *ads.Recording, receipt *ads.Receipt, burst bool) (err error) {
	var day string
	switch {
	case receipt.Invalid == "":
		if receipt.Billed, day, err = w.charge(r.Campaign, r); err != nil {
			return err
		}
		err = w.count(r)
	case receipt.Invalid == ads.TooMany && burst:
		err = w.takeBackBurst(r)
	}
	if err != nil {
		return err
	}
	_, err = w.exec(countRecording, r.Campaign.Bytes(), int64(receipt.Billed), day, string(receipt.Invalid), r.Choice.Bytes(), string(r.Kind))
	return err
}

// evidence reads what a recording is judged by.
func (w *work) evidence(r *ads.Recording) (e ads.Evidence, err error) {
	before := r.Kind.Before()
	if before == "" {
		return e, nil
	}
	var invalid ads.Invalid
	if e.Arrived, err = w.row(countedOf, []any{&invalid, scanTime{&e.At}}, r.Choice.Bytes(), string(before)); err != nil {
		return e, err
	}
	e.Valid = e.Arrived && invalid == ""
	if !e.Valid || r.Kind != ads.Click {
		return e, nil
	}
	since, at, own := forgotten(r.At), moment(r.At), r.Choice.Bytes()
	if _, err := w.row(clicksByProfile, []any{&e.PersonClicks}, orNull(r.Profile.ID), since, at, own); err != nil {
		return e, err
	}
	_, err = w.row(clicksByAddress, []any{&e.AddressClicks}, orNull(r.Address.ID), since, at, own)
	return e, err
}

// count adds one to the unit's counters, and confirms what the person has seen.
func (w *work) count(r *ads.Recording) error {
	if err := w.countBy(r.Unit, r.Kind, 1); err != nil {
		return err
	}
	if r.Kind != ads.Impression || r.Profile.IsZero() {
		return nil
	}
	return w.confirm(r.Profile, r.Choice)
}

// countBy adds to one of a unit's counters, and updates the unit's position in its zones.
func (w *work) countBy(unit ads.UnitID, kind ads.Kind, by int) error {
	more := map[ads.Kind]int{kind: by}
	var u ads.Unit
	counted := []any{&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.Impressions, &u.Clicks, &u.Conversions}
	if err := known(w.row(countUnit, counted, more[ads.Impression], more[ads.Click], more[ads.Conversion], unit.Bytes())); err != nil {
		return err
	}
	_, err := w.exec(movePlacements, int64(u.ECPM()), unit.Bytes())
	return err
}
