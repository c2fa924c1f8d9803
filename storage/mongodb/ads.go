package mongodb

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
)

// adAdvertiserDoc is a document of adAdvertisers.
type adAdvertiserDoc struct {
	ID      ads.AdvertiserID `bson:"_id"`
	Version int              `bson:"v"`
	Name    string           `bson:"name"`
}

// adCampaignDoc is a document of adCampaigns. Whoever places its units, pauses or resumes it, changes it, so that
// no two of them commit without having seen each other.
type adCampaignDoc struct {
	ID         ads.CampaignID   `bson:"_id"`
	Version    int              `bson:"v"`
	Advertiser ads.AdvertiserID `bson:"advertiser"`
	Name       string           `bson:"name"`
	Paused     bool             `bson:"paused"`
	Changes    int64            `bson:"changes"`
}

// adUnitDoc is a document of adUnits: the truth about a unit, of which zones have copies.
type adUnitDoc struct {
	ID          ads.UnitID     `bson:"_id"`
	Version     int            `bson:"v"`
	Campaign    ads.CampaignID `bson:"campaign"`
	Creative    adCreativeDoc  `bson:",inline"`
	Bid         adBidDoc       `bson:"bid"`
	Zones       []string       `bson:"zones"` // as ads.ZoneID.String has them
	Impressions int64          `bson:"impressions"`
	Clicks      int64          `bson:"clicks"`
	Changes     int64          `bson:"changes"` // by resuming; see adStore.resume
}

type adCreativeDoc struct {
	Headline   string `bson:"headline"`
	Body       string `bson:"body,omitempty"`
	ImageURL   string `bson:"imageUrl,omitempty"`
	LandingURL string `bson:"landingUrl"`
}

type adBidDoc struct {
	Model    ads.BidModel `bson:"model"`
	Price    ads.Micros   `bson:"price"`
	Currency ads.Currency `bson:"currency"`
}

// adZoneDoc is a document of adZones: all that a choice reads. Its _id, site and name, is the shard key.
type adZoneDoc struct {
	ID       string         `bson:"_id"`
	Version  int            `bson:"v"`
	Currency ads.Currency   `bson:"currency"`
	Placed   int            `bson:"placed"` // units, running or not
	Units    []adRunningDoc `bson:"units"`  // the running ones, by adOrder
}

type adRunningDoc struct {
	Unit       ads.UnitID     `bson:"unit"`
	Campaign   ads.CampaignID `bson:"campaign"`
	Advertiser string         `bson:"advertiser"`
	Creative   adCreativeDoc  `bson:",inline"`
	ECPM       ads.Micros     `bson:"ecpm"`
}

// adOrder is the order of a zone's units: that of ads.RunningUnit.Compare.
var adOrder = doc("ecpm", -1, "unit", 1)

// adRecordingDoc is a document of adImpressions or adClicks, sharded by zone. A choice always has the same zone, so
// that _id is unique wherever it lies.
type adRecordingDoc struct {
	Choice    ads.ChoiceID `bson:"_id"`
	Version   int          `bson:"v"`
	Zone      string       `bson:"zone"`
	Unit      ads.UnitID   `bson:"unit"`
	At        time.Time    `bson:"at"`
	KeepUntil time.Time    `bson:"keepUntil"`
}

// adKeyDoc is a document of adKeys.
type adKeyDoc struct {
	Name string `bson:"_id"`
	Key  []byte `bson:"key"`
}

// adStore is the database as an ads.Store.
type adStore struct {
	db *Store

	advertisers *mongo.Collection
	campaigns   *mongo.Collection
	units       *mongo.Collection
	zones       *mongo.Collection
	impressions *mongo.Collection
	clicks      *mongo.Collection
	keys        *mongo.Collection
}

// Ads is the database as the ad domain sees it. It lives as long as the Store does.
func (s *Store) Ads() ads.Store { return s.ads() }

func (s *Store) ads() *adStore {
	db, withIDs := s.users.Database(), options.Collection().SetRegistry(adRegistry())
	return &adStore{
		db:          s,
		advertisers: db.Collection("adAdvertisers", withIDs), campaigns: db.Collection("adCampaigns", withIDs),
		units: db.Collection("adUnits", withIDs), zones: db.Collection("adZones", withIDs),
		impressions: db.Collection("adImpressions", withIDs), clicks: db.Collection("adClicks", withIDs),
		keys: db.Collection("adKeys", withIDs),
	}
}

// adRegistry is registry with the ad domain's ids.
func adRegistry() *bson.Registry {
	r := registry()
	for _, t := range []reflect.Type{
		reflect.TypeFor[ads.AdvertiserID](), reflect.TypeFor[ads.CampaignID](),
		reflect.TypeFor[ads.UnitID](), reflect.TypeFor[ads.ChoiceID](),
	} {
		r.RegisterTypeEncoder(t, bson.ValueEncoderFunc(encodeID))
		r.RegisterTypeDecoder(t, bson.ValueDecoderFunc(decodeID))
	}
	return r
}

// adIndexes are the declared indexes of the ads' collections, as Store.indexes has the others.
func (s *Store) adIndexes() map[*mongo.Collection][]mongo.IndexModel {
	a := s.ads()
	return map[*mongo.Collection][]mongo.IndexModel{
		a.advertisers: nil,
		a.campaigns:   nil,
		a.units:       {index("campaign", doc("campaign", 1))},
		a.zones:       {index("units_campaign", doc("units.campaign", 1))}, // pausing; choosing needs only _id
		a.impressions: {expiring("keepUntil", 0)},
		a.clicks:      {expiring("keepUntil", 0)},
		a.keys:        nil,
	}
}

// allIndexes are those of both domains, and of the layouts.
func (s *Store) allIndexes() map[*mongo.Collection][]mongo.IndexModel {
	all := s.indexes()
	maps.Copy(all, s.threads.indexes())
	maps.Copy(all, s.adIndexes())
	for c, models := range s.graph.indexes() {
		all[c] = append(all[c], models...)
	}
	for c, models := range s.feeds.indexes() {
		all[c] = append(all[c], models...)
	}
	return all
}

// errRecorded says that a choice was recorded before.
var errRecorded = fault.Refusal("recorded before")

// hotZone is the id under which writers of one zone wait for one another.
func hotZone(zone ads.ZoneID) id.ID { return id.Derive(time.Time{}, zone.String()) }

func zoneKeys(zones []ads.ZoneID) []string {
	keys := make([]string, len(zones))
	for i, zone := range zones {
		keys[i] = zone.String()
	}
	return keys
}

// Advertisers implements ads.Catalogue.
func (a *adStore) Advertisers(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	all := make(map[ads.AdvertiserID]*ads.Advertiser, len(ids))
	err := a.db.read(ctx, "advertisers", func(ctx context.Context) error {
		docs, err := findIn[adAdvertiserDoc](ctx, a.advertisers, "_id", ids)
		for _, d := range docs {
			all[d.ID] = &ads.Advertiser{ID: d.ID, Name: d.Name}
		}
		return err
	})
	return all, err
}

// Campaigns implements ads.Catalogue.
func (a *adStore) Campaigns(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	all := make(map[ads.CampaignID]*ads.Campaign, len(ids))
	err := a.db.read(ctx, "campaigns", func(ctx context.Context) error {
		docs, err := findIn[adCampaignDoc](ctx, a.campaigns, "_id", ids)
		for _, d := range docs {
			all[d.ID] = &ads.Campaign{ID: d.ID, Advertiser: d.Advertiser, Name: d.Name, Paused: d.Paused}
		}
		return err
	})
	return all, err
}

// Units implements ads.Catalogue.
func (a *adStore) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	all := make(map[ads.UnitID]*ads.Unit, len(ids))
	err := a.db.read(ctx, "ad units", func(ctx context.Context) error {
		docs, err := findIn[adUnitDoc](ctx, a.units, "_id", ids)
		if err != nil {
			return err
		}
		for i := range docs {
			if all[docs[i].ID], err = docs[i].unit(); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

func newAdUnitDoc(u *ads.Unit) adUnitDoc {
	return adUnitDoc{
		ID: u.ID, Version: version, Campaign: u.Campaign, Creative: adCreativeDoc(u.Creative), Bid: adBidDoc(u.Bid),
		Zones: zoneKeys(u.Zones),
	}
}

func (d *adUnitDoc) unit() (*ads.Unit, error) {
	u := &ads.Unit{
		ID: d.ID, Campaign: d.Campaign, Creative: ads.Creative(d.Creative), Bid: ads.Bid(d.Bid),
		Impressions: d.Impressions, Clicks: d.Clicks,
	}
	for _, key := range d.Zones {
		zone, err := ads.ParseZoneID(key)
		if err != nil {
			return nil, err
		}
		u.Zones = append(u.Zones, zone)
	}
	return u, nil
}

func (d *adUnitDoc) ecpm() ads.Micros { return ads.ECPM(ads.Bid(d.Bid), d.Impressions, d.Clicks) }

// running is the copy of the unit that zones have.
func (d *adUnitDoc) running(advertiser string) adRunningDoc {
	return adRunningDoc{Unit: d.ID, Campaign: d.Campaign, Advertiser: advertiser, Creative: d.Creative, ECPM: d.ecpm()}
}

// Zone implements ads.Zones.
func (a *adStore) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	var d adZoneDoc
	err := a.db.read(ctx, "ad zone", func(ctx context.Context) error {
		return found(a.zones.FindOne(ctx, doc("_id", id.String())).Decode(&d))
	})
	if err != nil {
		return nil, err
	}
	zone := &ads.Zone{ID: id, Currency: d.Currency}
	for _, r := range d.Units {
		zone.Units = append(zone.Units, ads.RunningUnit{
			Unit: r.Unit, Campaign: r.Campaign, Advertiser: r.Advertiser, Creative: ads.Creative(r.Creative), ECPM: r.ECPM,
		})
	}
	return zone, nil
}

// Add implements ads.Catalogue.
func (a *adStore) Add(ctx context.Context, b ads.Batch) (added int, err error) {
	err = a.db.write(ctx, "add ads", hotAds(&b), func(ctx context.Context) error {
		added = 0
		for _, add := range []func(context.Context, *ads.Batch) (int, error){
			a.addAdvertisers, a.addCampaigns, a.addZones, a.addUnits,
		} {
			n, err := add(ctx, &b)
			if err != nil {
				return err
			}
			added += n
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return added, nil
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

func (a *adStore) addAdvertisers(ctx context.Context, b *ads.Batch) (int, error) {
	fresh, err := notStored(ctx, a.advertisers, b.Advertisers, func(e *ads.Advertiser) ads.AdvertiserID { return e.ID })
	if err != nil {
		return 0, err
	}
	return insertAds(ctx, a.advertisers, each(fresh, func(e *ads.Advertiser) adAdvertiserDoc {
		return adAdvertiserDoc{ID: e.ID, Version: version, Name: e.Name}
	}))
}

func (a *adStore) addCampaigns(ctx context.Context, b *ads.Batch) (int, error) {
	fresh, err := notStored(ctx, a.campaigns, b.Campaigns, func(e *ads.Campaign) ads.CampaignID { return e.ID })
	if err != nil {
		return 0, err
	}
	wanted := distinct(fresh, func(e *ads.Campaign) []ads.AdvertiserID { return []ads.AdvertiserID{e.Advertiser} })
	known, err := existing(ctx, a.advertisers, wanted)
	if err != nil {
		return 0, err
	}
	if len(known) < len(wanted) {
		return 0, ads.ErrNotFound
	}
	return insertAds(ctx, a.campaigns, each(fresh, func(e *ads.Campaign) adCampaignDoc {
		return adCampaignDoc{ID: e.ID, Version: version, Advertiser: e.Advertiser, Name: e.Name, Paused: e.Paused}
	}))
}

func (a *adStore) addZones(ctx context.Context, b *ads.Batch) (int, error) {
	fresh, err := notStored(ctx, a.zones, b.Zones, func(z *ads.Zone) string { return z.ID.String() })
	if err != nil {
		return 0, err
	}
	added, err := insertAds(ctx, a.zones, each(fresh, func(z *ads.Zone) adZoneDoc {
		return adZoneDoc{ID: z.ID.String(), Version: version, Currency: z.Currency, Units: []adRunningDoc{}}
	}))
	if err != nil {
		return 0, err
	}
	zones, err := a.zoneHeads(ctx, each(b.Zones, func(z *ads.Zone) string { return z.ID.String() }))
	if err != nil {
		return 0, err
	}
	for _, z := range b.Zones {
		if zones[z.ID.String()].Currency != z.Currency {
			return 0, ads.ErrCurrency
		}
	}
	return added, nil
}

// zoneHeads reads zones without their units; absent zones are missing.
func (a *adStore) zoneHeads(ctx context.Context, keys []string) (map[string]adZoneDoc, error) {
	docs, err := findIn[adZoneDoc](ctx, a.zones, "_id", keys, options.Find().SetProjection(doc("units", 0)))
	heads := make(map[string]adZoneDoc, len(docs))
	for _, d := range docs {
		heads[d.ID] = d
	}
	return heads, err
}

func (a *adStore) addUnits(ctx context.Context, b *ads.Batch) (int, error) {
	fresh, err := notStored(ctx, a.units, b.Units, func(u *ads.Unit) ads.UnitID { return u.ID })
	if err != nil || len(fresh) == 0 {
		return 0, err
	}
	docs := each(fresh, newAdUnitDoc)
	if err := a.checkPlaces(ctx, docs); err != nil {
		return 0, err
	}
	advertisers, err := a.joinCampaigns(ctx, docs)
	if err != nil {
		return 0, err
	}
	if err := a.place(ctx, docs, advertisers, 1); err != nil {
		return 0, err
	}
	return insertAds(ctx, a.units, docs)
}

// checkPlaces says whether the units fit into their zones.
func (a *adStore) checkPlaces(ctx context.Context, units []adUnitDoc) error {
	zones, err := a.zoneHeads(ctx, distinct(units, func(d *adUnitDoc) []string { return d.Zones }))
	if err != nil {
		return err
	}
	for i := range units {
		for _, key := range units[i].Zones {
			zone, known := zones[key]
			zone.Placed++
			zones[key] = zone
			switch {
			case !known:
				return ads.ErrNotFound
			case zone.Currency != units[i].Bid.Currency:
				return ads.ErrCurrency
			case zone.Placed > ads.MaxZoneUnits:
				return ads.ErrFull
			}
		}
	}
	return nil
}

// joinCampaigns marks the units' campaigns as changed, and returns the advertisers' names of those that run.
func (a *adStore) joinCampaigns(ctx context.Context, units []adUnitDoc) (map[ads.CampaignID]string, error) {
	ids := distinct(units, func(d *adUnitDoc) []ads.CampaignID { return []ads.CampaignID{d.Campaign} })
	result, err := a.campaigns.UpdateMany(ctx, doc("_id", doc("$in", ids)), doc("$inc", doc("changes", 1)))
	if err != nil {
		return nil, err
	}
	if int(result.MatchedCount) < len(ids) {
		return nil, ads.ErrNotFound
	}
	campaigns, err := findIn[adCampaignDoc](ctx, a.campaigns, "_id", ids)
	if err != nil {
		return nil, err
	}
	return a.advertisersOf(ctx, campaigns)
}

// advertisersOf reads the names of the advertisers of those campaigns that run.
func (a *adStore) advertisersOf(ctx context.Context, campaigns []adCampaignDoc) (map[ads.CampaignID]string, error) {
	ids := distinct(campaigns, func(d *adCampaignDoc) []ads.AdvertiserID { return []ads.AdvertiserID{d.Advertiser} })
	advertisers, err := findIn[adAdvertiserDoc](ctx, a.advertisers, "_id", ids)
	if err != nil {
		return nil, err
	}
	names := make(map[ads.AdvertiserID]string, len(advertisers))
	for _, d := range advertisers {
		names[d.ID] = d.Name
	}
	running := make(map[ads.CampaignID]string, len(campaigns))
	for _, d := range campaigns {
		if !d.Paused {
			running[d.ID] = names[d.Advertiser]
		}
	}
	return running, nil
}

// place puts the units of running campaigns into their zones, each at its rank, and adds to the zones' numbers of
// units, running or not.
func (a *adStore) place(ctx context.Context, units []adUnitDoc, advertisers map[ads.CampaignID]string, placed int) error {
	arrivals, numbers := map[string][]adRunningDoc{}, map[string]int{}
	for i := range units {
		advertiser, running := advertisers[units[i].Campaign]
		for _, key := range units[i].Zones {
			numbers[key] += placed
			if running {
				arrivals[key] = append(arrivals[key], units[i].running(advertiser))
			}
		}
	}
	var updates []mongo.WriteModel
	for key, number := range numbers {
		update := doc("$inc", doc("placed", number))
		if len(arrivals[key]) > 0 {
			update = append(update, doc("$push", doc("units", doc("$each", arrivals[key], "$sort", adOrder)))...)
		}
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(doc("_id", key)).SetUpdate(update))
	}
	if len(updates) == 0 {
		return nil
	}
	_, err := a.zones.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	return err
}

// notStored are the entries whose key is not in the collection, the first of each key.
func notStored[T any, K comparable](ctx context.Context, c *mongo.Collection, entries []T, key func(*T) K) ([]T, error) {
	known, err := existing(ctx, c, each(entries, key))
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

// insertAds stores new documents. Where another transaction was first, this one runs again.
func insertAds[D any](ctx context.Context, c *mongo.Collection, docs []D) (int, error) {
	if len(docs) == 0 {
		return 0, nil
	}
	_, err := c.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	return len(docs), upserted(err)
}

// PauseCampaign implements ads.Catalogue.
func (a *adStore) PauseCampaign(ctx context.Context, campaign ads.CampaignID) (paused bool, err error) {
	err = a.db.write(ctx, "pause campaign", []id.ID{campaign.ID}, func(ctx context.Context) error {
		if _, paused, err = a.setPaused(ctx, campaign, true); err != nil || !paused {
			return err
		}
		_, err := a.zones.UpdateMany(ctx, doc("units.campaign", campaign),
			doc("$pull", doc("units", doc("campaign", campaign))))
		return err
	})
	return paused && err == nil, err
}

// ResumeCampaign implements ads.Catalogue.
func (a *adStore) ResumeCampaign(ctx context.Context, campaign ads.CampaignID) (resumed bool, err error) {
	err = a.db.write(ctx, "resume campaign", []id.ID{campaign.ID}, func(ctx context.Context) error {
		var d adCampaignDoc
		if d, resumed, err = a.setPaused(ctx, campaign, false); err != nil || !resumed {
			return err
		}
		return a.resume(ctx, d)
	})
	return resumed && err == nil, err
}

// setPaused changes the campaign's state, and returns the campaign as it is then.
func (a *adStore) setPaused(ctx context.Context, campaign ads.CampaignID, paused bool) (d adCampaignDoc, changed bool, err error) {
	err = found(a.campaigns.FindOneAndUpdate(ctx, doc("_id", campaign),
		doc("$set", doc("paused", paused), "$inc", doc("changes", 1))).Decode(&d)) // as it was before
	changed, d.Paused = d.Paused != paused, paused
	return d, changed, err
}

// resume puts a campaign's units into their zones. It marks the units as changed: a recording at the same time
// cannot know that their zones are about to have them.
func (a *adStore) resume(ctx context.Context, campaign adCampaignDoc) error {
	mine := doc("campaign", campaign.ID)
	if _, err := a.units.UpdateMany(ctx, mine, doc("$inc", doc("changes", 1))); err != nil {
		return err
	}
	units, err := findAll[adUnitDoc](ctx, a.units, mine, inBatch)
	if err != nil {
		return err
	}
	advertisers, err := a.advertisersOf(ctx, []adCampaignDoc{campaign})
	if err != nil {
		return err
	}
	return a.place(ctx, units, advertisers, 0)
}

// Record implements ads.Recorder.
func (a *adStore) Record(ctx context.Context, r ads.Recording) (bool, error) {
	err := a.db.write(ctx, "record ad", []id.ID{r.Unit.ID, hotZone(r.Zone)}, func(ctx context.Context) error {
		return a.record(ctx, &r)
	})
	if errors.Is(err, errRecorded) {
		return false, nil
	}
	return err == nil, err
}

func (a *adStore) record(ctx context.Context, r *ads.Recording) error {
	recordings, counter := a.impressions, "impressions"
	if r.Kind == ads.Click {
		recordings, counter = a.clicks, "clicks"
	}
	_, err := recordings.InsertOne(ctx, adRecordingDoc{
		Choice: r.Choice, Version: version, Zone: r.Zone.String(), Unit: r.Unit, At: r.At, KeepUntil: r.KeepUntil,
	})
	if mongo.IsDuplicateKeyError(err) {
		return errRecorded
	}
	if err != nil {
		return err
	}
	var before adUnitDoc
	err = found(a.units.FindOneAndUpdate(ctx, doc("_id", r.Unit), doc("$inc", doc(counter, 1))).Decode(&before))
	if err != nil {
		return err
	}
	after := before
	if r.Kind == ads.Click {
		after.Clicks++
	} else {
		after.Impressions++
	}
	if after.ecpm() == before.ecpm() {
		return nil
	}
	return a.move(ctx, &after)
}

// move gives a unit its rank in the zones where it runs.
func (a *adStore) move(ctx context.Context, unit *adUnitDoc) error {
	isUnit := doc("$eq", bson.A{"$$each.unit", unit.ID})
	ranked := doc("$mergeObjects", bson.A{"$$each", doc("ecpm", unit.ecpm())})
	units := doc("$map", doc("input", "$units", "as", "each", "in", doc("$cond", bson.A{isUnit, ranked, "$$each"})))
	_, err := a.zones.UpdateMany(ctx, doc("_id", doc("$in", unit.Zones), "units.unit", unit.ID),
		mongo.Pipeline{doc("$set", doc("units", doc("$sortArray", doc("input", units, "sortBy", adOrder))))})
	return err
}

// SigningKey implements ads.Keys.
func (a *adStore) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	var d adKeyDoc
	err := a.db.read(ctx, "signing key", func(ctx context.Context) error {
		return retry(ctx, func() error {
			return upserted(a.keys.FindOneAndUpdate(ctx, doc("_id", "signing"), doc("$setOnInsert", doc("key", fresh)),
				options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d))
		})
	})
	return d.Key, err
}
