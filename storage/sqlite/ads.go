package sqlite

import (
	"context"
	"errors"

	"github.com/ncruces/go-sqlite3"

	"plaza/ads"
)

var (
	insertAdvertiser = define(`INSERT INTO ad_advertisers (id, name) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	insertCampaign   = define(`INSERT INTO ad_campaigns (id, advertiser, name, paused) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`)
	insertAdZone   = define(`INSERT INTO ad_zones (zone, currency) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	adZoneCurrency = define(`SELECT currency FROM ad_zones WHERE zone = ?`)
	insertAdUnit   = define(`INSERT INTO ad_units (id, campaign, headline, body, image_url, landing_url,
		bid_model, bid_price, bid_currency) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	growAdZone      = define(`UPDATE ad_zones SET placed = placed + 1 WHERE zone = ? RETURNING currency, placed`)
	insertPlacement = define(`INSERT INTO ad_placements (unit, position, zone, campaign, ecpm, running)
		SELECT ?, ?, ?, id, ?, 1 - paused FROM ad_campaigns WHERE id = ?`)

	setPaused      = define(`UPDATE ad_campaigns SET paused = ?1 WHERE id = ?2 AND paused <> ?1`)
	campaignExists = define(`SELECT 1 FROM ad_campaigns WHERE id = ?`)
	setRunning     = define(`UPDATE ad_placements SET running = ? WHERE campaign = ?`)

	advertisersByID = define(`SELECT id, name FROM ad_advertisers
		WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	campaignsByID = define(`SELECT id, advertiser, name, paused FROM ad_campaigns
		WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	adUnitsByID = define(`SELECT id, campaign, headline, body, image_url, landing_url,
		bid_model, bid_price, bid_currency, impressions, clicks FROM ad_units
		WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	placementsByUnit = define(`SELECT unit, zone FROM ad_placements
		WHERE unit IN (SELECT unhex(value) FROM json_each(?)) ORDER BY unit, position`)
	runningInZone = define(`SELECT u.id, u.campaign, a.name, u.headline, u.body, u.image_url, u.landing_url, p.ecpm
		FROM ad_placements p CROSS JOIN ad_units u ON u.id = p.unit
		CROSS JOIN ad_campaigns c ON c.id = u.campaign CROSS JOIN ad_advertisers a ON a.id = c.advertiser
		WHERE p.zone = ? AND p.running = 1 ORDER BY p.ecpm DESC, p.unit`)

	insertRecording = define(`INSERT INTO ad_recordings (choice, kind, unit, zone, at, keep_until)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	countRecording = define(`UPDATE ad_units SET impressions = impressions + ?, clicks = clicks + ? WHERE id = ?
		RETURNING bid_model, bid_price, bid_currency, impressions, clicks`)
	movePlacements = define(`UPDATE ad_placements SET ecpm = ?1 WHERE unit = ?2 AND ecpm <> ?1`)
	// Each recording takes two old ones along, so that they never pile up.
	forgetRecordings = define(`DELETE FROM ad_recordings WHERE (choice, kind) IN
		(SELECT choice, kind FROM ad_recordings WHERE keep_until < ? ORDER BY keep_until LIMIT 2)`)

	insertAdKey = define(`INSERT INTO ad_keys (name, key) VALUES ('signing', ?) ON CONFLICT DO NOTHING`)
	adKey       = define(`SELECT key FROM ad_keys WHERE name = 'signing'`)
)

// adStore is the file as an ads.Store.
type adStore struct{ file *Store }

// Ads is the file as the ad domain sees it. It lives as long as the Store does.
func (s *Store) Ads() ads.Store { return adStore{s} }

// Add implements ads.Catalogue.
func (s adStore) Add(ctx context.Context, b ads.Batch) (added int, err error) {
	err = s.file.update(ctx, func(w *work) error {
		added, err = w.addAds(&b)
		return err
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

func (w *work) addAds(b *ads.Batch) (added int, err error) {
	for _, add := range []func() (int, error){
		func() (int, error) { return addEach(b.Advertisers, w.addAdvertiser) },
		func() (int, error) { return addEach(b.Campaigns, w.addCampaign) },
		func() (int, error) { return addEach(b.Zones, w.addAdZone) },
		func() (int, error) { return addEach(b.Units, w.addAdUnit) },
	} {
		n, err := add()
		if err != nil {
			return 0, err
		}
		added += n
	}
	return added, nil
}

func addEach[T any](entries []T, add func(*T) (bool, error)) (added int, err error) {
	for i := range entries {
		stored, err := add(&entries[i])
		if err != nil {
			return 0, err
		}
		if stored {
			added++
		}
	}
	return added, nil
}

func (w *work) addAdvertiser(a *ads.Advertiser) (bool, error) {
	return w.insertAd(insertAdvertiser, a.ID.Bytes(), a.Name)
}

func (w *work) addCampaign(c *ads.Campaign) (bool, error) {
	return w.insertAd(insertCampaign, c.ID.Bytes(), c.Advertiser.Bytes(), c.Name, c.Paused)
}

func (w *work) addAdZone(z *ads.Zone) (bool, error) {
	added, err := w.insertAd(insertAdZone, z.ID.String(), string(z.Currency))
	if err != nil || added {
		return added, err
	}
	var currency ads.Currency
	_, err = w.row(adZoneCurrency, []any{&currency}, z.ID.String())
	if err == nil && currency != z.Currency {
		err = ads.ErrCurrency
	}
	return false, err
}

func (w *work) addAdUnit(u *ads.Unit) (bool, error) {
	added, err := w.insertAd(insertAdUnit, u.ID.Bytes(), u.Campaign.Bytes(), u.Headline, u.Body, u.ImageURL, u.LandingURL,
		string(u.Bid.Model), int64(u.Bid.Price), string(u.Bid.Currency))
	if err != nil || !added {
		return false, err
	}
	for i, zone := range u.Zones {
		if err := w.placeAdUnit(u, i, zone.String()); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (w *work) placeAdUnit(u *ads.Unit, position int, zone string) error {
	var currency ads.Currency
	var placed int
	found, err := w.row(growAdZone, []any{&currency, &placed}, zone)
	switch {
	case err != nil:
		return err
	case !found:
		return ads.ErrNotFound
	case currency != u.Bid.Currency:
		return ads.ErrCurrency
	case placed > ads.MaxZoneUnits:
		return ads.ErrFull
	}
	_, err = w.exec(insertPlacement, u.ID.Bytes(), position, zone, int64(u.ECPM()), u.Campaign.Bytes())
	return err
}

// insertAd stores a row unless its key exists. A foreign key that leads nowhere is ads.ErrNotFound.
func (w *work) insertAd(st *statement, args ...any) (added bool, err error) {
	rows, err := w.exec(st, args...)
	if errors.Is(err, sqlite3.CONSTRAINT_FOREIGNKEY) {
		err = ads.ErrNotFound
	}
	return rows == 1, err
}

// PauseCampaign implements ads.Catalogue.
func (s adStore) PauseCampaign(ctx context.Context, id ads.CampaignID) (bool, error) {
	return s.setPaused(ctx, id, true)
}

// ResumeCampaign implements ads.Catalogue.
func (s adStore) ResumeCampaign(ctx context.Context, id ads.CampaignID) (bool, error) {
	return s.setPaused(ctx, id, false)
}

func (s adStore) setPaused(ctx context.Context, id ads.CampaignID, paused bool) (changed bool, err error) {
	err = s.file.update(ctx, func(w *work) error {
		rows, err := w.exec(setPaused, paused, id.Bytes())
		if err != nil {
			return err
		}
		if changed = rows == 1; changed {
			_, err = w.exec(setRunning, !paused, id.Bytes())
			return err
		}
		return known(w.exists(campaignExists, id.Bytes()))
	})
	return changed && err == nil, err
}

// Advertisers implements ads.Catalogue.
func (s adStore) Advertisers(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	return read(ctx, s.file, func(w *work) (map[ads.AdvertiserID]*ads.Advertiser, error) {
		return byKey(w, advertisersByID, func(scan scan) (ads.AdvertiserID, *ads.Advertiser, error) {
			a := &ads.Advertiser{}
			err := scan(into(&a.ID.ID), &a.Name)
			return a.ID, a, err
		}, hexList(ids))
	})
}

// Campaigns implements ads.Catalogue.
func (s adStore) Campaigns(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	return read(ctx, s.file, func(w *work) (map[ads.CampaignID]*ads.Campaign, error) {
		return byKey(w, campaignsByID, func(scan scan) (ads.CampaignID, *ads.Campaign, error) {
			c := &ads.Campaign{}
			err := scan(into(&c.ID.ID), into(&c.Advertiser.ID), &c.Name, &c.Paused)
			return c.ID, c, err
		}, hexList(ids))
	})
}

// Units implements ads.Catalogue.
func (s adStore) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	return read(ctx, s.file, func(w *work) (map[ads.UnitID]*ads.Unit, error) {
		units, err := byKey(w, adUnitsByID, scanAdUnit, hexList(ids))
		if err != nil {
			return nil, err
		}
		return units, w.each(placementsByUnit, func(scan scan) (bool, error) {
			return true, scanPlacement(scan, units)
		}, hexList(ids))
	})
}

func scanAdUnit(scan scan) (ads.UnitID, *ads.Unit, error) {
	u := &ads.Unit{}
	err := scan(into(&u.ID.ID), into(&u.Campaign.ID), &u.Headline, &u.Body, &u.ImageURL, &u.LandingURL,
		&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.Impressions, &u.Clicks)
	return u.ID, u, err
}

func scanPlacement(scan scan, units map[ads.UnitID]*ads.Unit) error {
	var unit ads.UnitID
	var text string
	if err := scan(into(&unit.ID), &text); err != nil {
		return err
	}
	zone, err := ads.ParseZoneID(text)
	if err != nil {
		return err
	}
	units[unit].Zones = append(units[unit].Zones, zone)
	return nil
}

// Zone implements ads.Zones.
func (s adStore) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	return read(ctx, s.file, func(w *work) (*ads.Zone, error) {
		zone := &ads.Zone{ID: id}
		err := known(w.row(adZoneCurrency, []any{&zone.Currency}, id.String()))
		if err != nil {
			return nil, err
		}
		zone.Units, err = all(w, runningInZone, scanRunning, id.String())
		return zone, err
	})
}

func scanRunning(scan scan) (ads.RunningUnit, error) {
	var r ads.RunningUnit
	err := scan(into(&r.Unit.ID), into(&r.Campaign.ID), &r.Advertiser,
		&r.Headline, &r.Body, &r.ImageURL, &r.LandingURL, &r.ECPM)
	return r, err
}

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
	rows, err := w.exec(insertRecording, r.Choice.Bytes(), string(r.Kind), r.Unit.Bytes(), r.Zone.String(),
		moment(r.At), moment(r.KeepUntil))
	if err != nil || rows == 0 {
		return false, err
	}
	impressions, clicks := 1, 0
	if r.Kind == ads.Click {
		impressions, clicks = 0, 1
	}
	var u ads.Unit
	counted := []any{&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.Impressions, &u.Clicks}
	if err := known(w.row(countRecording, counted, impressions, clicks, r.Unit.Bytes())); err != nil {
		return false, err
	}
	_, err = w.exec(movePlacements, int64(u.ECPM()), r.Unit.Bytes())
	return err == nil, err
}

// SigningKey implements ads.Keys.
func (s adStore) SigningKey(ctx context.Context, fresh []byte) (key []byte, err error) {
	err = s.file.update(ctx, func(w *work) error {
		if _, err := w.exec(insertAdKey, fresh); err != nil {
			return err
		}
		_, err := w.row(adKey, []any{&key})
		return err
	})
	return key, err
}
