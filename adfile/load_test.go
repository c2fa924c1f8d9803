package adfile_test

import (
	"fmt"
	"strings"
	"testing"

	"plaza/adfile"
	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

func TestRefusedFileStoresNothing(t *testing.T) {
	for name, c := range map[string]struct{ text, old, replaced, says string }{
		"no such advertiser": {good, "ours, advertiser: acme", "ours, advertiser: unknown", `line 21: campaigns.1.advertiser: There is no advertiser "unknown".`},
		"no such campaign":   {good, "campaign: ours", "campaign: theirs", `line 33: units.1.campaign: There is no campaign "theirs".`},
		"no such zone":       {good, "example.org/side]", "other.org/sidebar]", `line 28: units.0.zones.1: There is no zone "other.org/sidebar".`},
		"a bid":              {good, "price: 250000, currency: EUR", "price: 250000, currency: USD", `line 27: units.0.bid.currency: The zone "example.org/top" has the currency EUR, and the bid USD.`},
		"a zone":             {good, "name: side, currency: EUR", "name: side, currency: USD", `line 28: units.0.zones.1: The zone "example.org/side" has the currency USD, and the bid EUR.`},
		"a budget":           {good, "budget: {currency: EUR", "budget: {currency: USD", `line 27: units.0.bid.currency: The campaign's budget has the currency USD, and the bid EUR.`},
		"a zone twice":       {good, "name: side, currency: EUR", "name: top, currency: USD", `line 8: zones.1.currency: The zone "example.org/top" has the currency EUR, which can't be changed.`},

		"in a table, no such advertiser": {goodCSV, "Ours,acme", "Ours,unknown", `line 6: advertiser: There is no advertiser "unknown".`},
		"in a table, no such campaign":   {goodCSV, "ad,house,,,ours", "ad,house,,,theirs", `line 9: campaign: There is no campaign "theirs".`},
		"in a table, no such zone":       {goodCSV, "|example.org/side", "|other.org/sidebar", `line 8: zones: There is no zone "other.org/sidebar".`},
		"in a table, a bid":              {goodCSV, "spring,,,EUR", "spring,,,USD", `line 8: currency: The zone "example.org/top" has the currency EUR, and the bid USD.`},
	} {
		store := adsmodel.New()
		text := strings.Replace(c.text, c.old, c.replaced, 1)
		if _, err := loadAny(t, adserver.New(store, adserver.Options{}), text); err == nil || err.Error() != c.says {
			t.Errorf("%s: %v; want %s", name, err, c.says)
		}
		requireEmpty(t, store, name)
	}
}

func TestFileMovesNothing(t *testing.T) {
	service := adserver.New(adsmodel.New(), adserver.Options{})
	for _, text := range []string{good, "advertisers: [{key: bolt, name: Bolt}]\n"} {
		if _, err := loadAny(t, service, text); err != nil {
			t.Fatal(err)
		}
	}
	const (
		campaign = "The campaign belongs to another advertiser, which can't be changed: create another campaign instead."
		ad       = "The ad belongs to another campaign, which can't be changed: create another ad instead."
	)
	for name, c := range map[string]struct{ text, old, replaced, says string }{
		"a campaign":             {good, "key: ours, advertiser: acme", "key: ours, advertiser: bolt", "line 21: campaigns.1.advertiser: " + campaign},
		"an ad":                  {good, "campaign: ours", "campaign: spring", "line 33: units.1.campaign: " + ad},
		"a campaign, in a table": {goodCSV, "Ours,acme", "Ours,bolt", "line 6: advertiser: " + campaign},
		"an ad, in a table":      {goodCSV, "ad,house,,,ours", "ad,house,,,spring", "line 9: campaign: " + ad},
	} {
		renamed := strings.Replace(c.text, "Acme", "Acme & Sons", 1)
		if _, err := loadAny(t, service, strings.Replace(renamed, c.old, c.replaced, 1)); err == nil || err.Error() != c.says {
			t.Errorf("%s: %v; want %s", name, err, c.says)
		}
		if sum, err := loadAny(t, service, good); err != nil || sum != (adfile.Summary{Unchanged: 7}) {
			t.Fatalf("after %s: %+v, %v", name, sum, err)
		}
	}
}

func TestRefusedFileChangesNothing(t *testing.T) {
	service := adserver.New(adsmodel.New(), adserver.Options{})
	if _, err := loadAny(t, service, good); err != nil {
		t.Fatal(err)
	}
	renamed := strings.Replace(good, "name: Acme", "name: Acme & Sons", 1)
	for name, c := range map[string]struct{ old, replaced, says string }{
		"a stored zone's currency":   {"name: side, currency: EUR", "name: side, currency: USD", `line 8: zones.1.currency: The zone "example.org/side" has the currency EUR, which can't be changed.`},
		"a stored budget's currency": {"budget: {currency: EUR", "budget: {currency: USD", "line 20: campaigns.0.budget.currency: The campaign has units that bid in another currency."},
		"a stored unit's currency":   {"price: 250000, currency: EUR", "price: 250000, currency: USD", "line 27: units.0.bid.currency: The ad has the currency EUR, which can't be changed: create another ad instead."},
		"the currency of no place":   {"price: 1000, currency: EUR", "price: 1000, currency: USD", "line 33: units.1.bid.currency: The ad has the currency EUR, which can't be changed: create another ad instead."},
		"no such zone":               {"example.org/side]", "other.org/side]", `line 28: units.0.zones.1: There is no zone "other.org/side".`},
	} {
		if _, err := loadAny(t, service, strings.Replace(renamed, c.old, c.replaced, 1)); err == nil || err.Error() != c.says {
			t.Errorf("%s: %v; want %s", name, err, c.says)
		}
		if sum, err := loadAny(t, service, good); err != nil || sum != (adfile.Summary{Unchanged: 7}) {
			t.Fatalf("after %s: %+v, %v", name, sum, err)
		}
	}
	alone := "units:\n  - {key: more, campaign: ours, headline: More, landingUrl: 'https://example.org/', bid: {model: CPM, price: 1000, currency: EUR}, zones: [example.org/top]}\n"
	if sum, err := loadAny(t, service, alone); err != nil || sum.Added != 1 {
		t.Errorf("what a file refers to may be stored already: %+v, %v", sum, err)
	}
}

// TestLargeFileIsCheckedCompletely has a mistake in its last entry, many transactions and reads
// after the first entry.
func TestLargeFileIsCheckedCompletely(t *testing.T) {
	var text strings.Builder
	text.WriteString("type,key,name,advertiser,campaign,headline,landing_url,bid_model,bid,currency\nadvertiser,acme,Acme,,,,,,,\ncampaign,spring,Spring,acme,,,,,,\n")
	for i := range ads.MaxBatch + 1 {
		fmt.Fprintf(&text, "ad,%d,,,spring,Anvils,https://acme.example/,CPM,1,EUR\n", i)
	}
	text.WriteString("ad,last,,,autumn,Anvils,https://acme.example/,CPM,1,EUR\n")
	store := adsmodel.New()
	want := fmt.Sprintf(`line %d: campaign: There is no campaign "autumn".`, ads.MaxBatch+5)
	if _, err := loadAny(t, adserver.New(store, adserver.Options{}), text.String()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	requireEmpty(t, store, "a large file")
}

// TestErrorNamesFullZone is about a limit that is checked only while the file is stored.
func TestErrorNamesFullZone(t *testing.T) {
	var text strings.Builder
	text.WriteString("type,key,name,advertiser,campaign,headline,landing_url,bid_model,bid,currency,site,zone,zones\n" +
		"advertiser,acme,Acme,,,,,,,,,,\nzone,,,,,,,,,EUR,example.org,top,\ncampaign,spring,Spring,acme,,,,,,,,,\n")
	for i := range ads.MaxZoneUnits + 1 {
		fmt.Fprintf(&text, "ad,%d,,,spring,Anvils,https://acme.example/,CPM,1,EUR,,,example.org/top\n", i)
	}
	want := fmt.Sprintf("line %d: zones: A zone can have at most %d units.", ads.MaxZoneUnits+5, ads.MaxZoneUnits)
	if _, err := loadAny(t, adserver.New(adsmodel.New(), adserver.Options{}), text.String()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// loadAny loads a CSV or a YAML file.
func loadAny(t *testing.T, service *adserver.Service, text string) (adfile.Summary, error) {
	t.Helper()
	parse := adfile.Parse
	if strings.HasPrefix(text, "type,") {
		parse = adfile.ParseCSV
	}
	f, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return adfile.Load(t.Context(), service, f, func(int, int) {})
}

func requireEmpty(t *testing.T, store ads.Store, after string) {
	t.Helper()
	advertisers, err := store.ListAdvertisers(t.Context(), ads.Page{Limit: 1})
	if err != nil || len(advertisers) > 0 {
		t.Errorf("after %s there are advertisers: %v, %v", after, advertisers, err)
	}
	zones, err := store.ListZones(t.Context(), ads.Page{Limit: 1})
	if err != nil || len(zones) > 0 {
		t.Errorf("after %s there are zones: %v, %v", after, zones, err)
	}
}
