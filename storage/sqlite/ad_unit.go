package sqlite

import (
	"context"
	"errors"

	"plaza/ads"
)

const adUnitColumns = `id, campaign, headline, body, image_url, landing_url, bid_model, bid_price, bid_currency,
	state, keywords, keyword_weights, weight, caps, revision, impressions, clicks, conversions`

var (
	insertAdUnit = define(`INSERT INTO ad_units (headline, body, image_url, landing_url, bid_model, bid_price, bid_currency,
		state, keywords, keyword_weights, weight, caps, id, campaign) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	replaceAdUnit = define(`UPDATE ad_units SET headline = ?, body = ?, image_url = ?, landing_url = ?,
		bid_model = ?, bid_price = ?, bid_currency = ?, state = ?, keywords = ?, keyword_weights = ?, weight = ?, caps = ?, revision = revision + 1
		WHERE id = ? AND revision = ?`)
	adUnitsByID      = define(`SELECT ` + adUnitColumns + ` FROM ad_units WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	adUnitsPage      = defineDirected(`SELECT ` + adUnitColumns + ` FROM ad_units WHERE campaign = ?4 AND id > ?1 AND id < ?2 ORDER BY id $order LIMIT ?3`)
	placementsByUnit = define(`SELECT unit, zone FROM ad_placements
		WHERE unit IN (SELECT unhex(value) FROM json_each(?)) ORDER BY unit, position`)

	deletePlacements = define(`DELETE FROM ad_placements WHERE unit = ?`)
	insertPlacement  = define(`INSERT INTO ad_placements (unit, position, zone, campaign, ecpm, running)
		VALUES (?, ?, ?, ?, ?, ?)`)
	placedInZone = define(`SELECT count(*) FROM ad_placements p CROSS JOIN ad_units u ON u.id = p.unit
		WHERE p.zone = ? AND u.state <> 'ARCHIVED'`)
)

func (w *work) saveAdUnit(u *ads.Unit) (saved bool, err error) {
	values := []any{
		u.Headline, u.Body, u.ImageURL, u.LandingURL, string(u.Bid.Model), int64(u.Bid.Price), string(u.Bid.Currency),
		string(u.State), asJSON(append([]string{}, u.Keywords...)), keywordWeightRows(u.KeywordWeights), u.Weight, capRows(u.Caps), u.ID.Bytes(),
	}
	if u.Revision == 0 {
		saved, err = w.insertAd(insertAdUnit, append(values, u.Campaign.Bytes())...)
	} else {
		saved, err = w.replaceAd(replaceAdUnit, append(values, u.Revision)...)
	}
	if err != nil || !saved {
		return false, err
	}
	units, err := w.adUnits([]ads.UnitID{u.ID})
	if err != nil {
		return false, err
	}
	stored := units[u.ID] // with its counters and campaign
	stored.Zones = u.Zones
	return true, w.placeAdUnit(stored)
}

// placeAdUnit puts a stored unit into its zones, and removes it from all others.
func (w *work) placeAdUnit(u *ads.Unit) error {
	campaigns, err := w.campaigns([]ads.CampaignID{u.Campaign})
	if err != nil {
		return err
	}
	c := campaigns[u.Campaign]
	if c.Budget.Limited() && c.Budget.Currency != u.Bid.Currency {
		return ads.ErrCurrency
	}
	if _, err := w.exec(deletePlacements, u.ID.Bytes()); err != nil {
		return err
	}
	running := u.State == ads.Active && c.State == ads.Active
	for i, id := range u.Zones {
		zone, err := w.adZone(id)
		if err != nil {
			return err
		}
		if zone.Currency != u.Bid.Currency {
			return ads.ErrCurrency
		}
		_, err = w.exec(insertPlacement, u.ID.Bytes(), i, id.String(), u.Campaign.Bytes(), int64(u.ECPM()), running)
		if err != nil {
			return err
		}
		if err := w.checkRoom(id); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) checkRoom(zone ads.ZoneID) error {
	var placed int
	_, err := w.row(placedInZone, []any{&placed}, zone.String())
	if err == nil && placed > ads.MaxZoneUnits {
		err = ads.ErrFull
	}
	return err
}

// Units implements ads.Catalogue.
func (s adStore) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	return read(ctx, s.file, func(w *work) (map[ads.UnitID]*ads.Unit, error) { return w.adUnits(ids) })
}

func (w *work) adUnits(ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	units, err := byKey(w, adUnitsByID, func(scan scan) (ads.UnitID, *ads.Unit, error) {
		u, err := scanAdUnit(scan)
		return u.ID, u, err
	}, hexList(ids))
	if err != nil {
		return nil, err
	}
	return units, w.readPlacements(units, ids)
}

func (w *work) readPlacements(units map[ads.UnitID]*ads.Unit, ids []ads.UnitID) error {
	return w.each(placementsByUnit, func(scan scan) (bool, error) {
		return true, scanPlacement(scan, units)
	}, hexList(ids))
}

// ListUnits implements ads.Catalogue.
func (s adStore) ListUnits(ctx context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Unit, error) {
	low, high, sp := adSpan(p, rawKey, topKey)
	return read(ctx, s.file, func(w *work) ([]*ads.Unit, error) {
		list, err := all(w, adUnitsPage.along(sp), scanAdUnit, low, high, sp.limit, of.Bytes())
		if err != nil {
			return nil, err
		}
		units, ids := map[ads.UnitID]*ads.Unit{}, make([]ads.UnitID, len(list))
		for i, u := range list {
			units[u.ID], ids[i] = u, u.ID
		}
		return inListOrder(sp, list), w.readPlacements(units, ids)
	})
}

func scanAdUnit(scan scan) (*ads.Unit, error) {
	u, keywords, weights, caps := &ads.Unit{}, "", "", ""
	err := scan(into(&u.ID.ID), into(&u.Campaign.ID), &u.Headline, &u.Body, &u.ImageURL, &u.LandingURL,
		&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.State, &keywords, &weights, &u.Weight, &caps, &u.Revision, &u.Impressions, &u.Clicks, &u.Conversions)
	if err != nil {
		return u, err
	}
	return u, errors.Join(readKeywords(keywords, &u.Keywords), readKeywordWeights(weights, &u.KeywordWeights), readCaps(caps, &u.Caps))
}

func readKeywords(text string, to *[]string) error {
	err := fromJSON(text, to)
	if len(*to) == 0 {
		*to = nil
	}
	return err
}

// keywordWeightRow is a keyword's weight in the JSON of a column.
type keywordWeightRow struct {
	Keyword string `json:"keyword"`
	Weight  int    `json:"weight"`
}

func keywordWeightRows(weights []ads.KeywordWeight) string {
	rows := make([]keywordWeightRow, len(weights))
	for i, w := range weights {
		rows[i] = keywordWeightRow(w)
	}
	return asJSON(rows)
}

func readKeywordWeights(text string, to *[]ads.KeywordWeight) error {
	*to = nil
	if text == "[]" { // nearly always
		return nil
	}
	var rows []keywordWeightRow
	err := fromJSON(text, &rows)
	for _, row := range rows {
		*to = append(*to, ads.KeywordWeight(row))
	}
	return err
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
