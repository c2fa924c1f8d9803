package adstore

import (
	"context"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertAdZone  = sqldb.Define(`INSERT INTO ad_zones (design, zone, currency) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	replaceAdZone = sqldb.Define(`UPDATE ad_zones SET design = ?, revision = revision + 1 WHERE zone = ? AND revision = ?`)
	adZoneByID    = sqldb.Define(`SELECT zone, currency, design, revision FROM ad_zones WHERE zone = ?`)
	adZonesPage   = sqldb.DefineDirected(`SELECT zone, currency, design, revision FROM ad_zones
		WHERE zone > ?1 AND zone < ?2 ORDER BY zone $order LIMIT ?3`)
	runningInZone = sqldb.Define(`SELECT u.id, u.campaign, a.id, a.name, u.headline, u.body, u.image_url, u.landing_url,
		u.bid_model, u.bid_price, u.bid_currency, u.impressions, u.clicks, u.conversions, u.keywords, u.keyword_weights, u.weight, u.caps,
		c.schedule, c.house, c.budget_total, c.budget_daily, c.caps, c.attribution, c.revision, a.caps
		FROM ad_placements p CROSS JOIN ad_units u ON u.id = p.unit
		CROSS JOIN ad_campaigns c ON c.id = u.campaign CROSS JOIN ad_advertisers a ON a.id = c.advertiser
		WHERE p.zone = ? AND p.running = 1 ORDER BY p.ecpm DESC, p.unit`)
)

func saveZone(tx *sqldb.Tx, z *ads.Zone) (saved bool, err error) {
	if z.Revision == 0 {
		saved, err = insert(tx, insertAdZone, string(z.Design), z.ID.String(), string(z.Currency))
	} else {
		saved, err = replace(tx, replaceAdZone, string(z.Design), z.ID.String(), z.Revision)
	}
	if err != nil {
		return false, err
	}
	stored, err := readZone(tx, z.ID)
	if err == nil && stored.Currency != z.Currency {
		err = ads.ErrCurrency
	}
	return saved, err
}

// readZone reads a zone without its units.
func readZone(tx sqldb.Reader, id ads.ZoneID) (*ads.Zone, error) {
	return sqldb.One(tx, adZoneByID, scanAdZone, id.String())
}

func scanAdZone(scan sqldb.Scan) (*ads.Zone, error) {
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
func (s *Store) ListZones(ctx context.Context, p ads.Page) ([]*ads.Zone, error) {
	low, high, sp := spanOf(p, textKey, topZone)
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*ads.Zone, error) {
		zones, err := sqldb.All(tx, adZonesPage.Along(sp), scanAdZone, low, high, sp.Limit)
		return sqldb.InListOrder(sp, zones), err
	})
}

// Zone implements ads.Zones.
func (s *Store) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (*ads.Zone, error) {
		zone, err := readZone(tx, id)
		if err != nil {
			return nil, err
		}
		zone.Units, err = sqldb.All(tx, runningInZone, scanRunning, id.String())
		return zone, err
	})
}

func scanRunning(scan sqldb.Scan) (ads.RunningUnit, error) {
	var u ads.Unit
	var c ads.Campaign
	var a ads.Advertiser
	var keywords, weights, unitCaps, schedule, campaignCaps, advertiserCaps string
	err := scan(sqldb.Into(&u.ID.ID), sqldb.Into(&c.ID.ID), sqldb.Into(&a.ID.ID), &a.Name, &u.Headline, &u.Body, &u.ImageURL, &u.LandingURL,
		&u.Bid.Model, &u.Bid.Price, &u.Bid.Currency, &u.Impressions, &u.Clicks, &u.Conversions, &keywords, &weights, &u.Weight, &unitCaps,
		&schedule, &c.House, &c.Budget.Total, &c.Budget.Daily, &campaignCaps, &c.Attribution, &c.Revision, &advertiserCaps)
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
