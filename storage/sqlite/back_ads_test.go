package sqlite

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/id"
	"plaza/storage/sqlite/internal/sqldb"
)

// TestGoingBackKeepsCharges: after a downgrade and another upgrade, a charged conversion is not
// charged again. A server of the previous version shows no ads whose bids it does not know.
func TestGoingBackKeepsCharges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plaza.sqlite")
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	open := func() (*Store, *adserver.Service) {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return s, adserver.New(s.Ads(), adserver.Options{Now: func() time.Time { return now }, Go: func(do func()) { do() }})
	}
	s, service := open()
	campaign, zone := placeCPA(t, service)
	choices, err := service.Choose(t.Context(), adserver.Request{Site: zone.Site, Zone: zone.Name, Count: 1})
	if err != nil || len(choices) != 1 {
		t.Fatalf("%v, %v", choices, err)
	}
	click := choices[0].ClickToken
	_, err1 := service.RecordImpression(t.Context(), choices[0].ImpressionToken)
	_, err2 := service.RecordClick(t.Context(), click, "")
	if recorded, err := service.RecordConversion(t.Context(), click); err1 != nil || err2 != nil || err != nil || !recorded {
		t.Fatalf("%v, %v, %v, %v", err1, err2, recorded, err)
	}
	spent := spentBy(t, s, campaign)
	if spent == 0 {
		t.Fatal("the conversion was not charged")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	if err := GoBack(t.Context(), path, 14); err != nil {
		t.Fatal(err)
	}
	query(t, path, `SELECT u.state, p.running FROM ad_units AS u JOIN ad_placements AS p ON p.unit = u.id`, func(scan sqldb.Scan) {
		var state string
		var running bool
		if err := scan(&state, &running); err != nil || state != string(ads.Paused) || running {
			t.Errorf("in version 14 the ad is %s, running %v, %v", state, running, err)
		}
	})
	// As version 14 reads charges, and tallies recordings.
	query(t, path, `SELECT kind FROM ad_recordings INDEXED BY ad_recordings_billed WHERE billed > 0`, func(scan sqldb.Scan) {
		var kind string
		if err := scan(&kind); err != nil || kind != string(ads.Impression) && kind != string(ads.Click) {
			t.Errorf("version 14 reads a charge of the kind %q, %v", kind, err)
		}
	})
	query(t, path, `SELECT count(*), sum(r.kind = 'IMPRESSION'), sum(r.kind = 'CLICK'), sum(r.billed) FROM ad_recordings r WHERE r.due IS NULL`, func(scan sqldb.Scan) {
		var all, impressions, clicks, spend int
		if err := scan(&all, &impressions, &clicks, &spend); err != nil || all != 2 || impressions != 1 || clicks != 1 || spend != 0 {
			t.Errorf("version 14 counts %d recordings: %d impressions and %d clicks, which cost %d, %v", all, impressions, clicks, spend, err)
		}
	})

	s, service = open()
	defer func() { _ = s.Close() }()
	if recorded, err := service.RecordConversion(t.Context(), click); err != nil || recorded {
		t.Errorf("recorded again after the next upgrade: %v, %v", recorded, err)
	}
	if again := spentBy(t, s, campaign); again != spent {
		t.Errorf("%d micros were spent, and %d after the next upgrade", spent, again)
	}
	charges, err := s.Ads().Charged(t.Context(), ads.Selection{Campaign: campaign, Kind: ads.Conversion, To: now.Add(time.Hour)})
	if err != nil || charges.Count != 1 || charges.Amount != spent {
		t.Errorf("after the next upgrade %d conversions were charged, %d micros, %v", charges.Count, charges.Amount, err)
	}
	_, stale, err := s.Ads().RolledUp(t.Context())
	if err != nil || !slices.ContainsFunc(stale, now.Truncate(time.Hour).Equal) {
		t.Errorf("the hour of the conversion is not reported again: %v, %v", stale, err)
	}
	query(t, path, `SELECT conversions FROM ad_units`, func(scan sqldb.Scan) {
		var n int
		if err := scan(&n); err != nil || n != 1 {
			t.Errorf("the ad has %d conversions after the next upgrade, %v", n, err)
		}
	})
}

// placeCPA adds one running ad that is paid for by conversion.
func placeCPA(t *testing.T, service *adserver.Service) (ads.CampaignID, ads.ZoneID) {
	t.Helper()
	a := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	c := ads.Campaign{
		ID: ads.CampaignID{ID: id.New()}, Advertiser: a.ID, Name: "Spring", State: ads.Active, Budget: ads.Budget{Currency: "EUR", Total: 100_000_000},
	}
	z := ads.Zone{ID: ads.ZoneID{Site: "example.org", Name: "top"}, Currency: "EUR", Design: ads.ByZone}
	u := ads.Unit{
		ID: ads.UnitID{ID: id.New()}, Campaign: c.ID, State: ads.Active, Zones: []ads.ZoneID{z.ID}, Bid: ads.Bid{Model: ads.CPA, Price: 1_000_000, Currency: "EUR"},
		Creative: ads.Creative{Headline: "Anvils", LandingURL: "https://acme.example/"},
	}
	_, err := service.Add(t.Context(), ads.Batch{Advertisers: []ads.Advertiser{a}, Campaigns: []ads.Campaign{c}, Zones: []ads.Zone{z}, Units: []ads.Unit{u}})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID, z.ID
}

func spentBy(t *testing.T, s *Store, c ads.CampaignID) ads.Micros {
	t.Helper()
	ledgers, err := s.Ads().Ledgers(t.Context(), []ads.CampaignID{c})
	if err != nil {
		t.Fatal(err)
	}
	return ledgers[c].Spent
}
