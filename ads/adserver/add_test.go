package adserver_test

import (
	"errors"
	"strings"
	"testing"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/id"
)

func TestAddRefusesBadUnits(t *testing.T) {
	w := newWorld(t)
	good := w.unit(1_000)
	many := make([]ads.ZoneID, ads.MaxUnitZones+1)
	for i := range many {
		many[i] = ads.ZoneID{Site: "example.org", Name: strings.Repeat("z", i%60+1)}
	}
	for _, c := range []struct {
		name, field string
		change      func(u *ads.Unit)
	}{
		{"no id", "units.1.id", func(u *ads.Unit) { u.ID = ads.UnitID{} }},
		{"no campaign", "units.1.campaign", func(u *ads.Unit) { u.Campaign = ads.CampaignID{} }},
		{"no headline", "units.1.headline", func(u *ads.Unit) { u.Headline = "" }},
		{"blank headline", "units.1.headline", func(u *ads.Unit) { u.Headline = " \u00a0" }},
		{"long headline", "units.1.headline", func(u *ads.Unit) { u.Headline = strings.Repeat("ä", ads.MaxHeadline+1) }},
		{"broken headline", "units.1.headline", func(u *ads.Unit) { u.Headline = "a\xff" }},
		{"long body", "units.1.body", func(u *ads.Unit) { u.Body = strings.Repeat("ä", ads.MaxBody+1) }},
		{"NUL in the body", "units.1.body", func(u *ads.Unit) { u.Body = "a\x00b" }},
		{"no bid", "units.1.bid.model", func(u *ads.Unit) { u.Bid = ads.Bid{} }},
		{"a bid of nothing", "units.1.bid.price", func(u *ads.Unit) { u.Bid.Price = 0 }},
		{"a negative bid", "units.1.bid.price", func(u *ads.Unit) { u.Bid.Price = -1 }},
		{"a bid that overflows", "units.1.bid.price", func(u *ads.Unit) { u.Bid.Price = ads.MaxBid + 1 }},
		{"no currency", "units.1.bid.currency", func(u *ads.Unit) { u.Bid.Currency = "" }},
		{"a currency in lower case", "units.1.bid.currency", func(u *ads.Unit) { u.Bid.Currency = "eur" }},
		{"no such currency", "units.1.bid.currency", func(u *ads.Unit) { u.Bid.Currency = "EUX" }},
		{"no money", "units.1.bid.currency", func(u *ads.Unit) { u.Bid.Currency = "XXX" }},
		{"a CPM that does not divide", "units.1.bid.price", func(u *ads.Unit) { u.Bid.Price = 1_500 }},
		{"no state", "units.1.state", func(u *ads.Unit) { u.State = "" }},
		{"10,000 keywords", "units.1.keywords", func(u *ads.Unit) { u.Keywords = make([]string, 10_000) }},
		{"a keyword in upper case", "units.1.keywords", func(u *ads.Unit) { u.Keywords = []string{"Anvil"} }},
		{"a weight of another keyword", "units.1.keywordWeights.0.keyword", weighing(ads.KeywordWeight{Keyword: "forge", Weight: 2})},
		{"a keyword's weight of 0", "units.1.keywordWeights.0.weight", weighing(ads.KeywordWeight{Keyword: "anvil"})},
		{"a keyword's weight below 0", "units.1.keywordWeights.0.weight", weighing(ads.KeywordWeight{Keyword: "anvil", Weight: -1})},
		{"a keyword's weight above 1000", "units.1.keywordWeights.0.weight", weighing(ads.KeywordWeight{Keyword: "anvil", Weight: ads.MaxWeight + 1})},
		{"two weights of a keyword", "units.1.keywordWeights.1.keyword", weighing(ads.KeywordWeight{Keyword: "anvil", Weight: 1}, ads.KeywordWeight{Keyword: "anvil", Weight: 2})},
		{"a weighted keyword in upper case", "units.1.keywordWeights", weighing(ads.KeywordWeight{Keyword: "Anvil", Weight: 1})},
		{"weights that are not sorted", "units.1.keywordWeights", weighing(ads.KeywordWeight{Keyword: "steel", Weight: 1}, ads.KeywordWeight{Keyword: "anvil", Weight: 2})},
		{"a weight below 0", "units.1.weight", func(u *ads.Unit) { u.Weight = -1 }},
		{"a weight above 1000", "units.1.weight", func(u *ads.Unit) { u.Weight = ads.MaxWeight + 1 }},
		{"a cap of nothing", "units.1.caps.0.count", func(u *ads.Unit) { u.Caps = []ads.Cap{{Per: ads.Day}} }},
		{"a cap twice", "units.1.caps.1.per", func(u *ads.Unit) { u.Caps = []ads.Cap{{Count: 1, Per: ads.Day}, {Count: 2, Per: ads.Day}} }},
		{"many zones", "units.1.zones", func(u *ads.Unit) { u.Zones = many }},
		{"a zone twice", "units.1.zones.2", func(u *ads.Unit) { u.Zones = []ads.ZoneID{top, side, top} }},
		{"a bad zone", "units.1.zones.1", func(u *ads.Unit) { u.Zones = []ads.ZoneID{top, {Site: "a/b", Name: "c"}} }},
		{"counters", "units.1", func(u *ads.Unit) { u.Clicks = 1 }},
	} {
		bad := w.unit(1_000)
		c.change(&bad)
		added, err := w.Add(w.ctx, ads.Batch{Units: []ads.Unit{good, bad}})
		refused(t, err, fault.CodeInvalid, c.field, c.name)
		if added != 0 {
			t.Errorf("%s: added %d", c.name, added)
		}
	}
	if n := len(w.choose(1)); n != 0 {
		t.Error("a refused batch has stored its good unit")
	}
}

// weighing gives a unit two keywords, and the given weights.
func weighing(weights ...ads.KeywordWeight) func(*ads.Unit) {
	return func(u *ads.Unit) { u.Keywords, u.KeywordWeights = []string{"anvil", "steel"}, weights }
}

func TestAddAcceptsOnlyWebAddresses(t *testing.T) {
	w := newWorld(t)
	for _, bad := range []string{
		"acme.example", "//acme.example/", "/buy", "http:", "http://", "https:///buy", "https://:443/", "http:acme.example",
		"javascript:alert(1)", "JavaScript://acme.example/%0aalert(1)", "data:text/html,x", "ftp://acme.example/", "mailto:a@acme.example",
		"https://user:secret@acme.example/", "https://acme.example@evil.example/", "https://acme.example\\@evil.example/",
		" https://acme.example/", "https://acme.example/a b", "https://acme.example/\r\nSet-Cookie:a=b", "https://acme.example/\x00",
		"https://acme.example/\u2028", "https://acme.example/\xff", "https://[::1/", "https://acme.example/%zz",
		"https://acme.example/" + strings.Repeat("x", fault.MaxURLLen),
	} {
		u := w.unit(1_000)
		u.LandingURL = bad
		_, err := w.Add(w.ctx, ads.Batch{Units: []ads.Unit{u}})
		refused(t, err, fault.CodeInvalid, "units.0.landingUrl", bad)
		u = w.unit(1_000)
		u.ImageURL = bad
		_, err = w.Add(w.ctx, ads.Batch{Units: []ads.Unit{u}})
		refused(t, err, fault.CodeInvalid, "units.0.imageUrl", bad)
	}
	u := w.unit(1_000)
	u.LandingURL = ""
	_, err := w.Add(w.ctx, ads.Batch{Units: []ads.Unit{u}})
	refused(t, err, fault.CodeInvalid, "units.0.landingUrl", "no landing page")

	for _, good := range []string{
		"http://acme.example", "HTTPS://Acme.Example:8443/a/b;c?d=e&f=%20#g", "https://[::1]:8080/", "https://bücher.example/ü?ö=ä",
	} {
		u := w.unit(1_000)
		u.LandingURL, u.ImageURL = good, ""
		if added, err := w.Add(w.ctx, ads.Batch{Units: []ads.Unit{u}}); err != nil || added != 1 {
			t.Errorf("%s: added %d, %v", good, added, err)
		}
	}
}

func TestAddRefusesBadBatches(t *testing.T) {
	w := newWorld(t)
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Bolt"}
	campaign := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Autumn", State: ads.Active}
	dollars, homeless := w.unit(1_000), w.unit(1_000)
	dollars.Bid.Currency = "USD"
	homeless.Zones = []ads.ZoneID{{Site: "example.org", Name: "unknown"}}
	for _, c := range []struct {
		name  string
		batch ads.Batch
		code  fault.Code
		field string
	}{
		{"an advertiser without a name", ads.Batch{Advertisers: []ads.Advertiser{{ID: advertiser.ID}}}, fault.CodeInvalid, "advertisers.0.name"},
		{"an advertiser without an id", ads.Batch{Advertisers: []ads.Advertiser{{Name: "Bolt"}}}, fault.CodeInvalid, "advertisers.0.id"},
		{"a campaign without an id", ads.Batch{Campaigns: []ads.Campaign{{Name: "Autumn"}}}, fault.CodeInvalid, "campaigns.0.id"},
		{"a campaign without an advertiser", ads.Batch{Campaigns: []ads.Campaign{{ID: campaign.ID, Name: "Autumn"}}}, fault.CodeInvalid, "campaigns.0.advertiser"},
		{"a zone without a name", ads.Batch{Zones: []ads.Zone{{ID: ads.ZoneID{Site: "a"}, Currency: "EUR", Design: ads.ByZone}}}, fault.CodeInvalid, "zones.0.name"},
		{"a zone without a site", ads.Batch{Zones: []ads.Zone{{ID: ads.ZoneID{Name: "a"}, Currency: "EUR", Design: ads.ByZone}}}, fault.CodeInvalid, "zones.0.site"},
		{"a zone without a currency", ads.Batch{Zones: []ads.Zone{{ID: top, Design: ads.ByZone}}}, fault.CodeInvalid, "zones.0.currency"},
		{"too many", ads.Batch{Units: make([]ads.Unit, ads.MaxBatch+1)}, fault.CodeInvalid, "units"},
		{"an unknown advertiser", ads.Batch{Campaigns: []ads.Campaign{campaign}}, fault.CodeNotFound, ""},
		{"an unknown zone", ads.Batch{Units: []ads.Unit{homeless}}, fault.CodeNotFound, ""},
		{"another currency", ads.Batch{Units: []ads.Unit{dollars}}, fault.CodeInvalid, ""},
	} {
		_, err := w.Add(w.ctx, c.batch)
		refused(t, err, c.code, c.field, c.name)
	}
	if added, err := w.Add(w.ctx, ads.Batch{Advertisers: []ads.Advertiser{advertiser}, Campaigns: []ads.Campaign{campaign}}); err != nil || added != 2 {
		t.Errorf("after all refusals: added %d, %v; want 2", added, err)
	}
}

func TestPausingMissingCampaignIsNotFound(t *testing.T) {
	w := newWorld(t)
	err := w.SetCampaignState(w.ctx, ads.CampaignID{ID: id.New()}, ads.Paused)
	refused(t, err, fault.CodeNotFound, "", "SetCampaignState")
	if !errors.Is(err, ads.ErrNotFound) {
		t.Errorf("%v is no ErrNotFound", err)
	}
}

func TestIDsRoundTrip(t *testing.T) {
	if text := (ads.UnitID{ID: id.New()}).String(); !strings.HasPrefix(text, "ad_") {
		t.Errorf("a unit's id is %s, want ad_…", text)
	}
	if z, err := ads.ParseZoneID(top.String()); err != nil || z != top {
		t.Errorf("%s reads as %v, %v", top, z, err)
	}
	for _, bad := range []string{"", "/", "a", "a/", "/a", "a/b/c", "A/b"} {
		if z, err := ads.ParseZoneID(bad); err == nil {
			t.Errorf("%q was read as %v", bad, z)
		}
	}
}

// TestCampaignHasOneCurrency is about campaigns without a budget, whose spend is one amount, too.
func TestCampaignHasOneCurrency(t *testing.T) {
	w := newWorld(t)
	euros, dollars := w.unit(1_000), w.unit(1_000)
	dollars.Bid.Currency = "USD"
	euros.Zones, dollars.Zones = nil, nil
	both := ads.Batch{Units: []ads.Unit{euros, dollars}}
	none := adserver.NewOmitted()
	refused(t, w.CheckReferences(w.ctx, both, none), fault.CodeInvalid, "units.1.bid.currency", "a file with both")
	if err := w.CreateUnit(w.ctx, euros); err != nil {
		t.Fatal(err)
	}
	refused(t, w.CreateUnit(w.ctx, dollars), fault.CodeInvalid, "bid.currency", "CreateUnit")
	refused(t, w.CheckReferences(w.ctx, both, none), fault.CodeInvalid, "units.1.bid.currency", "a file with the other")
	if err := w.CheckReferences(w.ctx, ads.Batch{Units: []ads.Unit{euros}}, none); err != nil {
		t.Errorf("a file with what is stored: %v", err)
	}
}
