package mongodb

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// adCampaignDoc is a document of adCampaigns. Whoever places its units changes it, so that no two of them commit without
// having seen each other.
type adCampaignDoc struct {
	ID         ads.CampaignID    `bson:"_id"`
	Version    int               `bson:"v"`
	Revision   int               `bson:"revision"`
	Advertiser ads.AdvertiserID  `bson:"advertiser"`
	Details    adCampaignDetails `bson:",inline"`
	Changes    int64             `bson:"changes"`
}

// adCampaignDetails are what can be replaced.
type adCampaignDetails struct {
	Name     string        `bson:"name"`
	State    ads.State     `bson:"state"`
	House    bool          `bson:"house"`
	Schedule adScheduleDoc `bson:"schedule"`
	Budget   adBudgetDoc   `bson:"budget"`
	Caps     []adCapDoc    `bson:"caps"`
	// Attribution is in days; 0: the default.
	Attribution int `bson:"attribution"`
}

type adScheduleDoc struct {
	Start    time.Time `bson:"start,omitempty"`
	End      time.Time `bson:"end,omitempty"`
	TimeZone string    `bson:"timeZone,omitempty"`
	Weekdays int       `bson:"weekdays,omitempty"` // one bit each, from Sunday on
	FromHour int       `bson:"fromHour,omitempty"`
	ToHour   int       `bson:"toHour,omitempty"`
}

type adBudgetDoc struct {
	Currency ads.Currency `bson:"currency,omitempty"`
	Total    ads.Micros   `bson:"total,omitempty"`
	Daily    ads.Micros   `bson:"daily,omitempty"`
	Even     bool         `bson:"even,omitempty"`
}

func newAdCampaignDetails(c *ads.Campaign) adCampaignDetails {
	return adCampaignDetails{
		Name: c.Name, State: c.State, House: c.House, Schedule: newAdScheduleDoc(c.Schedule), Budget: adBudgetDoc(c.Budget),
		Caps: adCapDocs(c.Caps), Attribution: c.Attribution,
	}
}

func newAdScheduleDoc(s ads.Schedule) adScheduleDoc {
	return adScheduleDoc{s.Start, s.End, s.TimeZone, int(s.Weekdays), s.FromHour, s.ToHour}
}

func (d *adScheduleDoc) schedule() ads.Schedule {
	return ads.Schedule{
		Start: mdb.UTC(d.Start), End: mdb.UTC(d.End), TimeZone: d.TimeZone, Weekdays: ads.Weekdays(d.Weekdays), FromHour: d.FromHour, ToHour: d.ToHour,
	}
}

func newAdCampaignDoc(c *ads.Campaign, v int) adCampaignDoc {
	return adCampaignDoc{ID: c.ID, Version: v, Revision: 1, Advertiser: c.Advertiser, Details: newAdCampaignDetails(c)}
}

func (d *adCampaignDoc) campaign() *ads.Campaign {
	return &ads.Campaign{
		ID: d.ID, Advertiser: d.Advertiser, Name: d.Details.Name, State: d.Details.State, House: d.Details.House,
		Schedule: d.Details.Schedule.schedule(), Budget: ads.Budget(d.Details.Budget), Caps: adCaps(d.Details.Caps), Attribution: d.Details.Attribution,
		Revision: d.Revision,
	}
}

func (s *adSaving) saveCampaigns(ctx context.Context, b *ads.Batch) (int, error) {
	added, err := insertNew(ctx, s.adStore.campaigns, b.Campaigns,
		func(c *ads.Campaign) ads.CampaignID { return c.ID }, func(c *ads.Campaign) int { return c.Revision },
		func(c *ads.Campaign) adCampaignDoc { return newAdCampaignDoc(c, s.db.writes("adCampaigns")) })
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

func (s *adSaving) replaceCampaign(ctx context.Context, c *ads.Campaign) error {
	if err := replaceAd(ctx, s.adStore.campaigns, c.ID, c.Revision, newAdCampaignDetails(c)); err != nil {
		return err
	}
	s.campaigns[c.ID] = true
	if !c.Budget.Limited() {
		return nil
	}
	other, err := s.adStore.units.CountDocuments(ctx, mdb.Doc("campaign", c.ID, "bid.currency", mdb.Doc("$ne", c.Budget.Currency)))
	if err == nil && other > 0 {
		return ads.ErrCurrency
	}
	return err
}

// Campaigns implements ads.Catalogue.
func (a *adStore) Campaigns(ctx context.Context, ids []ads.CampaignID) (all map[ads.CampaignID]*ads.Campaign, err error) {
	err = a.db.db.Read(ctx, "campaigns", func(ctx context.Context) error {
		all, err = a.readCampaigns(ctx, ids)
		return err
	})
	return all, err
}

// readCampaigns is Campaigns within a call: errors are the driver's, so that a transaction knows when to run again.
func (a *adStore) readCampaigns(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	docs, err := mdb.FindIn[adCampaignDoc](ctx, a.campaigns, "_id", ids)
	all := make(map[ads.CampaignID]*ads.Campaign, len(docs))
	for _, d := range docs {
		all[d.ID] = d.campaign()
	}
	return all, err
}

// ListCampaigns implements ads.Catalogue.
func (a *adStore) ListCampaigns(ctx context.Context, of ads.AdvertiserID, p ads.Page) (list []*ads.Campaign, err error) {
	err = a.db.db.Read(ctx, "list campaigns", func(ctx context.Context) error {
		docs, err := listAds[adCampaignDoc](ctx, a.campaigns, mdb.Doc("advertiser", of), byAdvertiser, p, adIDKey)
		list = mdb.Map(docs, (*adCampaignDoc).campaign)
		return err
	})
	return list, err
}
