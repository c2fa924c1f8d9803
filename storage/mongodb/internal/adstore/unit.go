package adstore

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// unitDoc is a document of adUnits: the original of a unit, of which zones have copies.
type unitDoc struct {
	ID          ads.UnitID     `bson:"_id"`
	Version     int            `bson:"v"`
	Revision    int            `bson:"revision"`
	Campaign    ads.CampaignID `bson:"campaign"`
	Details     unitDetails    `bson:",inline"`
	Impressions int64          `bson:"impressions"`
	Clicks      int64          `bson:"clicks"`
	Conversions int64          `bson:"conversions"`
	Changes     int64          `bson:"changes"` // incremented when its campaign is saved; see saving.refresh
}

// unitDetails are the fields that can be replaced.
type unitDetails struct {
	State          ads.State          `bson:"state"`
	Creative       creativeDoc        `bson:",inline"`
	Bid            bidDoc             `bson:"bid"`
	Zones          []string           `bson:"zones"` // see ads.ZoneID.String
	Keywords       []string           `bson:"keywords"`
	KeywordWeights []keywordWeightDoc `bson:"keywordWeights"`
	Weight         int                `bson:"weight"`
	Caps           []capDoc           `bson:"caps"`
	Created        createdDoc         `bson:",inline"`
}

func newUnitDoc(u *ads.Unit, v int) unitDoc {
	return unitDoc{ID: u.ID, Version: v, Revision: 1, Campaign: u.Campaign, Details: newUnitDetails(u)}
}

func newUnitDetails(u *ads.Unit) unitDetails {
	return unitDetails{
		State: u.State, Creative: creativeDoc(u.Creative), Bid: bidDoc(u.Bid), Zones: zoneKeys(u.Zones),
		Keywords: u.Keywords, KeywordWeights: newKeywordWeightDocs(u.KeywordWeights), Weight: u.Weight, Caps: newCapDocs(u.Caps), Created: newCreatedDoc(u.CreatedAt, u.ID.ID),
	}
}

func (d *unitDoc) unit() (*ads.Unit, error) {
	u := &ads.Unit{
		ID: d.ID, Campaign: d.Campaign, Creative: ads.Creative(d.Details.Creative), State: d.Details.State, Bid: ads.Bid(d.Details.Bid), Keywords: d.Details.Keywords,
		KeywordWeights: readKeywordWeights(d.Details.KeywordWeights), Weight: d.Details.Weight, Caps: readCaps(d.Details.Caps), Revision: d.Revision, Impressions: d.Impressions, Clicks: d.Clicks, Conversions: d.Conversions, CreatedAt: d.Details.Created.time(d.ID.ID),
	}
	for _, key := range d.Details.Zones {
		zone, err := ads.ParseZoneID(key)
		if err != nil {
			return nil, err
		}
		u.Zones = append(u.Zones, zone)
	}
	return u, nil
}

func (d *unitDoc) ecpm() ads.Micros {
	return ads.ECPM(ads.Bid(d.Details.Bid), d.Impressions, d.Clicks, d.Conversions)
}

// counter returns the field in which a unit counts recordings of a kind.
func (d *unitDoc) counter(kind ads.Kind) (field string, count *int64) {
	switch kind {
	case ads.Conversion:
		return "conversions", &d.Conversions
	case ads.Click:
		return "clicks", &d.Clicks
	default:
		return "impressions", &d.Impressions
	}
}

// placed returns what a unit adds to the number of units in its zones.
func (d *unitDetails) placed() int {
	if d.State == ads.Archived {
		return 0
	}
	return 1
}

func (s *saving) saveUnits(ctx context.Context, b *ads.Batch) (int, error) {
	if len(b.Units) == 0 {
		return 0, nil
	}
	written := s.writes("adUnits")
	if slices.ContainsFunc(b.Units, func(u ads.Unit) bool { return unitVersion(&u) > written }) {
		return 0, ads.ErrUpgrading
	}
	document := func(u *ads.Unit) unitDoc { return newUnitDoc(u, s.writes("adUnits")) }
	added, err := insertNew(ctx, s.Store.units, b.Units,
		func(u *ads.Unit) ads.UnitID { return u.ID }, func(u *ads.Unit) int { return u.Revision }, document)
	if err != nil {
		return 0, err
	}
	docs := mdb.Map(added, document)
	for i := range docs {
		s.place(&docs[i])
	}
	replaced, err := s.replaceUnits(ctx, b)
	if err != nil {
		return 0, err
	}
	if err := s.joinCampaigns(ctx, docs); err != nil {
		return 0, err
	}
	return len(added) + replaced, s.checkPlaces(ctx)
}

// unitVersion returns the first version of documents that can express the unit.
func unitVersion(u *ads.Unit) int {
	switch {
	case len(u.KeywordWeights) > 0:
		return weightsVersion
	case u.Bid.Model == ads.CPA:
		return conversionsVersion
	default:
		return mdb.FirstVersion
	}
}

// place notes that a unit enters its zones.
func (s *saving) place(d *unitDoc) {
	s.units[d.ID] = d
	for _, key := range d.Details.Zones {
		s.zones[key] += d.Details.placed()
	}
}

func (s *saving) replaceUnits(ctx context.Context, b *ads.Batch) (replaced int, err error) {
	given := map[ads.UnitID]*ads.Unit{}
	for i := range b.Units {
		if b.Units[i].Revision != 0 {
			given[b.Units[i].ID] = &b.Units[i]
		}
	}
	if len(given) == 0 {
		return 0, nil
	}
	stored, err := mdb.FindIn[unitDoc](ctx, s.Store.units, "_id", distinct(b.Units, func(u *ads.Unit) []ads.UnitID { return []ads.UnitID{u.ID} }))
	if err != nil {
		return 0, err
	}
	for i := range stored {
		d := &stored[i]
		u := given[d.ID]
		if u == nil {
			continue
		}
		if err := replace(ctx, s.Store.units, u.ID, u.Revision, newUnitDetails(u)); err != nil {
			return 0, err
		}
		for _, key := range d.Details.Zones {
			s.zones[key] -= d.Details.placed()
		}
		d.Details = newUnitDetails(u)
		d.Revision++
		s.place(d)
		replaced++
	}
	if replaced < len(given) {
		return 0, ads.ErrConflict // a unit that does not exist
	}
	return replaced, nil
}

// joinCampaigns marks the units' campaigns as changed, and checks that they exist and have the
// units' currency.
func (s *saving) joinCampaigns(ctx context.Context, added []unitDoc) error {
	wanted := map[ads.CampaignID]bool{}
	for _, d := range s.units {
		wanted[d.Campaign] = true
	}
	ids := make([]ads.CampaignID, 0, len(wanted))
	for campaign := range wanted {
		ids = append(ids, campaign)
	}
	if len(ids) == 0 {
		return nil
	}
	result, err := s.Store.campaigns.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", ids)), mdb.Doc("$inc", mdb.Doc("changes", 1)))
	if err != nil {
		return err
	}
	if int(result.MatchedCount) < len(ids) {
		return ads.ErrNotFound
	}
	campaigns, err := s.readCampaigns(ctx, ids)
	if err != nil {
		return err
	}
	for _, d := range s.units {
		if b := campaigns[d.Campaign].Budget; b.Limited() && b.Currency != d.Details.Bid.Currency {
			return ads.ErrCurrency
		}
	}
	return s.checkMates(ctx, added, campaigns)
}

// checkMates checks that added units have the currency of one of their campaign's units, if it has
// any. All units of a limited campaign have its budget's.
func (s *saving) checkMates(ctx context.Context, added []unitDoc, campaigns map[ads.CampaignID]*ads.Campaign) error {
	ids := mdb.Map(added, func(d *unitDoc) ads.UnitID { return d.ID })
	currency := map[ads.CampaignID]ads.Currency{} // of those that have been checked
	for i := range added {
		campaign, bids := added[i].Campaign, added[i].Details.Bid.Currency
		checked, ok := currency[campaign]
		if campaigns[campaign].Budget.Limited() || (ok && checked == bids) {
			continue
		}
		mates := mdb.Doc("campaign", campaign, "_id", mdb.Doc("$nin", ids))
		found, err := s.hasUnit(ctx, append(slices.Clone(mates), bson.E{Key: "bid.currency", Value: bids}))
		if err != nil {
			return err
		}
		if !found {
			others, err := s.hasUnit(ctx, mates)
			if err != nil {
				return err
			}
			if others || ok {
				return ads.ErrCurrency
			}
		}
		currency[campaign] = bids
	}
	return nil
}

// hasUnit reports whether a unit matches.
func (s *saving) hasUnit(ctx context.Context, filter bson.D) (bool, error) {
	found, err := mdb.FindAll[unitDoc](ctx, s.Store.units, filter, 1, options.Find().SetLimit(1).SetHint(byCampaign))
	return len(found) > 0, err
}

// checkPlaces checks whether the units fit into their zones.
func (s *saving) checkPlaces(ctx context.Context) error {
	var keys []string
	for key := range s.zones {
		keys = append(keys, key)
	}
	zones, err := s.zoneHeads(ctx, keys)
	if err != nil {
		return err
	}
	for key, more := range s.zones {
		zone, known := zones[key]
		if !known {
			return ads.ErrNotFound
		}
		if more > 0 && zone.Placed+more > ads.MaxZoneUnits {
			return ads.ErrFull
		}
	}
	for _, d := range s.units {
		for _, key := range d.Details.Zones {
			if zones[key].Currency != d.Details.Bid.Currency {
				return ads.ErrCurrency
			}
		}
	}
	return nil
}

// Units implements ads.Catalogue.
func (a *Store) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	all := make(map[ads.UnitID]*ads.Unit, len(ids))
	err := a.calls.Read(ctx, "ad units", func(ctx context.Context) error {
		docs, err := mdb.FindIn[unitDoc](ctx, a.units, "_id", ids)
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

// ListUnits implements ads.Catalogue.
func (a *Store) ListUnits(ctx context.Context, of ads.CampaignID, p ads.Page) (list []*ads.Unit, err error) {
	err = a.calls.Read(ctx, "list ad units", func(ctx context.Context) error {
		docs, err := readPage[unitDoc](ctx, a.units, mdb.Doc("campaign", of), byCampaign, p, idKey)
		if err != nil {
			return err
		}
		list = make([]*ads.Unit, len(docs))
		for i := range docs {
			if list[i], err = docs[i].unit(); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}
