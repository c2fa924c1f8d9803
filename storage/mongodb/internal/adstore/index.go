package adstore

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// The indexes that queries name as hints.
const (
	byDue        = "due"
	byAdvertiser = "advertiser_id"
	byCampaign   = "campaign_id"
	byPerson     = "profile_at"
	byAddress    = "address_at"
	byBilling    = "billed" // the billed recordings of a campaign, by time
	byOpen       = "open"
	byZone       = "zone_hour"
)

// Indexes returns the declared indexes of all collections. The definition behind a name never
// changes: a changed index gets a new name.
func (a *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
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

// billed returns an index on recordings that cost something.
func billed() mongo.IndexModel {
	return mongo.IndexModel{
		Keys:    mdb.Doc("campaign", 1, "at", 1),
		Options: options.Index().SetName(byBilling).SetPartialFilterExpression(wasBilled),
	}
}

var wasBilled = mdb.Doc("billed", mdb.Doc("$gt", 0))

// ShardKeys returns the declared shard keys of all collections. A collection without a key is
// small, and is not sharded.
func ShardKeys() map[string]bson.D {
	own := mdb.Doc("_id", "hashed")
	return map[string]bson.D{
		"adAdvertisers": own,
		"adCampaigns":   own,
		"adUnits":       own,
		"adZones":       own, // site and zone
		"adImpressions": own, // the choice
		"adClicks":      own, // the choice
		"adConversions": own, // the choice
		"adLedgers":     own, // the campaign
		"adLeases":      own,
		"adProfiles":    own, // the person
		"adTallies":     mdb.Doc("campaign", "hashed", "hour", 1),
		"adTraffic":     mdb.Doc("zone", "hashed", "hour", 1),

		"adKeys":    nil, // two documents
		"adRefunds": nil, // requests by people
	}
}
