package adstore

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// Store implements ads.Store on a database.
type Store struct {
	calls  *mdb.DB
	writes func(collection string) int

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

// New returns the store for the ads in a database. calls makes its reads and writes; writes returns
// the version in which documents of a collection must be written now.
func New(db *mongo.Database, calls *mdb.DB, writes func(collection string) int) *Store {
	return &Store{
		calls: calls, writes: writes,
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

// whenDue is the field with the time at which a waiting recording is due.
const whenDue = "waiting.due"

// hotZone returns the id under which writers of one zone wait for each other.
func hotZone(zone ads.ZoneID) id.ID { return id.Derive(time.Time{}, zone.String()) }

func zoneKeys(zones []ads.ZoneID) []string {
	keys := make([]string, len(zones))
	for i, zone := range zones {
		keys[i] = zone.String()
	}
	return keys
}
