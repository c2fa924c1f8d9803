package mongodb_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/ads"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestSavingAdsIsRetriedAfterAConflict checks that the call succeeds, whichever read of its
// transaction hits a conflict.
func TestSavingAdsIsRetriedAfterAConflict(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	uri := mongotest.InDatabase(t, server.URI(), "plaza")
	store := openAt(t, uri, mongodb.Options{}).Ads()
	f := placeAds(t, store)
	client := adminOf(t, uri).Client()
	for _, collection := range []string{"adAdvertisers", "adCampaigns", "adUnits", "adZones"} {
		units, err := store.Units(t.Context(), []ads.UnitID{f.cpm})
		if err != nil {
			t.Fatal(err)
		}
		mongotest.FailCommand(t, client, bson.D{{Key: "times", Value: 1}}, bson.D{
			{Key: "failCommands", Value: bson.A{"find"}},
			{Key: "namespace", Value: "plaza." + collection},
			{Key: "errorCode", Value: 112},
			{Key: "errorLabels", Value: bson.A{"TransientTransactionError"}},
		})
		saved, err := store.Save(t.Context(), ads.Batch{Units: []ads.Unit{*units[f.cpm]}})
		if err != nil || saved != 1 {
			t.Errorf("a conflict in %s: %d saved, %v", collection, saved, err)
		}
	}
}
