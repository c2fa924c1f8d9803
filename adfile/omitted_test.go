package adfile_test

import (
	"strings"
	"testing"

	"plaza/adfile"
	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

const (
	budget    = "    budget: {currency: EUR, total: 1000000000, daily: 20000000, even: true}\n"
	budgetCSV = ",1000,20.00,yes,"
)

// imported is a service that has the content of good, and its first campaign and unit.
type imported struct {
	*adserver.Service
	t        *testing.T
	campaign ads.CampaignID
	unit     ads.UnitID
}

func importGood(t *testing.T) *imported {
	t.Helper()
	f, err := adfile.Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	s := &imported{adserver.New(adsmodel.New(), adserver.Options{}), t, f.Campaigns[0].ID, f.Units[0].ID}
	s.load(good, adfile.Summary{Added: 7})
	return s
}

func (s *imported) load(text string, want adfile.Summary) {
	s.t.Helper()
	if got, err := loadAny(s.t, s.Service, text); err != nil || got != want {
		s.t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
}

func (s *imported) is(campaign, unit ads.State) {
	s.t.Helper()
	c, u := s.first()
	if c.State != campaign || u.State != unit {
		s.t.Errorf("the campaign is %s and the ad %s, want %s and %s", c.State, u.State, campaign, unit)
	}
}

func (s *imported) has(want ads.Budget) {
	s.t.Helper()
	if c, _ := s.first(); c.Budget != want {
		s.t.Errorf("the budget is %+v, want %+v", c.Budget, want)
	}
}

func (s *imported) first() (*ads.Campaign, *ads.Unit) {
	s.t.Helper()
	c, err := s.Campaign(s.t.Context(), "", s.campaign)
	if err != nil {
		s.t.Fatal(err)
	}
	u, err := s.Unit(s.t.Context(), "", s.unit)
	if err != nil {
		s.t.Fatal(err)
	}
	return c, u
}

func TestOmittedStatesRemain(t *testing.T) {
	for name, text := range map[string]string{"YAML": good, "CSV": goodCSV} {
		t.Run(name, func(t *testing.T) {
			s := importGood(t)
			s.is(ads.Active, ads.Active)
			if err := s.SetCampaignState(t.Context(), s.campaign, ads.Paused); err != nil {
				t.Fatal(err)
			}
			if err := s.UpdateUnit(t.Context(), s.unit, func(u *ads.Unit) error { u.State = ads.Archived; return nil }); err != nil {
				t.Fatal(err)
			}
			s.load(text, adfile.Summary{Unchanged: 7})
			s.is(ads.Paused, ads.Archived)
			s.load(strings.ReplaceAll(text, "Anvils", "Heavy anvils"), adfile.Summary{Changed: 1, Unchanged: 6})
			s.is(ads.Paused, ads.Archived)
			s.load(strings.ReplaceAll(good, "Spring\n", "Spring\n    state: ACTIVE\n"), adfile.Summary{Changed: 2, Unchanged: 5})
			s.is(ads.Active, ads.Archived)
		})
	}
}

func TestOmittedBudgetRemains(t *testing.T) {
	for name, text := range map[string]string{
		"YAML":              strings.Replace(good, budget, "", 1),
		"YAML with a null":  strings.Replace(good, budget, "    budget:\n", 1),
		"CSV":               strings.Replace(goodCSV, budgetCSV, ",,,,", 1),
		"CSV, and a change": strings.Replace(strings.Replace(goodCSV, budgetCSV, ",,,,", 1), "Spring", "Autumn", 1),
	} {
		t.Run(name, func(t *testing.T) {
			s, want := importGood(t), ads.Budget{Currency: "EUR", Total: 1_000_000_000, Daily: 30_000_000}
			if err := s.UpdateCampaign(t.Context(), s.campaign, func(c *ads.Campaign) error { c.Budget = want; return nil }); err != nil {
				t.Fatal(err)
			}
			changed := strings.Count(text, "Autumn")
			s.load(text, adfile.Summary{Changed: changed, Unchanged: 7 - changed})
			s.has(want)
		})
	}
}

func TestBudgetIsRemovedExplicitly(t *testing.T) {
	s := importGood(t)
	s.load(strings.Replace(good, budget, "    budget: {}\n", 1), adfile.Summary{Changed: 1, Unchanged: 6})
	s.has(ads.Budget{})
	s.load(good, adfile.Summary{Changed: 1, Unchanged: 6})
	s.load(strings.Replace(good, budget, "    house: true\n", 1), adfile.Summary{Changed: 1, Unchanged: 6})
	s.has(ads.Budget{})
}

// TestOmittedBudgetMustSuitTheRest: mistakes are found before anything is stored, as everywhere.
func TestOmittedBudgetMustSuitTheRest(t *testing.T) {
	for name, c := range map[string]struct{ old, replaced, says string }{
		"a pace without end": {"      end: 2026-06-01T00:00:00+02:00\n", "", "line 10: campaigns.0.budget.even: An even pace needs a daily budget or an end."},
		"another currency": {
			"campaign: ours, headline: Read on, landingUrl: \"https://example.org/\", bid: {model: CPM, price: 1000, currency: EUR}",
			"campaign: spring, headline: Read on, landingUrl: \"https://example.org/\", bid: {model: CPM, price: 1000, currency: USD}",
			"line 32: units.1.bid.currency: The campaign's budget has the currency EUR, and the bid USD.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, want := importGood(t), ads.Budget{Currency: "EUR", Total: 1_000_000_000, Even: true}
			if err := s.UpdateCampaign(t.Context(), s.campaign, func(c *ads.Campaign) error { c.Budget = want; return nil }); err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer(c.old, c.replaced, budget, "", "key: house", "key: other", "name: Acme", "name: Acme & Sons").Replace(good)
			if _, err := loadAny(t, s.Service, text); err == nil || err.Error() != c.says {
				t.Errorf("%v; want %s", err, c.says)
			}
			s.load(strings.Replace(good, budget, "", 1), adfile.Summary{Unchanged: 7})
			s.has(want)
		})
	}
}
