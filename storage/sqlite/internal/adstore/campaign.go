package adstore

import (
	"context"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

const campaignColumns = `id, advertiser, name, state, house, schedule,
	budget_currency, budget_total, budget_daily, budget_even, caps, attribution, created_at, revision`

var (
	insertCampaign = sqldb.Define(`INSERT INTO ad_campaigns (name, state, house, schedule,
		budget_currency, budget_total, budget_daily, budget_even, caps, attribution, created_at, id, advertiser)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	replaceCampaign = sqldb.Define(`UPDATE ad_campaigns SET name = ?, state = ?, house = ?, schedule = ?,
		budget_currency = ?, budget_total = ?, budget_daily = ?, budget_even = ?, caps = ?, attribution = ?,
		created_at = coalesce(?, created_at), revision = revision + 1
		WHERE id = ? AND revision = ?`)
	campaignsByID = sqldb.Define(`SELECT ` + campaignColumns + ` FROM ad_campaigns WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	campaignsPage = sqldb.DefineDirected(`SELECT ` + campaignColumns + ` FROM ad_campaigns
		WHERE advertiser = ?4 AND id > ?1 AND id < ?2 ORDER BY id $order LIMIT ?3`)
	otherCurrency = sqldb.Define(`SELECT 1 FROM ad_units WHERE campaign = ? AND bid_currency <> ?`)
	setRunning    = sqldb.Define(`UPDATE ad_placements SET running = (SELECT u.state = 'ACTIVE' AND c.state = 'ACTIVE'
		FROM ad_units u CROSS JOIN ad_campaigns c ON c.id = u.campaign WHERE u.id = ad_placements.unit) WHERE campaign = ?`)
)

func saveCampaign(tx *sqldb.Tx, c *ads.Campaign) (saved bool, err error) {
	values := []any{
		c.Name, string(c.State), c.House, scheduleText(c.Schedule),
		string(c.Budget.Currency), int64(c.Budget.Total), int64(c.Budget.Daily), c.Budget.Even, capRows(c.Caps), c.Attribution,
		createdColumn(c.CreatedAt, c.ID.ID), c.ID.Bytes(),
	}
	if c.Revision == 0 {
		return insert(tx, insertCampaign, append(values, c.Advertiser.Bytes())...)
	}
	if _, err := replace(tx, replaceCampaign, append(values, c.Revision)...); err != nil {
		return false, err
	}
	if c.Budget.Limited() {
		if other, err := tx.Exists(otherCurrency, c.ID.Bytes(), string(c.Budget.Currency)); err != nil || other {
			return false, orCurrency(err)
		}
	}
	_, err = tx.Exec(setRunning, c.ID.Bytes())
	return err == nil, err
}

func orCurrency(err error) error {
	if err == nil {
		err = ads.ErrCurrency
	}
	return err
}

// Campaigns implements ads.Catalogue.
func (s *Store) Campaigns(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[ads.CampaignID]*ads.Campaign, error) { return readCampaigns(tx, ids) })
}

func readCampaigns(tx sqldb.Reader, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	return sqldb.ByKey(tx, campaignsByID, func(scan sqldb.Scan) (ads.CampaignID, *ads.Campaign, error) {
		c, err := scanCampaign(scan)
		return c.ID, c, err
	}, sqldb.HexList(ids))
}

// ListCampaigns implements ads.Catalogue.
func (s *Store) ListCampaigns(ctx context.Context, of ads.AdvertiserID, p ads.Page) ([]*ads.Campaign, error) {
	return list(ctx, s.db, campaignsPage, p, scanCampaign, of.Bytes())
}

func scanCampaign(scan sqldb.Scan) (*ads.Campaign, error) {
	c, schedule, caps := &ads.Campaign{}, "", ""
	err := scan(sqldb.Into(&c.ID.ID), sqldb.Into(&c.Advertiser.ID), &c.Name, &c.State, &c.House, &schedule,
		&c.Budget.Currency, &c.Budget.Total, &c.Budget.Daily, &c.Budget.Even, &caps, &c.Attribution, sqldb.IntoTime(&c.CreatedAt), &c.Revision)
	if err != nil {
		return c, err
	}
	c.CreatedAt = ads.Creation(c.CreatedAt, c.ID.ID)
	if err := readSchedule(schedule, &c.Schedule); err != nil {
		return c, err
	}
	return c, readCaps(caps, &c.Caps)
}
