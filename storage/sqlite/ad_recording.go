package sqlite

import (
	"context"

	"plaza/ads"
)

var (
	insertRecording = define(`INSERT INTO ad_recordings (choice, kind, unit, campaign, zone, at, keep_until,
		billed, day, invalid, keywords, profile, address) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	recordingExists = define(`SELECT 1 FROM ad_recordings WHERE choice = ? AND kind = ?`)
	validRecording  = define(`SELECT 1 FROM ad_recordings WHERE choice = ? AND kind = 'IMPRESSION' AND invalid = ''`)
	clicksByProfile = define(`SELECT count(*) FROM ad_recordings WHERE profile = ? AND at > ?`)
	clicksByAddress = define(`SELECT count(*) FROM ad_recordings WHERE address = ? AND at > ?`)
	countRecording  = define(`UPDATE ad_units SET impressions = impressions + ?, clicks = clicks + ? WHERE id = ?
		RETURNING bid_model, bid_price, bid_currency, impressions, clicks`)
	movePlacements = define(`UPDATE ad_placements SET ecpm = ?1 WHERE unit = ?2 AND ecpm <> ?1`)
	campaignOfUnit = define(`SELECT campaign FROM ad_units WHERE id = ?`)
	// Each recording takes two old ones along, so that they never pile up.
	forgetRecordings = define(`DELETE FROM ad_recordings WHERE (choice, kind) IN
		(SELECT choice, kind FROM ad_recordings WHERE keep_until < ? ORDER BY keep_until LIMIT 2)`)
)

// Record implements ads.Recorder.
func (s adStore) Record(ctx context.Context, r ads.Recording) (receipt ads.Receipt, err error) {
	err = s.file.update(ctx, func(w *work) error {
		receipt, err = w.record(&r)
		return err
	})
	if err != nil {
		return ads.Receipt{}, err
	}
	return receipt, nil
}

func (w *work) record(r *ads.Recording) (ads.Receipt, error) {
	if _, err := w.exec(forgetRecordings, moment(r.At)); err != nil {
		return ads.Receipt{}, err
	}
	if before, err := w.exists(recordingExists, r.Choice.Bytes(), string(r.Kind)); err != nil || before {
		return ads.Receipt{}, err
	}
	var campaign ads.CampaignID
	if err := known(w.row(campaignOfUnit, []any{into(&campaign.ID)}, r.Unit.Bytes())); err != nil {
		return ads.Receipt{}, err
	}
	evidence, err := w.evidence(r)
	if err != nil {
		return ads.Receipt{}, err
	}
	receipt, day := ads.Receipt{Recorded: true, Invalid: r.Judge(evidence)}, ""
	switch {
	case receipt.Invalid == "":
		if receipt.Billed, day, err = w.charge(campaign, r); err != nil {
			return ads.Receipt{}, err
		}
		err = w.count(r)
	case receipt.Invalid == ads.TooMany && evidence.Burst():
		err = w.takeBackBurst(r)
	}
	if err != nil {
		return ads.Receipt{}, err
	}
	return receipt, w.insertRecording(campaign, r, receipt, day)
}

func (w *work) insertRecording(campaign ads.CampaignID, r *ads.Recording, receipt ads.Receipt, day string) error {
	var profile, address any
	if r.Kind == ads.Click {
		profile, address = orNull(r.Profile.ID), orNull(r.Address.ID)
	}
	_, err := w.exec(insertRecording, r.Choice.Bytes(), string(r.Kind), r.Unit.Bytes(), campaign.Bytes(), r.Zone.String(),
		moment(r.At), moment(r.KeepUntil), int64(receipt.Billed), day, string(receipt.Invalid), asJSON(append([]string{}, r.Keywords...)), profile, address)
	return err
}

// evidence is what a click is judged by.
func (w *work) evidence(r *ads.Recording) (e ads.Evidence, err error) {
	if r.Kind != ads.Click {
		return e, nil
	}
	if e.Shown, err = w.exists(validRecording, r.Choice.Bytes()); err != nil {
		return e, err
	}
	if _, err := w.row(clicksByProfile, []any{&e.PersonClicks}, orNull(r.Profile.ID), forgotten(r.At)); err != nil {
		return e, err
	}
	_, err = w.row(clicksByAddress, []any{&e.AddressClicks}, orNull(r.Address.ID), forgotten(r.At))
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

// countBy adds to one of a unit's counters, and moves the unit in its zones.
func (w *work) countBy(unit ads.UnitID, kind ads.Kind, by int) error {
	impressions, clicks := by, 0
	if kind == ads.Click {
		impressions, clicks = 0, by
	}
	var u ads.Unit
	counted := []any{&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.Impressions, &u.Clicks}
	if err := known(w.row(countRecording, counted, impressions, clicks, unit.Bytes())); err != nil {
		return err
	}
	_, err := w.exec(movePlacements, int64(u.ECPM()), unit.Bytes())
	return err
}
