package sqlite

import (
	"context"

	"plaza/ads"
)

var (
	insertAdZone  = define(`INSERT INTO ad_zones (design, zone, currency) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	replaceAdZone = define(`UPDATE ad_zones SET design = ?, revision = revision + 1 WHERE zone = ? AND revision = ?`)
	adZoneByID    = define(`SELECT zone, currency, design, revision FROM ad_zones WHERE zone = ?`)
	adZonesPage   = defineDirected(`SELECT zone, currency, design, revision FROM ad_zones
		WHERE zone > ?1 AND zone < ?2 ORDER BY zone $order LIMIT ?3`)
	runningInZone = define(`SELECT u.id, u.campaign, a.id, a.name, u.headline, u.body, u.image_url, u.landing_url,
		u.bid_model, u.bid_price, u.bid_currency, u.impressions, u.clicks, u.conversions, u.keywords, u.keyword_weights, u.weight, u.caps,
		c.schedule, c.house, c.budget_total, c.budget_daily, c.caps, c.attribution, a.caps
		FROM ad_placements p CROSS JOIN ad_units u ON u.id = p.unit
		CROSS JOIN ad_campaigns c ON c.id = u.campaign CROSS JOIN ad_advertisers a ON a.id = c.advertiser
		WHERE p.zone = ? AND p.running = 1 ORDER BY p.ecpm DESC, p.unit`)
)

func (w *work) saveAdZone(z *ads.Zone) (saved bool, err error) {
	if z.Revision == 0 {
		saved, err = w.insertAd(insertAdZone, string(z.Design), z.ID.String(), string(z.Currency))
	} else {
		saved, err = w.replaceAd(replaceAdZone, string(z.Design), z.ID.String(), z.Revision)
	}
	if err != nil {
		return false, err
	}
	stored, err := w.adZone(z.ID)
	if err == nil && stored.Currency != z.Currency {
		err = ads.ErrCurrency
	}
	return saved, err
}

// adZone reads a zone without its units.
func (w *work) adZone(id ads.ZoneID) (*ads.Zone, error) {
	found, err := all(w, adZoneByID, scanAdZone, id.String())
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ads.ErrNotFound
	}
	return found[0], nil
}

func scanAdZone(scan scan) (*ads.Zone, error) {
	z, text := &ads.Zone{}, ""
	err := scan(&text, &z.Currency, &z.Design, &z.Revision)
	if err == nil {
		z.ID, err = ads.ParseZoneID(text)
	}
	return z, err
}

// topZone sorts after all zones.
const topZone = "{"

// ListZones implements ads.Catalogue.
func (s adStore) ListZones(ctx context.Context, p ads.Page) ([]*ads.Zone, error) {
	low, high, sp := adSpan(p, textKey, topZone)
	return read(ctx, s.file, func(w *work) ([]*ads.Zone, error) {
		zones, err := all(w, adZonesPage.along(sp), scanAdZone, low, high, sp.limit)
		return inListOrder(sp, zones), err
	})
}

// Zone implements ads.Zones.
func (s adStore) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	return read(ctx, s.file, func(w *work) (*ads.Zone, error) {
		zone, err := w.adZone(id)
		if err != nil {
			return nil, err
		}
		zone.Units, err = all(w, runningInZone, scanRunning, id.String())
		return zone, err
	})
}

func scanRunning(scan scan) (ads.RunningUnit, error) {
	var u ads.Unit
	var c ads.Campaign
	var a ads.Advertiser
	var keywords, weights, unitCaps, schedule, campaignCaps, advertiserCaps string
	err := scan(into(&u.ID.ID), into(&c.ID.ID), into(&a.ID.ID), &a.Name, &u.Headline, &u.Body, &u.ImageURL, &u.LandingURL,
		&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.Impressions, &u.Clicks, &u.Conversions, &keywords, &weights, &u.Weight, &unitCaps,
		&schedule, &c.House, &c.Budget.Total, &c.Budget.Daily, &campaignCaps, &c.Attribution, &advertiserCaps)
	if err != nil {
		return ads.RunningUnit{}, err
	}
	for _, err := range []error{
		readKeywords(keywords, &u.Keywords), readKeywordWeights(weights, &u.KeywordWeights), readSchedule(schedule, &c.Schedule),
		readCaps(unitCaps, &u.Caps), readCaps(campaignCaps, &c.Caps), readCaps(advertiserCaps, &a.Caps),
	} {
		if err != nil {
			return ads.RunningUnit{}, err
		}
	}
	return ads.Running(&u, &c, &a), nil
}
