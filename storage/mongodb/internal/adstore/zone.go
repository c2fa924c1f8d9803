package adstore

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// zoneDoc is a document of adZones: everything that a choice reads. It often has more than a
// thousand values, so its decoding is hand-written. Its _id, site and name, is the shard key.
type zoneDoc struct {
	ID       string       `bson:"_id"`
	Version  int          `bson:"v"`
	Revision int          `bson:"revision"`
	Currency ads.Currency `bson:"currency"`
	Design   ads.Design   `bson:"design"`
	Placed   int          `bson:"placed"` // units that are not archived, running or not
	Units    []runningDoc `bson:"units"`  // the running ones, sorted by byRank
}

// runningDoc is a zone's copy of a unit: see ads.Running.
type runningDoc struct {
	Unit           ads.UnitID         `bson:"unit"`
	Campaign       ads.CampaignID     `bson:"campaign"`
	AdvertiserID   ads.AdvertiserID   `bson:"advertiserId"`
	Advertiser     string             `bson:"advertiser"`
	Creative       creativeDoc        `bson:",inline"`
	Bid            bidDoc             `bson:"bid"`
	ECPM           ads.Micros         `bson:"ecpm"`
	Keywords       []string           `bson:"keywords,omitempty"`
	KeywordWeights []keywordWeightDoc `bson:"keywordWeights,omitempty"`
	Weight         int                `bson:"weight,omitempty"`
	Caps           []scopeCapDoc      `bson:"caps,omitempty"`
	Schedule       scheduleDoc        `bson:"schedule,omitempty"`
	House          bool               `bson:"house,omitempty"`
	Limited        bool               `bson:"limited,omitempty"`
	// Since version 4; absent if written by a server that did not know it.
	CampaignRevision int `bson:"campaignRevision,omitempty"`
	Attribution      int `bson:"attribution,omitempty"` // absent if written by a server that did not know conversions
}

func (d *zoneDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Text(v, &d.ID)
	case "v":
		r.Int(v, &d.Version)
	case "revision":
		r.Int(v, &d.Revision)
	case "currency":
		mdb.ReadText(r, v, &d.Currency)
	case "design":
		mdb.ReadText(r, v, &d.Design)
	case "placed":
		r.Int(v, &d.Placed)
	case "units":
		mdb.ReadDocuments(r, v, &d.Units)
	}
}

func (d *runningDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "unit":
		r.ID(v, &d.Unit.ID)
	case "campaign":
		r.ID(v, &d.Campaign.ID)
	case "advertiserId":
		r.ID(v, &d.AdvertiserID.ID)
	case "advertiser":
		r.Text(v, &d.Advertiser)
	case "bid":
		r.Inner(v, &d.Bid)
	case "ecpm":
		readMicros(r, v, &d.ECPM)
	case "keywords":
		mdb.ReadArray(r, v, &d.Keywords, (*mdb.Reader).Text)
	case "keywordWeights":
		mdb.ReadDocuments(r, v, &d.KeywordWeights)
	case "weight":
		r.Int(v, &d.Weight)
	case "caps":
		mdb.ReadDocuments(r, v, &d.Caps)
	case "schedule":
		r.Inner(v, &d.Schedule)
	case "house":
		r.Bool(v, &d.House)
	case "limited":
		r.Bool(v, &d.Limited)
	case "campaignRevision":
		r.Int(v, &d.CampaignRevision)
	case "attribution":
		r.Int(v, &d.Attribution)
	default:
		d.Creative.SetField(r, field, v)
	}
}

// byRank is the order of a zone's units: that of ads.RunningUnit.Compare.
var byRank = mdb.Doc("ecpm", -1, "unit", 1)

func newZoneDoc(z *ads.Zone, v int) zoneDoc {
	return zoneDoc{ID: z.ID.String(), Version: v, Revision: 1, Currency: z.Currency, Design: z.Design, Units: []runningDoc{}}
}

func (d *zoneDoc) zone() (*ads.Zone, error) {
	zone, err := ads.ParseZoneID(d.ID)
	z := &ads.Zone{ID: zone, Currency: d.Currency, Design: d.Design, Revision: d.Revision}
	for i := range d.Units {
		z.Units = append(z.Units, d.Units[i].running())
	}
	return z, err
}

func newRunningDoc(r ads.RunningUnit) runningDoc {
	return runningDoc{
		Unit: r.Unit, Campaign: r.Campaign, AdvertiserID: r.AdvertiserID, Advertiser: r.Advertiser, Creative: creativeDoc(r.Creative),
		Bid: bidDoc(r.Bid), ECPM: r.ECPM, Keywords: r.Keywords, KeywordWeights: newKeywordWeightDocs(r.KeywordWeights), Weight: r.Weight, Caps: newScopeCapDocs(r.Caps),
		Schedule: newScheduleDoc(r.Schedule), House: r.House, Limited: r.Limited, CampaignRevision: r.CampaignRevision, Attribution: r.Attribution,
	}
}

func (d *runningDoc) running() ads.RunningUnit {
	return ads.RunningUnit{
		Unit: d.Unit, Campaign: d.Campaign, AdvertiserID: d.AdvertiserID, Advertiser: d.Advertiser, Creative: ads.Creative(d.Creative),
		Bid: ads.Bid(d.Bid), ECPM: d.ECPM, Keywords: d.Keywords, KeywordWeights: readKeywordWeights(d.KeywordWeights), Weight: d.Weight, Caps: readScopeCaps(d.Caps),
		Schedule: d.Schedule.schedule(), House: d.House, Limited: d.Limited, CampaignRevision: d.CampaignRevision, Attribution: cmp.Or(d.Attribution, ads.DefaultAttribution),
	}
}

func (s *saving) saveZones(ctx context.Context, b *ads.Batch) (int, error) {
	if len(b.Zones) == 0 {
		return 0, nil
	}
	added, err := insertNew(ctx, s.Store.zones, b.Zones,
		func(z *ads.Zone) string { return z.ID.String() }, func(z *ads.Zone) int { return z.Revision },
		func(z *ads.Zone) zoneDoc { return newZoneDoc(z, s.writes("adZones")) })
	if err != nil {
		return 0, err
	}
	replaced := 0
	for _, z := range b.Zones {
		if z.Revision == 0 {
			continue
		}
		if err := replace(ctx, s.Store.zones, z.ID.String(), z.Revision, mdb.Doc("design", z.Design)); err != nil {
			return 0, err
		}
		replaced++
	}
	zones, err := s.zoneHeads(ctx, mdb.Map(b.Zones, func(z *ads.Zone) string { return z.ID.String() }))
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

// zoneHeads reads zones without their units; the map omits those that do not exist.
func (a *Store) zoneHeads(ctx context.Context, keys []string) (map[string]zoneDoc, error) {
	docs, err := mdb.FindIn[zoneDoc](ctx, a.zones, "_id", keys, options.Find().SetProjection(mdb.Doc("units", 0)))
	heads := make(map[string]zoneDoc, len(docs))
	for _, d := range docs {
		heads[d.ID] = d
	}
	return heads, err
}

// Zone implements ads.Zones.
func (a *Store) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	var d zoneDoc
	err := a.calls.Read(ctx, "ad zone", func(ctx context.Context) error {
		raw, err := a.zones.FindOne(ctx, mdb.Doc("_id", id.String())).Raw()
		if err != nil {
			return mdb.OrNotFound(err)
		}
		return mdb.ReadDocument(raw, &d)
	})
	if err != nil {
		return nil, err
	}
	return d.zone()
}

// ListZones implements ads.Catalogue.
func (a *Store) ListZones(ctx context.Context, p ads.Page) (list []*ads.Zone, err error) {
	err = a.calls.Read(ctx, "list zones", func(ctx context.Context) error {
		docs, err := readPage[zoneDoc](ctx, a.zones, mdb.Doc(), "_id_", p, textKey)
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
