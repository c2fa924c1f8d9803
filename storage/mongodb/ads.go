package mongodb

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// adStore is the database as an ads.Store.
type adStore struct {
	db *Store

	advertisers *mongo.Collection
	campaigns   *mongo.Collection
	units       *mongo.Collection
	zones       *mongo.Collection
	ledgers     *mongo.Collection
	leases      *mongo.Collection
	profiles    *mongo.Collection
	impressions *mongo.Collection
	clicks      *mongo.Collection
	conversions *mongo.Collection
	refunds     *mongo.Collection
	tallies     *mongo.Collection
	traffic     *mongo.Collection
	keys        *mongo.Collection
}

// Ads is the database as the ad domain sees it. It lives as long as the Store does.
func (s *Store) Ads() ads.Store { return s.ads() }

func (s *Store) ads() *adStore {
	db := s.users.Database()
	return &adStore{
		db:          s,
		advertisers: db.Collection("adAdvertisers"), campaigns: db.Collection("adCampaigns"),
		units: db.Collection("adUnits"), zones: db.Collection("adZones"),
		ledgers: db.Collection("adLedgers"), leases: db.Collection("adLeases"),
		profiles:    db.Collection("adProfiles"),
		impressions: db.Collection("adImpressions"), clicks: db.Collection("adClicks"),
		conversions: db.Collection("adConversions"), refunds: db.Collection("adRefunds"),
		tallies: db.Collection("adTallies"), traffic: db.Collection("adTraffic"),
		keys: db.Collection("adKeys"),
	}
}

// The indexes that queries of ads name as hints.
const (
	byAdvertiser = "advertiser_id"
	byCampaign   = "campaign_id"
	byPerson     = "profile_at"
	byAddress    = "address_at"
	byBilling    = "billed" // of a campaign, by time
	byOpen       = "open"
	byZone       = "zone_hour"
)

// adIndexes are the declared indexes of the ads' collections, as Store.indexes has the others.
func (s *Store) adIndexes() map[*mongo.Collection][]mongo.IndexModel {
	a := s.ads()
	return map[*mongo.Collection][]mongo.IndexModel{
		a.advertisers: nil,
		a.campaigns:   {mdb.Index(byAdvertiser, mdb.Doc("advertiser", 1, "_id", 1))},
		a.units:       {mdb.Index(byCampaign, mdb.Doc("campaign", 1, "_id", 1))}, // pausing, too
		a.zones:       nil,                                                       // choosing needs only _id
		a.ledgers:     nil,
		a.leases:      {mdb.Index("settleAt", mdb.Doc("settleAt", 1))},
		a.profiles:    {mdb.ExpiringIndex("keepUntil", 0)},
		a.impressions: {mdb.ExpiringIndex("keepUntil", 0), mdb.Index("at", mdb.Doc("at", 1)), mdb.IndexHaving(whenDue, byDue, mdb.Doc(whenDue, 1)), billed()},
		a.clicks: {
			mdb.ExpiringIndex("keepUntil", 0),
			mdb.Index("at", mdb.Doc("at", 1)),
			mdb.IndexHaving("profile", byPerson, mdb.Doc("profile", 1, "at", 1)),
			mdb.IndexHaving("address", byAddress, mdb.Doc("address", 1, "at", 1)),
			mdb.IndexHaving(whenDue, byDue, mdb.Doc(whenDue, 1)),
			billed(),
		},
		a.conversions: {
			mdb.ExpiringIndex("keepUntil", 0),
			mdb.Index("at", mdb.Doc("at", 1)),
			mdb.IndexHaving("profile", byPerson, mdb.Doc("profile", 1, "at", 1)),
			mdb.IndexHaving(whenDue, byDue, mdb.Doc(whenDue, 1)),
			billed(),
		},
		a.refunds: {mdb.Index(byCampaign, mdb.Doc("campaign", 1, "_id", 1)), mdb.IndexHaving("open", byOpen, mdb.Doc("open", 1, "_id", 1))},
		a.tallies: {mdb.Index("hour", mdb.Doc("hour", 1))},
		a.traffic: {mdb.Index("hour", mdb.Doc("hour", 1)), mdb.Index(byZone, mdb.Doc("zone", 1, "hour", 1))},
		a.keys:    nil,
	}
}

// billed is an index over recordings that cost something.
func billed() mongo.IndexModel {
	return mongo.IndexModel{
		Keys:    mdb.Doc("campaign", 1, "at", 1),
		Options: options.Index().SetName(byBilling).SetPartialFilterExpression(wasBilled),
	}
}

// whenDue is when a recording that waits is due.
const whenDue = "waiting.due"

var wasBilled = mdb.Doc("billed", mdb.Doc("$gt", 0))

// hotZone is the id under which writers of one zone wait for one another.
func hotZone(zone ads.ZoneID) id.ID { return id.Derive(time.Time{}, zone.String()) }

func zoneKeys(zones []ads.ZoneID) []string {
	keys := make([]string, len(zones))
	for i, zone := range zones {
		keys[i] = zone.String()
	}
	return keys
}

// Save implements ads.Catalogue.
func (a *adStore) Save(ctx context.Context, b ads.Batch) (saved int, err error) {
	err = a.db.db.Write(ctx, "save ads", hotAds(&b), func(ctx context.Context) error {
		s := adSaving{adStore: a, campaigns: map[ads.CampaignID]bool{}, units: map[ads.UnitID]*adUnitDoc{}, zones: map[string]int{}}
		saved, err = s.save(ctx, &b)
		return err
	})
	if err != nil {
		return 0, err
	}
	return saved, nil
}

// hotAds are what concurrent batches would be in conflict about.
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

// adSaving is one run of Save's transaction. Zones have copies of what is saved: it knows which of them to make anew.
type adSaving struct {
	*adStore
	campaigns map[ads.CampaignID]bool   // which, or whose advertiser, has changed
	units     map[ads.UnitID]*adUnitDoc // saved or of such campaigns, as they are now
	zones     map[string]int            // that have, had or get one of the units; how many units more are placed there
}

func (s *adSaving) save(ctx context.Context, b *ads.Batch) (saved int, err error) {
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

// insertNew stores those entries of revision 0 that do not exist.
func insertNew[T any, K comparable, D any](ctx context.Context, c *mongo.Collection, entries []T, key func(*T) K, revision func(*T) int, document func(*T) D) (added []T, err error) {
	fresh := slices.DeleteFunc(slices.Clone(entries), func(e T) bool { return revision(&e) != 0 })
	added, err = notStored(ctx, c, fresh, key)
	if err != nil || len(added) == 0 {
		return nil, err
	}
	_, err = c.InsertMany(ctx, mdb.Map(added, document), options.InsertMany().SetOrdered(false))
	return added, mdb.OrRetry(err) // where another transaction was first, this one runs again
}

// notStored are the entries whose key is not in the collection, the first of each key.
func notStored[T any, K comparable](ctx context.Context, c *mongo.Collection, entries []T, key func(*T) K) ([]T, error) {
	known, err := mdb.Existing(ctx, c, mdb.Map(entries, key))
	if err != nil {
		return nil, err
	}
	var fresh []T
	for i := range entries {
		if k := key(&entries[i]); !known[k] {
			known[k] = true
			fresh = append(fresh, entries[i])
		}
	}
	return fresh, nil
}

// replaceAd changes a document that has this revision. Error: ErrConflict.
func replaceAd(ctx context.Context, c *mongo.Collection, key any, revision int, set any) error {
	result, err := c.UpdateOne(ctx, mdb.Doc("_id", key, "revision", revision), mdb.Doc("$set", set, "$inc", mdb.Doc("revision", 1)))
	if err == nil && result.MatchedCount == 0 {
		return ads.ErrConflict
	}
	return err
}

// refresh makes the copies in zones anew. It marks units of changed campaigns as changed: a recording at the same time
// cannot know that their zones are about to have them.
func (s *adSaving) refresh(ctx context.Context) error {
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
	ids := distinct(units, func(d **adUnitDoc) []ads.UnitID { return []ads.UnitID{(*d).ID} })
	var updates []mongo.WriteModel
	for key, placed := range s.zones {
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", key)).SetUpdate(exchange(ids, arrivals[key], placed)))
	}
	if len(updates) == 0 {
		return nil
	}
	_, err = s.adStore.zones.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	return err
}

// exchange is an update of a zone that takes units out and puts others in, each at its rank.
func exchange(leaving []ads.UnitID, arriving []adRunningDoc, placed int) mongo.Pipeline {
	if arriving == nil {
		arriving = []adRunningDoc{}
	}
	stay := mdb.Doc("$filter", mdb.Doc("input", "$units", "as", "each", "cond", mdb.Doc("$not", mdb.Doc("$in", bson.A{"$$each.unit", leaving}))))
	units := mdb.Doc("$concatArrays", bson.A{stay, mdb.Doc("$literal", arriving)})
	return mongo.Pipeline{mdb.Doc("$set", mdb.Doc(
		"placed", mdb.Doc("$add", bson.A{"$placed", placed}),
		"units", mdb.Doc("$sortArray", mdb.Doc("input", units, "sortBy", adOrder)),
	))}
}

func (s *adSaving) unitsOfCampaigns(ctx context.Context) error {
	if len(s.campaigns) == 0 {
		return nil
	}
	theirs := mdb.Doc("campaign", mdb.Doc("$in", slices.Collect(maps.Keys(s.campaigns))))
	if _, err := s.adStore.units.UpdateMany(ctx, theirs, mdb.Doc("$inc", mdb.Doc("changes", 1))); err != nil {
		return err
	}
	units, err := mdb.FindAll[adUnitDoc](ctx, s.adStore.units, theirs, mdb.InBatch)
	for i := range units {
		s.units[units[i].ID] = &units[i]
		for _, key := range units[i].Details.Zones {
			s.zones[key] += 0
		}
	}
	return err
}

// arrivals are the units that run, by zone.
func (s *adSaving) arrivals(ctx context.Context, units []*adUnitDoc) (map[string][]adRunningDoc, error) {
	campaigns, err := mdb.FindIn[adCampaignDoc](ctx, s.adStore.campaigns, "_id",
		distinct(units, func(d **adUnitDoc) []ads.CampaignID { return []ads.CampaignID{(*d).Campaign} }))
	if err != nil {
		return nil, err
	}
	advertisers, err := s.readAdvertisers(ctx, distinct(campaigns, func(d *adCampaignDoc) []ads.AdvertiserID { return []ads.AdvertiserID{d.Advertiser} }))
	if err != nil {
		return nil, err
	}
	running := map[ads.CampaignID]*ads.Campaign{}
	for i := range campaigns {
		if campaigns[i].Details.State == ads.Active {
			running[campaigns[i].ID] = campaigns[i].campaign()
		}
	}
	arrivals := map[string][]adRunningDoc{}
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
			arrivals[key] = append(arrivals[key], newAdRunningDoc(ads.Running(u, c, advertisers[c.Advertiser])))
		}
	}
	return arrivals, nil
}

// distinct are the keys of all entries, each once.
func distinct[T any, K comparable](entries []T, keys func(*T) []K) []K {
	var all []K
	seen := map[K]bool{}
	for i := range entries {
		for _, key := range keys(&entries[i]) {
			if !seen[key] {
				seen[key] = true
				all = append(all, key)
			}
		}
	}
	return all
}

// listAds reads a page of what matches, by its _id.
func listAds[D any, K any](ctx context.Context, c *mongo.Collection, filter bson.D, hint string, p ads.Page, key func(string) K) ([]D, error) {
	bounds := bson.D{}
	if p.After != "" {
		bounds = append(bounds, bson.E{Key: "$gt", Value: key(string(p.After))})
	}
	if p.Before != "" {
		bounds = append(bounds, bson.E{Key: "$lt", Value: key(string(p.Before))})
	}
	if len(bounds) > 0 {
		filter = append(filter, bson.E{Key: "_id", Value: bounds})
	}
	order := 1
	if p.Last {
		order = -1
	}
	find := options.Find().SetSort(mdb.Doc("_id", order)).SetLimit(int64(p.Limit)).SetHint(hint)
	if hint == "_id_" {
		find.SetProjection(mdb.Doc("units", 0))
	}
	found, err := mdb.FindAll[D](ctx, c, filter, p.Limit, find)
	if p.Last {
		slices.Reverse(found)
	}
	return found, err
}

func adIDKey(key string) bson.Binary {
	return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(key)}
}

func adTextKey(key string) string { return key }
