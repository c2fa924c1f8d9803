package adfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plaza/adfile"
	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

const good = `
advertisers:
  - key: acme
    name: Acme
    caps: [{count: 9, per: WEEK}]
zones:
  - {site: example.org, name: top, currency: EUR, design: FREQUENCY}
  - {site: example.org, name: side, currency: EUR}
campaigns:
  - key: spring
    advertiser: acme
    name: Spring
    schedule:
      start: 2026-03-01T00:00:00Z
      end: 2026-06-01T00:00:00+02:00
      timeZone: Europe/Berlin
      weekdays: [MONDAY, friday]
      fromHour: 8
      toHour: 20
    budget: {currency: EUR, total: 1000000000, daily: 20000000, even: true}
  - {key: ours, advertiser: acme, name: Ours, house: true, state: PAUSED, attributionDays: 7}
units:
  - key: anvils
    campaign: spring
    headline: Anvils
    landingUrl: https://acme.example/anvils
    bid: {model: CPC, price: 250000, currency: EUR}
    zones: [example.org/top, example.org/side]
    keywords: [Anvil, heavy  load]
    weight: 2
    caps:
      - {count: 1, per: DAY}
  - {key: house, campaign: ours, headline: Read on, landingUrl: "https://example.org/", bid: {model: CPM, price: 1000, currency: EUR}}
`

func load(t *testing.T, service *adserver.Service, text string) (adfile.Summary, error) {
	t.Helper()
	f, err := adfile.Parse([]byte(text))
	if err != nil {
		return adfile.Summary{}, err
	}
	return adfile.Load(t.Context(), service, f, func(done, all int) {
		if done > all || all != 7 {
			t.Errorf("%d of %d", done, all)
		}
	})
}

func TestFileIsStoredOnce(t *testing.T) {
	store := adsmodel.New()
	service := adserver.New(store, adserver.Options{})
	for i, step := range []struct {
		text string
		want adfile.Summary
	}{
		{good, adfile.Summary{Added: 7}},
		{good, adfile.Summary{Unchanged: 7}},
		{strings.Replace(good, "headline: Anvils", "headline: Heavy anvils", 1), adfile.Summary{Changed: 1, Unchanged: 6}},
		{strings.Replace(good, "state: PAUSED", "state: ARCHIVED", 1), adfile.Summary{Changed: 2, Unchanged: 5}},
	} {
		if got, err := load(t, service, step.text); err != nil || got != step.want {
			t.Errorf("step %d: %+v, %v; want %+v", i, got, err, step.want)
		}
	}
	zone, err := store.Zone(t.Context(), ads.ZoneID{Site: "example.org", Name: "top"})
	if err != nil || len(zone.Units) != 1 {
		t.Fatalf("the zone is %+v, %v", zone, err)
	}
	u := zone.Units[0]
	want := ads.Schedule{
		Start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 5, 31, 22, 0, 0, 0, time.UTC), TimeZone: "Europe/Berlin",
		Weekdays: ads.On(time.Monday, time.Friday), FromHour: 8, ToHour: 20,
	}
	if u.Schedule != want || u.Headline != "Anvils" || !u.Limited || len(u.Caps) != 2 || strings.Join(u.Keywords, "|") != "anvil|heavy load" {
		t.Errorf("the unit runs as %+v", u)
	}
}

func TestMistakesNameLineAndField(t *testing.T) {
	for name, c := range map[string]struct {
		old, replaced string
		line          int
		field         string
	}{
		"no YAML":                  {"advertisers:", "advertisers: [", 6, ""},
		"an unknown field":         {"name: Acme", "title: Acme", 4, ""},
		"a wrong type":             {"fromHour: 8", "fromHour: early", 18, ""},
		"no name":                  {"name: Acme", "name: ''", 4, "advertisers.0.name"},
		"a cap of nothing":         {"count: 9", "count: 0", 5, "advertisers.0.caps.0.count"},
		"an unknown currency":      {"name: top, currency: EUR", "name: top, currency: EUX", 7, "zones.0.currency"},
		"a bad zone":               {"name: side", "name: Side", 8, "zones.1.name"},
		"end before start":         {"end: 2026-06-01", "end: 2025-06-01", 15, "campaigns.0.schedule.end"},
		"no such time zone":        {"Europe/Berlin", "Europe/Nowhere", 16, "campaigns.0.schedule.timeZone"},
		"no such day":              {"friday", "freitag", 17, "campaigns.0.schedule.weekdays.1"},
		"a budget below 0":         {"total: 1000000000", "total: -1", 20, "campaigns.0.budget.total"},
		"an even pace without end": {"house: true, state: PAUSED", "budget: {currency: EUR, total: 1, even: true}", 21, "campaigns.1.budget.even"},
		"no days":                  {"attributionDays: 7", "attributionDays: 0", 21, "campaigns.1.attributionDays"},
		"a key twice":              {"key: ours", "key: spring", 21, "campaigns.1.key"},
		"no key":                   {"key: anvils", "key: ''", 23, "units.0.key"},
		"a landing page":           {"https://acme.example/anvils", "javascript:alert(1)", 26, "units.0.landingUrl"},
		"a negative bid":           {"price: 250000", "price: -5", 27, "units.0.bid.price"},
		"a weight of 0":            {"weight: 2", "weight: 0", 30, "units.0.weight"},
		"a place":                  {"example.org/side]", "side]", 28, "units.0.zones.1"},
		"an unknown campaign":      {"campaign: ours", "campaign: theirs", 33, "units.1.campaign"},
		"an unknown advertiser":    {"key: ours, advertiser: acme", "key: ours, advertiser: unknown", 21, "campaigns.1.advertiser"},
		"a unit's currency":        {"price: 1000, currency: EUR", "price: 1000, currency: USD", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.replaced, 1)
			if text == good {
				t.Fatal("nothing was replaced")
			}
			_, err := load(t, adserver.New(adsmodel.New(), adserver.Options{}), text)
			if name == "a unit's currency" { // that unit is in no zone, and its campaign has no budget
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			mistake, ok := errors.AsType[*adfile.Error](err)
			if !ok || mistake.Line != c.line || mistake.Field != c.field || mistake.Message == "" {
				t.Errorf("the error is %v (%+v), want line %d, field %q", err, mistake, c.line, c.field)
			}
		})
	}
}

func TestEmptyFileIsAccepted(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "units: []\n"} {
		f, err := adfile.Parse([]byte(text))
		if err != nil || len(f.Units) != 0 {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if len(text) < 10_000 {
			_, _ = adfile.Parse(text)
		}
	})
}
