package adstore

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// Store is the database as an ads.Store.
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

// New makes the store of a database's ads. It reads and writes by calls; writes says in which version documents of a collection are written now.
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

// whenDue is when a recording that waits is due.
const whenDue = "waiting.due"

// hotZone is the id under which writers of one zone wait for one another.
func hotZone(zone ads.ZoneID) id.ID { return id.Derive(time.Time{}, zone.String()) }

func zoneKeys(zones []ads.ZoneID) []string {
	keys := make([]string, len(zones))
	for i, zone := range zones {
		keys[i] = zone.String()
	}
	return keys
}
