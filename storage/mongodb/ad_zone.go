package mongodb

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
)

// adZoneDoc is a document of adZones: all that a choice reads, with a thousand values and more, so that it reads itself. Its _id, site and name, is the shard key.
type adZoneDoc struct {
	ID       string         `bson:"_id"`
	Version  int            `bson:"v"`
	Revision int            `bson:"revision"`
	Currency ads.Currency   `bson:"currency"`
	Design   ads.Design     `bson:"design"`
	Placed   int            `bson:"placed"` // units, running or not, that are not archived
	Units    []adRunningDoc `bson:"units"`  // the running ones, by adOrder
}

// adRunningDoc is a zone's copy of a unit: see ads.Running.
type adRunningDoc struct {
	Unit         ads.UnitID       `bson:"unit"`
	Campaign     ads.CampaignID   `bson:"campaign"`
	AdvertiserID ads.AdvertiserID `bson:"advertiserId"`
	Advertiser   string           `bson:"advertiser"`
	Creative     adCreativeDoc    `bson:",inline"`
	Bid          adBidDoc         `bson:"bid"`
	ECPM         ads.Micros       `bson:"ecpm"`
	Keywords     []string         `bson:"keywords,omitempty"`
	Weight       int              `bson:"weight,omitempty"`
	Caps         []adScopeCapDoc  `bson:"caps,omitempty"`
	Schedule     adScheduleDoc    `bson:"schedule,omitempty"`
	House        bool             `bson:"house,omitempty"`
	Limited      bool             `bson:"limited,omitempty"`
	Attribution  int              `bson:"attribution,omitempty"` // absent where a server has written it that knew of no conversions
}

func (d *adZoneDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.text(v, &d.ID)
	case "v":
		r.int(v, &d.Version)
	case "revision":
		r.int(v, &d.Revision)
	case "currency":
		readText(r, v, &d.Currency)
	case "design":
		readText(r, v, &d.Design)
	case "placed":
		r.int(v, &d.Placed)
	case "units":
		readDocuments(r, v, &d.Units)
	}
}

func (d *adRunningDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "unit":
		r.id(v, &d.Unit.ID)
	case "campaign":
		r.id(v, &d.Campaign.ID)
	case "advertiserId":
		r.id(v, &d.AdvertiserID.ID)
	case "advertiser":
		r.text(v, &d.Advertiser)
	case "bid":
		r.inner(v, &d.Bid)
	case "ecpm":
		r.micros(v, &d.ECPM)
	case "keywords":
		readArray(r, v, &d.Keywords, (*reading).text)
	case "weight":
		r.int(v, &d.Weight)
	case "caps":
		readDocuments(r, v, &d.Caps)
	case "schedule":
		r.inner(v, &d.Schedule)
	case "house":
		r.bool(v, &d.House)
	case "limited":
		r.bool(v, &d.Limited)
	case "attribution":
		r.int(v, &d.Attribution)
	default:
		d.Creative.set(r, field, v)
	}
}

func (d *adCreativeDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "headline":
		r.text(v, &d.Headline)
	case "body":
		r.text(v, &d.Body)
	case "imageUrl":
		r.text(v, &d.ImageURL)
	case "landingUrl":
		r.text(v, &d.LandingURL)
	}
}

func (d *adBidDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "model":
		readText(r, v, &d.Model)
	case "price":
		r.micros(v, &d.Price)
	case "currency":
		readText(r, v, &d.Currency)
	}
}

func (d *adScopeCapDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "scope":
		r.id(v, &d.Scope.ID)
	case "count":
		r.int(v, &d.Cap.Count)
	case "per":
		readText(r, v, &d.Cap.Per)
	}
}

func (d *adScheduleDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "start":
		r.time(v, &d.Start)
	case "end":
		r.time(v, &d.End)
	case "timeZone":
		r.text(v, &d.TimeZone)
	case "weekdays":
		r.int(v, &d.Weekdays)
	case "fromHour":
		r.int(v, &d.FromHour)
	case "toHour":
		r.int(v, &d.ToHour)
	}
}

// adOrder is the order of a zone's units: that of ads.RunningUnit.Compare.
var adOrder = doc("ecpm", -1, "unit", 1)

func newAdZoneDoc(z *ads.Zone, v int) adZoneDoc {
	return adZoneDoc{ID: z.ID.String(), Version: v, Revision: 1, Currency: z.Currency, Design: z.Design, Units: []adRunningDoc{}}
}

func (d *adZoneDoc) zone() (*ads.Zone, error) {
	zone, err := ads.ParseZoneID(d.ID)
	z := &ads.Zone{ID: zone, Currency: d.Currency, Design: d.Design, Revision: d.Revision}
	for i := range d.Units {
		z.Units = append(z.Units, d.Units[i].running())
	}
	return z, err
}

func newAdRunningDoc(r ads.RunningUnit) adRunningDoc {
	return adRunningDoc{
		Unit: r.Unit, Campaign: r.Campaign, AdvertiserID: r.AdvertiserID, Advertiser: r.Advertiser, Creative: adCreativeDoc(r.Creative),
		Bid: adBidDoc(r.Bid), ECPM: r.ECPM, Keywords: r.Keywords, Weight: r.Weight, Caps: adScopeCapDocs(r.Caps),
		Schedule: newAdScheduleDoc(r.Schedule), House: r.House, Limited: r.Limited, Attribution: r.Attribution,
	}
}

func (d *adRunningDoc) running() ads.RunningUnit {
	return ads.RunningUnit{
		Unit: d.Unit, Campaign: d.Campaign, AdvertiserID: d.AdvertiserID, Advertiser: d.Advertiser, Creative: ads.Creative(d.Creative),
		Bid: ads.Bid(d.Bid), ECPM: d.ECPM, Keywords: d.Keywords, Weight: d.Weight, Caps: adScopeCaps(d.Caps),
		Schedule: d.Schedule.schedule(), House: d.House, Limited: d.Limited, Attribution: cmp.Or(d.Attribution, ads.DefaultAttribution),
	}
}

func (s *adSaving) saveZones(ctx context.Context, b *ads.Batch) (int, error) {
	if len(b.Zones) == 0 {
		return 0, nil
	}
	added, err := insertNew(ctx, s.adStore.zones, b.Zones,
		func(z *ads.Zone) string { return z.ID.String() }, func(z *ads.Zone) int { return z.Revision },
		func(z *ads.Zone) adZoneDoc { return newAdZoneDoc(z, s.db.writes("adZones")) })
	if err != nil {
		return 0, err
	}
	replaced := 0
	for _, z := range b.Zones {
		if z.Revision == 0 {
			continue
		}
		if err := replaceAd(ctx, s.adStore.zones, z.ID.String(), z.Revision, doc("design", z.Design)); err != nil {
			return 0, err
		}
		replaced++
	}
	zones, err := s.zoneHeads(ctx, each(b.Zones, func(z *ads.Zone) string { return z.ID.String() }))
	if err != nil {
		return 0, err
	}
	for _, z := range b.Zones {
		if zones[z.ID.String()].Currency != z.Currency {
			return 0, ads.ErrCurrency
		}
	}
	return len(added) + replaced, nil
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

// Zone implements ads.Zones.
func (a *adStore) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	var d adZoneDoc
	err := a.db.read(ctx, "ad zone", func(ctx context.Context) error {
		raw, err := a.zones.FindOne(ctx, doc("_id", id.String())).Raw()
		if err != nil {
			return found(err)
		}
		return readDocument(raw, &d)
	})
	if err != nil {
		return nil, err
	}
	return d.zone()
}

// ListZones implements ads.Catalogue.
func (a *adStore) ListZones(ctx context.Context, p ads.Page) (list []*ads.Zone, err error) {
	err = a.db.read(ctx, "list zones", func(ctx context.Context) error {
		docs, err := listAds[adZoneDoc](ctx, a.zones, doc(), "_id_", p, adTextKey)
		if err != nil {
			return err
		}
		list = make([]*ads.Zone, len(docs))
		for i := range docs {
			if list[i], err = docs[i].zone(); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}
