package adserver_test

import (
	"testing"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/id"
)

// TestUnitsKeepTheirCurrency is about the only unit, in no zone, of a campaign without a budget:
// nothing else refuses another currency.
func TestUnitsKeepTheirCurrency(t *testing.T) {
	w := newWorld(t)
	u := w.unit(1_000)
	u.Zones = nil
	if err := w.CreateUnit(w.ctx, u); err != nil {
		t.Fatal(err)
	}
	err := w.UpdateUnit(w.ctx, u.ID, func(u *ads.Unit) error { u.Bid.Currency = "USD"; return nil })
	refused(t, err, fault.CodeInvalid, "bid.currency", "another currency")
	u.Bid.Currency = "USD"
	_, err = w.Sync(w.ctx, ads.Batch{Units: []ads.Unit{u}}, adserver.Omitted{})
	refused(t, err, fault.CodeInvalid, "bid.currency", "another currency from a file")
	if err := w.UpdateUnit(w.ctx, u.ID, func(u *ads.Unit) error { u.Bid.Price = 2_000; return nil }); err != nil {
		t.Errorf("another price: %v", err)
	}
}

// TestSyncMovesNothing: what CheckReferences has not seen yet is refused, too.
func TestSyncMovesNothing(t *testing.T) {
	w := newWorld(t)
	u, bolt := w.place(1_000), ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Bolt"}
	c := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: bolt.ID, Name: "Autumn", State: ads.Active}
	w.add(ads.Batch{Advertisers: []ads.Advertiser{bolt}, Campaigns: []ads.Campaign{c}})
	u.Campaign, c.Advertiser = c.ID, w.campaign.Advertiser
	_, err := w.Sync(w.ctx, ads.Batch{Campaigns: []ads.Campaign{c}}, adserver.Omitted{})
	refused(t, err, fault.CodeInvalid, "advertiser", "another advertiser")
	_, err = w.Sync(w.ctx, ads.Batch{Units: []ads.Unit{u}}, adserver.Omitted{})
	refused(t, err, fault.CodeInvalid, "campaign", "another campaign")
}
