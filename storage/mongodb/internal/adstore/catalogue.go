package adstore

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// Save implements ads.Catalogue.
func (a *Store) Save(ctx context.Context, b ads.Batch) (saved int, err error) {
	err = a.calls.Write(ctx, "save ads", hotAds(&b), func(ctx context.Context) error {
		s := saving{Store: a, campaigns: map[ads.CampaignID]bool{}, units: map[ads.UnitID]*unitDoc{}, zones: map[string]int{}}
		saved, err = s.save(ctx, &b)
		return err
	})
	if err != nil {
		return 0, err
	}
	return saved, nil
}

// hotAds returns the ids of what concurrent batches would conflict about.
func hotAds(b *ads.Batch) []id.ID {
	hot := map[id.ID]bool{}
	for _, advertiser := range b.Advertisers {
		hot[advertiser.ID.ID] = true
	}
	for _, campaign := range b.Campaigns {
		hot[campaign.ID.ID] = true
	}
	for _, zone := range b.Zones {
		hot[hotZone(zone.ID)] = true
	}
	for _, unit := range b.Units {
		hot[unit.Campaign.ID] = true
		for _, zone := range unit.Zones {
			hot[hotZone(zone)] = true
		}
	}
	return slices.Collect(maps.Keys(hot))
}

func (s *saving) save(ctx context.Context, b *ads.Batch) (saved int, err error) {
	for _, save := range []func(context.Context, *ads.Batch) (int, error){
		s.saveAdvertisers, s.saveCampaigns, s.saveZones, s.saveUnits,
	} {
		n, err := save(ctx, b)
		if err != nil {
			return 0, err
		}
		saved += n
	}
	return saved, s.refresh(ctx)
}

// refresh rebuilds the units' copies in zones. It marks the units of changed campaigns as changed:
// a recording at the same time cannot know that they are about to enter zones.
func (s *saving) refresh(ctx context.Context) error {
	if err := s.unitsOfCampaigns(ctx); err != nil {
		return err
	}
	if len(s.units) == 0 {
		return nil
	}
	units := slices.Collect(maps.Values(s.units))
	arrivals, err := s.arrivals(ctx, units)
	if err != nil {
		return err
	}
	ids := distinct(units, func(d **unitDoc) []ads.UnitID { return []ads.UnitID{(*d).ID} })
	var updates []mongo.WriteModel
	for key, placed := range s.zones {
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", key)).SetUpdate(exchange(ids, arrivals[key], placed)))
	}
	if len(updates) == 0 {
		return nil
	}
	_, err = s.Store.zones.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	return err
}

func (s *saving) unitsOfCampaigns(ctx context.Context) error {
	if len(s.campaigns) == 0 {
		return nil
	}
	theirs := mdb.Doc("campaign", mdb.Doc("$in", slices.Collect(maps.Keys(s.campaigns))))
	if _, err := s.Store.units.UpdateMany(ctx, theirs, mdb.Doc("$inc", mdb.Doc("changes", 1))); err != nil {
		return err
	}
	units, err := mdb.FindAll[unitDoc](ctx, s.Store.units, theirs, mdb.InBatch)
	for i := range units {
		s.units[units[i].ID] = &units[i]
		for _, key := range units[i].Details.Zones {
			s.zones[key] += 0
		}
	}
	return err
}

// arrivals returns the running units, by zone.
func (s *saving) arrivals(ctx context.Context, units []*unitDoc) (map[string][]runningDoc, error) {
	campaigns, err := mdb.FindIn[campaignDoc](ctx, s.Store.campaigns, "_id",
		distinct(units, func(d **unitDoc) []ads.CampaignID { return []ads.CampaignID{(*d).Campaign} }))
	if err != nil {
		return nil, err
	}
	advertisers, err := s.readAdvertisers(ctx, distinct(campaigns, func(d *campaignDoc) []ads.AdvertiserID { return []ads.AdvertiserID{d.Advertiser} }))
	if err != nil {
		return nil, err
	}
	running := map[ads.CampaignID]*ads.Campaign{}
	for i := range campaigns {
		if campaigns[i].Details.State == ads.Active {
			running[campaigns[i].ID] = campaigns[i].campaign()
		}
	}
	arrivals := map[string][]runningDoc{}
	for _, d := range units {
		c := running[d.Campaign]
		if c == nil || d.Details.State != ads.Active {
			continue
		}
		u, err := d.unit()
		if err != nil {
			return nil, err
		}
		for _, key := range d.Details.Zones {
			arrivals[key] = append(arrivals[key], newRunningDoc(ads.Running(u, c, advertisers[c.Advertiser])))
		}
	}
	return arrivals, nil
}

// exchange returns an update of a zone that removes some units and inserts others, each at its
// rank.
func exchange(leaving []ads.UnitID, arriving []runningDoc, placed int) mongo.Pipeline {
	if arriving == nil {
		arriving = []runningDoc{}
	}
	stay := mdb.Doc("$filter", mdb.Doc("input", "$units", "as", "each", "cond", mdb.Doc("$not", mdb.Doc("$in", bson.A{"$$each.unit", leaving}))))
	units := mdb.Doc("$concatArrays", bson.A{stay, mdb.Doc("$literal", arriving)})
	return mongo.Pipeline{mdb.Doc("$set", mdb.Doc(
		"placed", mdb.Doc("$add", bson.A{"$placed", placed}),
		"units", mdb.Doc("$sortArray", mdb.Doc("input", units, "sortBy", byRank)),
	))}
}
