package adstore

import (
	"context"
	"slices"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// campaignDoc is a document of adCampaigns. A transaction that places units also changes their
// campaign, so that of two concurrent ones only one can commit.
type campaignDoc struct {
	ID         ads.CampaignID   `bson:"_id"`
	Version    int              `bson:"v"`
	Revision   int              `bson:"revision"`
	Advertiser ads.AdvertiserID `bson:"advertiser"`
	Details    campaignDetails  `bson:",inline"`
	Changes    int64            `bson:"changes"`
}

// campaignDetails are the fields that can be replaced.
type campaignDetails struct {
	Name     string      `bson:"name"`
	State    ads.State   `bson:"state"`
	House    bool        `bson:"house"`
	Schedule scheduleDoc `bson:"schedule"`
	Budget   budgetDoc   `bson:"budget"`
	Caps     []capDoc    `bson:"caps"`
	// Attribution is in days; 0: the default.
	Attribution int        `bson:"attribution"`
	Created     createdDoc `bson:",inline"`
}

type budgetDoc struct {
	Currency ads.Currency `bson:"currency,omitempty"`
	Total    ads.Micros   `bson:"total,omitempty"`
	Daily    ads.Micros   `bson:"daily,omitempty"`
	Even     bool         `bson:"even,omitempty"`
}

func newCampaignDetails(c *ads.Campaign) campaignDetails {
	return campaignDetails{
		Name: c.Name, State: c.State, House: c.House, Schedule: newScheduleDoc(c.Schedule), Budget: budgetDoc(c.Budget),
		Caps: newCapDocs(c.Caps), Attribution: c.Attribution, Created: newCreatedDoc(c.CreatedAt, c.ID.ID),
	}
}

func newCampaignDoc(c *ads.Campaign, v int) campaignDoc {
	return campaignDoc{ID: c.ID, Version: v, Revision: 1, Advertiser: c.Advertiser, Details: newCampaignDetails(c)}
}

func (d *campaignDoc) campaign() *ads.Campaign {
	return &ads.Campaign{
		ID: d.ID, Advertiser: d.Advertiser, Name: d.Details.Name, State: d.Details.State, House: d.Details.House,
		Schedule: d.Details.Schedule.schedule(), Budget: ads.Budget(d.Details.Budget), Caps: readCaps(d.Details.Caps), Attribution: d.Details.Attribution,
		Revision: d.Revision, CreatedAt: d.Details.Created.time(d.ID.ID),
	}
}

// campaignVersion returns the first version of documents that can express the campaign.
func campaignVersion(c *ads.Campaign) int {
	if c.Attribution != 0 && c.Attribution != ads.DefaultAttribution {
		return conversionsVersion
	}
	return mdb.FirstVersion
}

func (s *saving) saveCampaigns(ctx context.Context, b *ads.Batch) (int, error) {
	written := s.writes("adCampaigns")
	if slices.ContainsFunc(b.Campaigns, func(c ads.Campaign) bool { return campaignVersion(&c) > written }) {
		return 0, ads.ErrUpgrading
	}
	added, err := insertNew(ctx, s.Store.campaigns, b.Campaigns,
		func(c *ads.Campaign) ads.CampaignID { return c.ID }, func(c *ads.Campaign) int { return c.Revision },
		func(c *ads.Campaign) campaignDoc { return newCampaignDoc(c, s.writes("adCampaigns")) })
	if err != nil {
		return 0, err
	}
	wanted := distinct(added, func(c *ads.Campaign) []ads.AdvertiserID { return []ads.AdvertiserID{c.Advertiser} })
	known, err := mdb.Existing(ctx, s.advertisers, wanted)
	if err != nil {
		return 0, err
	}
	if len(known) < len(wanted) {
		return 0, ads.ErrNotFound
	}
	replaced := 0
	for i := range b.Campaigns {
		if b.Campaigns[i].Revision == 0 {
			continue
		}
		if err := s.replaceCampaign(ctx, &b.Campaigns[i]); err != nil {
			return 0, err
		}
		replaced++
	}
	return len(added) + replaced, nil
}

func (s *saving) replaceCampaign(ctx context.Context, c *ads.Campaign) error {
	if err := replace(ctx, s.Store.campaigns, c.ID, c.Revision, newCampaignDetails(c)); err != nil {
		return err
	}
	s.campaigns[c.ID] = true
	if !c.Budget.Limited() {
		return nil
	}
	other, err := s.Store.units.CountDocuments(ctx, mdb.Doc("campaign", c.ID, "bid.currency", mdb.Doc("$ne", c.Budget.Currency)))
	if err == nil && other > 0 {
		return ads.ErrCurrency
	}
	return err
}

// Campaigns implements ads.Catalogue.
func (a *Store) Campaigns(ctx context.Context, ids []ads.CampaignID) (all map[ads.CampaignID]*ads.Campaign, err error) {
	err = a.calls.Read(ctx, "campaigns", func(ctx context.Context) error {
		all, err = a.readCampaigns(ctx, ids)
		return err
	})
	return all, err
}

// readCampaigns implements Campaigns within a call. It returns the driver's errors, so that a
// transaction can be retried.
func (a *Store) readCampaigns(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	docs, err := mdb.FindIn[campaignDoc](ctx, a.campaigns, "_id", ids)
	all := make(map[ads.CampaignID]*ads.Campaign, len(docs))
	for _, d := range docs {
		all[d.ID] = d.campaign()
	}
	return all, err
}

// ListCampaigns implements ads.Catalogue.
func (a *Store) ListCampaigns(ctx context.Context, of ads.AdvertiserID, p ads.Page) (list []*ads.Campaign, err error) {
	err = a.calls.Read(ctx, "list campaigns", func(ctx context.Context) error {
		docs, err := readPage[campaignDoc](ctx, a.campaigns, mdb.Doc("advertiser", of), byAdvertiser, p, idKey)
		list = mdb.Map(docs, (*campaignDoc).campaign)
		return err
	})
	return list, err
}
