package adstore

import (
	"path/filepath"
	"testing"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// TestDocumentsReadThemselves checks that hand-written encoding and decoding agree with the struct
// tags.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{&zoneDoc{}, &profileDoc{}} {
		mdbtest.ReadsItself(t, d, func(any) int { return mdb.FirstVersion })
	}
}

// readers returns an empty document for each collection.
var readers = map[string]func() any{
	"adAdvertisers": func() any { return &advertiserDoc{} }, "adCampaigns": func() any { return &campaignDoc{} },
	"adUnits": func() any { return &unitDoc{} }, "adZones": func() any { return &zoneDoc{} },
	"adLedgers": func() any { return &ledgerDoc{} }, "adLeases": func() any { return &leaseDoc{} },
	"adProfiles": func() any { return &profileDoc{} }, "adTallies": func() any { return &tallyDoc{} },
	"adImpressions": func() any { return &recordingDoc{} }, "adClicks": func() any { return &recordingDoc{} },
	"adConversions": func() any { return &recordingDoc{} },
	"adRefunds":     func() any { return &refundDoc{} }, "adTraffic": func() any { return &trafficDoc{} },
	"adKeys": func() any { return &keyDoc{} },
}

// TestEveryVersionIsRead reads ad documents of every version that was ever written.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	for collection := range ShardKeys() {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "documents", collection+".*.bson"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no samples are kept, %v", collection, err)
		}
		newReader, ok := readers[collection]
		if !ok {
			t.Errorf("add the type of %s to readers", collection)
			continue
		}
		for _, path := range files {
			for _, raw := range mdbtest.Samples(t, path) {
				if err := mdbtest.Read(raw, newReader()); err != nil {
					t.Errorf("%s: %v in %v", path, err, raw)
				}
			}
		}
	}
}
