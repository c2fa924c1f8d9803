package plazatest

import (
	"testing"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/id"
	"plaza/storage"
)

// SeedAds places two ads in the zone "sidebar" of example.org, of which "Engines" has the higher
// bid. It returns their campaign.
func SeedAds(t *testing.T, st storage.Store) ads.CampaignID {
	t.Helper()
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Babbage & Sons"}
	campaign := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Autumn", State: ads.Active}
	zone := ads.Zone{ID: ads.ZoneID{Site: "example.org", Name: "sidebar"}, Currency: "EUR", Design: ads.ByKeywords}
	unit := func(headline, image string, price ads.Micros) ads.Unit {
		return ads.Unit{
			ID: ads.UnitID{ID: id.New()}, Campaign: campaign.ID, State: ads.Active, Zones: []ads.ZoneID{zone.ID},
			Creative: ads.Creative{Headline: headline, Body: "By steam.", ImageURL: image, LandingURL: "https://example.org/" + headline},
			Bid:      ads.Bid{Model: ads.CPM, Price: price, Currency: zone.Currency},
		}
	}
	_, err := adserver.New(st.Ads(), adserver.Options{}).Add(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{advertiser}, Campaigns: []ads.Campaign{campaign}, Zones: []ads.Zone{zone},
		Units: []ads.Unit{unit("Tables", "", 1_000_000), unit("Engines", "https://example.org/engine.png", 2_000_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return campaign.ID
}
