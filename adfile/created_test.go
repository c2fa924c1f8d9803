package adfile_test

import (
	"slices"
	"testing"
	"time"

	"plaza/adfile"
	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
	"plaza/id"
)

const even = `advertisers: [{key: acme, name: Acme}]
campaigns:
  - {key: spring, advertiser: acme, name: Spring, schedule: {end: 2026-03-11T00:00:00Z}, budget: {currency: EUR, total: 1000000, even: true}}
units: [{key: anvils, campaign: spring, headline: Anvils, landingUrl: "https://acme.example/", bid: {model: CPM, price: 1000, currency: EUR}}]
`

// TestImportIsWhenThingsAreCreated: keys have no time, so the first import gives it.
func TestImportIsWhenThingsAreCreated(t *testing.T) {
	store, now := adsmodel.New(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	service := adserver.New(store, adserver.Options{Now: func() time.Time { return now }})
	first := now
	for _, want := range []adfile.Summary{{Added: 3}, {Unchanged: 3}} {
		if sum, err := loadAny(t, service, even); err != nil || sum != want {
			t.Fatalf("%+v, %v; want %+v", sum, err, want)
		}
		now = now.Add(24 * time.Hour)
	}
	c, times := stored(t, store)
	if !slices.Equal(times, []time.Time{first, first, first}) {
		t.Errorf("created at %v, want %v", times, first)
	}
	if err := service.SetCampaignState(t.Context(), c.ID, ads.Active); err != nil {
		t.Fatal(err)
	}
	if c, _ = stored(t, store); !c.CreatedAt.Equal(first) {
		t.Errorf("after a change it was created at %v", c.CreatedAt)
	}
	lease := c.Grant(&ads.Ledger{}, ads.LeaseRequest{ID: ads.LeaseID{ID: id.New()}, Campaign: c.ID, Price: 1_000, Count: 1_000, Now: first.Add(24 * time.Hour)})
	if lease == nil || lease.Amount != 101_000 { // a tenth, and one price ahead
		t.Errorf("a day after it was created, a campaign of ten days can spend %+v, want 101000", lease)
	}
}

// TestNextImportDatesWhatEarlierOnesStored: earlier versions stored no time.
func TestNextImportDatesWhatEarlierOnesStored(t *testing.T) {
	store, now := adsmodel.New(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	service := adserver.New(store, adserver.Options{Now: func() time.Time { return now }})
	f, err := adfile.Parse([]byte(even))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Save(t.Context(), f.Batch); err != nil {
		t.Fatal(err)
	}
	for _, want := range []adfile.Summary{{Changed: 3}, {Unchanged: 3}} {
		if sum, err := loadAny(t, service, even); err != nil || sum != want {
			t.Errorf("%+v, %v; want %+v", sum, err, want)
		}
	}
	if _, times := stored(t, store); !slices.Equal(times, []time.Time{now, now, now}) {
		t.Errorf("created at %v, want %v", times, now)
	}
}

// stored returns the only campaign, and when it, its advertiser and its unit were created.
func stored(t *testing.T, store ads.Store) (*ads.Campaign, []time.Time) {
	t.Helper()
	one := ads.Page{Limit: 1}
	advertisers, err := store.ListAdvertisers(t.Context(), one)
	if err != nil || len(advertisers) != 1 {
		t.Fatal(advertisers, err)
	}
	campaigns, err := store.ListCampaigns(t.Context(), advertisers[0].ID, one)
	if err != nil || len(campaigns) != 1 {
		t.Fatal(campaigns, err)
	}
	units, err := store.ListUnits(t.Context(), campaigns[0].ID, one)
	if err != nil || len(units) != 1 {
		t.Fatal(units, err)
	}
	return campaigns[0], []time.Time{advertisers[0].CreatedAt, campaigns[0].CreatedAt, units[0].CreatedAt}
}
