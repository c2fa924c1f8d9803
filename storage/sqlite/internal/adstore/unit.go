package adstore

import (
	"context"
	"errors"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

const adUnitColumns = `id, campaign, headline, body, image_url, landing_url, bid_model, bid_price, bid_currency,
	state, keywords, keyword_weights, weight, caps, created_at, revision, impressions, clicks, conversions`

var (
	insertAdUnit = sqldb.Define(`INSERT INTO ad_units (headline, body, image_url, landing_url, bid_model, bid_price, bid_currency,
		state, keywords, keyword_weights, weight, caps, created_at, id, campaign) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	replaceAdUnit = sqldb.Define(`UPDATE ad_units SET headline = ?, body = ?, image_url = ?, landing_url = ?,
		bid_model = ?, bid_price = ?, bid_currency = ?, state = ?, keywords = ?, keyword_weights = ?, weight = ?, caps = ?,
		created_at = coalesce(?, created_at), revision = revision + 1
		WHERE id = ? AND revision = ?`)
	adUnitsByID      = sqldb.Define(`SELECT ` + adUnitColumns + ` FROM ad_units WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	adUnitsPage      = sqldb.DefineDirected(`SELECT ` + adUnitColumns + ` FROM ad_units WHERE campaign = ?4 AND id > ?1 AND id < ?2 ORDER BY id $order LIMIT ?3`)
	placementsByUnit = sqldb.Define(`SELECT unit, zone FROM ad_placements
		WHERE unit IN (SELECT unhex(value) FROM json_each(?)) ORDER BY unit, position`)

	deletePlacements = sqldb.Define(`DELETE FROM ad_placements WHERE unit = ?`)
	insertPlacement  = sqldb.Define(`INSERT INTO ad_placements (unit, position, zone, campaign, ecpm, running)
		VALUES (?, ?, ?, ?, ?, ?)`)
	placedInZone = sqldb.Define(`SELECT count(*) FROM ad_placements p CROSS JOIN ad_units u ON u.id = p.unit
		WHERE p.zone = ? AND u.state <> 'ARCHIVED'`)
	// otherMates looks for units of a campaign none of which has a new unit's currency.
	otherMates = sqldb.Define(`SELECT 1 FROM ad_units WHERE campaign = ?1 AND id <> ?2
		AND NOT EXISTS (SELECT 1 FROM ad_units WHERE campaign = ?1 AND id <> ?2 AND bid_currency = ?3)`)
	countUnit = sqldb.Define(`UPDATE ad_units SET impressions = impressions + ?, clicks = clicks + ?, conversions = conversions + ? WHERE id = ?
		RETURNING bid_model, bid_price, bid_currency, impressions, clicks, conversions`)
	movePlacements = sqldb.Define(`UPDATE ad_placements SET ecpm = ?1 WHERE unit = ?2 AND ecpm <> ?1`)
)

func saveUnit(tx *sqldb.Tx, u *ads.Unit) (saved bool, err error) {
	values := []any{
		u.Headline, u.Body, u.ImageURL, u.LandingURL, string(u.Bid.Model), int64(u.Bid.Price), string(u.Bid.Currency),
		string(u.State), asJSON(append([]string{}, u.Keywords...)), keywordWeightRows(u.KeywordWeights), u.Weight, capRows(u.Caps),
		createdColumn(u.CreatedAt, u.ID.ID), u.ID.Bytes(),
	}
	if u.Revision == 0 {
		saved, err = insert(tx, insertAdUnit, append(values, u.Campaign.Bytes())...)
	} else {
		saved, err = replace(tx, replaceAdUnit, append(values, u.Revision)...)
	}
	if err != nil || !saved {
		return false, err
	}
	if u.Revision == 0 {
		if other, err := tx.Exists(otherMates, u.Campaign.Bytes(), u.ID.Bytes(), string(u.Bid.Currency)); err != nil || other {
			return false, orCurrency(err)
		}
	}
	units, err := readUnits(tx, []ads.UnitID{u.ID})
	if err != nil {
		return false, err
	}
	stored := units[u.ID] // with its counters and campaign
	stored.Zones = u.Zones
	return true, placeUnit(tx, stored)
}

// placeUnit puts a stored unit into its zones, and removes it from all others.
func placeUnit(tx *sqldb.Tx, u *ads.Unit) error {
	campaigns, err := readCampaigns(tx, []ads.CampaignID{u.Campaign})
	if err != nil {
		return err
	}
	c := campaigns[u.Campaign]
	if c.Budget.Limited() && c.Budget.Currency != u.Bid.Currency {
		return ads.ErrCurrency
	}
	if _, err := tx.Exec(deletePlacements, u.ID.Bytes()); err != nil {
		return err
	}
	running := u.State == ads.Active && c.State == ads.Active
	for i, id := range u.Zones {
		zone, err := readZone(tx, id)
		if err != nil {
			return err
		}
		if zone.Currency != u.Bid.Currency {
			return ads.ErrCurrency
		}
		_, err = tx.Exec(insertPlacement, u.ID.Bytes(), i, id.String(), u.Campaign.Bytes(), int64(u.ECPM()), running)
		if err != nil {
			return err
		}
		if err := checkRoom(tx, id); err != nil {
			return err
		}
	}
	return nil
}

func checkRoom(tx sqldb.Reader, zone ads.ZoneID) error {
	var placed int
	_, err := tx.Row(placedInZone, []any{&placed}, zone.String())
	if err == nil && placed > ads.MaxZoneUnits {
		err = ads.ErrFull
	}
	return err
}

// Units implements ads.Catalogue.
func (s *Store) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[ads.UnitID]*ads.Unit, error) { return readUnits(tx, ids) })
}

func readUnits(tx sqldb.Reader, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	units, err := sqldb.ByKey(tx, adUnitsByID, func(scan sqldb.Scan) (ads.UnitID, *ads.Unit, error) {
		u, err := scanAdUnit(scan)
		return u.ID, u, err
	}, sqldb.HexList(ids))
	if err != nil {
		return nil, err
	}
	return units, readPlacements(tx, units, ids)
}

func readPlacements(tx sqldb.Reader, units map[ads.UnitID]*ads.Unit, ids []ads.UnitID) error {
	return tx.Each(placementsByUnit, func(scan sqldb.Scan) (bool, error) {
		return true, scanPlacement(scan, units)
	}, sqldb.HexList(ids))
}

// ListUnits implements ads.Catalogue.
func (s *Store) ListUnits(ctx context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Unit, error) {
	low, high, sp := spanOf(p, rawKey, sqldb.TopKey)
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*ads.Unit, error) {
		list, err := sqldb.All(tx, adUnitsPage.Along(sp), scanAdUnit, low, high, sp.Limit, of.Bytes())
		if err != nil {
			return nil, err
		}
		units, ids := map[ads.UnitID]*ads.Unit{}, make([]ads.UnitID, len(list))
		for i, u := range list {
			units[u.ID], ids[i] = u, u.ID
		}
		return sqldb.InListOrder(sp, list), readPlacements(tx, units, ids)
	})
}

func scanAdUnit(scan sqldb.Scan) (*ads.Unit, error) {
	u, keywords, weights, caps := &ads.Unit{}, "", "", ""
	err := scan(sqldb.Into(&u.ID.ID), sqldb.Into(&u.Campaign.ID), &u.Headline, &u.Body, &u.ImageURL, &u.LandingURL,
		&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.State, &keywords, &weights, &u.Weight, &caps, sqldb.IntoTime(&u.CreatedAt),
		&u.Revision, &u.Impressions, &u.Clicks, &u.Conversions)
	if err != nil {
		return u, err
	}
	u.CreatedAt = ads.Creation(u.CreatedAt, u.ID.ID)
	return u, errors.Join(readKeywords(keywords, &u.Keywords), readKeywordWeights(weights, &u.KeywordWeights), readCaps(caps, &u.Caps))
}

func scanPlacement(scan sqldb.Scan, units map[ads.UnitID]*ads.Unit) error {
	var unit ads.UnitID
	var text string
	if err := scan(sqldb.Into(&unit.ID), &text); err != nil {
		return err
	}
	zone, err := ads.ParseZoneID(text)
	if err != nil {
		return err
	}
	units[unit].Zones = append(units[unit].Zones, zone)
	return nil
}

// countBy adds to one of a unit's counters, and updates the unit's position in its zones.
func countBy(tx *sqldb.Tx, unit ads.UnitID, kind ads.Kind, by int) error {
	more := map[ads.Kind]int{kind: by}
	var u ads.Unit
	counted := []any{&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.Impressions, &u.Clicks, &u.Conversions}
	if err := sqldb.Known(tx.Row(countUnit, counted, more[ads.Impression], more[ads.Click], more[ads.Conversion], unit.Bytes())); err != nil {
		return err
	}
	_, err := tx.Exec(movePlacements, int64(u.ECPM()), unit.Bytes())
	return err
}
