package adserver_test

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/id"
)

// stage is a world with campaigns of several advertisers in one zone.
type stage struct {
	*world
	zone     ads.ZoneID
	visitors int // how many new ones there were
}

func newStage(t *testing.T, design ads.Design) *stage {
	s := &stage{world: newWorld(t), zone: ads.ZoneID{Site: "example.org", Name: "stage"}}
	s.add(ads.Batch{Zones: []ads.Zone{{ID: s.zone, Currency: "EUR", Design: design}}})
	return s
}

// campaign stores a campaign of a new advertiser.
func (s *stage) campaign(change func(*ads.Campaign)) ads.Campaign {
	s.t.Helper()
	a := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Bolt"}
	c := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: a.ID, Name: "Summer", State: ads.Active}
	change(&c)
	s.add(ads.Batch{Advertisers: []ads.Advertiser{a}, Campaigns: []ads.Campaign{c}})
	return c
}

func plain(*ads.Campaign) {}

// unit stores a unit of a campaign.
func (s *stage) unit(c ads.Campaign, price ads.Micros, change func(*ads.Unit)) ads.UnitID {
	s.t.Helper()
	u := s.world.unit(price)
	u.Campaign, u.Zones = c.ID, []ads.ZoneID{s.zone}
	change(&u)
	s.add(ads.Batch{Units: []ads.Unit{u}})
	return u.ID
}

func asIs(*ads.Unit) {}

func (s *stage) request(count int, keywords ...string) adserver.Request {
	return adserver.Request{Site: s.zone.Site, Zone: s.zone.Name, Count: count, Keywords: keywords, Visitor: "visitor"}
}

func (s *stage) shows(r adserver.Request, want ...ads.UnitID) []adserver.Choice {
	s.t.Helper()
	choices, err := s.Choose(s.ctx, r)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []ads.UnitID
	for _, c := range choices {
		got = append(got, c.Unit)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%v were chosen, want %v", got, want)
	}
	return choices
}

func TestKeywordsDecideInZonesByKeywords(t *testing.T) {
	for design, want := range map[ads.Design]int{ads.ByKeywords: 1, ads.ByFrequency: 0, ads.ByZone: 0} {
		s := newStage(t, design)
		units := []ads.UnitID{
			s.unit(s.campaign(plain), 3_000_000, asIs),
			s.unit(s.campaign(plain), 1_000_000, func(u *ads.Unit) { u.Keywords = []string{"anvil", "forge"} }),
		}
		// 3 × log 1.1 = 0.29; 1 × log 2.1 = 0.74
		s.shows(s.request(1, "Forge", "sand"), units[want])
		s.shows(s.request(1), units[0])
	}
	if got := ads.Score(2_000_000, 2, 1); math.Abs(got-2_000_000*math.Log(3.1)) > 1e-6 {
		t.Errorf("the score is %v", got)
	}
}

func TestKeywordWeightDecidesOnPagesWithTheKeyword(t *testing.T) {
	for design, want := range map[ads.Design]int{ads.ByKeywords: 1, ads.ByFrequency: 0, ads.ByZone: 0} {
		s := newStage(t, design)
		units := []ads.UnitID{
			s.unit(s.campaign(plain), 3_000_000, func(u *ads.Unit) { u.Keywords = []string{"anvil", "forge"} }),
			s.unit(s.campaign(plain), 1_000_000, func(u *ads.Unit) {
				u.Keywords, u.KeywordWeights = []string{"anvil", "forge"}, []ads.KeywordWeight{{Keyword: "forge", Weight: 4}}
			}),
		}
		s.shows(s.request(1, "forge"), units[want]) // 3 against 1 × 4
		s.shows(s.request(1, "anvil"), units[0])
		s.shows(s.request(1), units[0])
		explained, err := s.Explain(s.ctx, s.request(1, "anvil", "forge"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range explained {
			weight := 1
			if e.Unit == units[1] && design == ads.ByKeywords {
				weight = 4
			}
			if e.KeywordWeight != weight || (e.Verdict == adserver.Won) != (e.Unit == units[want]) {
				t.Errorf("%s: %+v, want the weight %d", design, e, weight)
			}
		}
	}
}

func TestRemainingKeywordsKeepTheirWeights(t *testing.T) {
	u := ads.Unit{Keywords: []string{"anvil", "forge"}, KeywordWeights: []ads.KeywordWeight{{Keyword: "anvil", Weight: 2}, {Keyword: "forge", Weight: 3}}}
	u.SetKeywords([]string{"forge", "steel"})
	if !slices.Equal(u.KeywordWeights, []ads.KeywordWeight{{Keyword: "forge", Weight: 3}}) {
		t.Errorf("the weights are %+v", u.KeywordWeights)
	}
}

func TestAdvertisersRepeatOnlyIfNothingElseIsLeft(t *testing.T) {
	s := newStage(t, ads.ByKeywords)
	c := s.campaign(plain)
	first, second := s.unit(c, 5_000_000, asIs), s.unit(c, 4_000_000, asIs)
	other := s.unit(s.campaign(plain), 1_000_000, asIs)
	house := s.unit(s.campaign(func(c *ads.Campaign) { c.House = true }), 9_000_000, asIs)
	s.shows(s.request(1), first)
	s.shows(s.request(2), first, other)
	s.shows(s.request(3), first, other, second)
	s.shows(s.request(9), first, other, second, house)
}

func TestSchedulesAreRespected(t *testing.T) {
	s := newStage(t, ads.ByZone)
	u := s.unit(s.campaign(func(c *ads.Campaign) {
		c.Schedule = ads.Schedule{
			Start: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
			TimeZone: "America/New_York", Weekdays: ads.On(time.Monday, time.Tuesday), FromHour: 20, ToHour: 22,
		}
	}), 1_000, asIs)
	for at, runs := range map[string]bool{
		"2026-11-17T01:30:00Z": false, // before the start
		"2026-11-24T00:59:59Z": false, // Monday, 19:59 there
		"2026-11-24T01:00:00Z": true,  // Monday, 20:00
		"2026-11-24T02:59:59Z": true,
		"2026-11-24T03:00:00Z": false, // 22:00
		"2026-11-25T01:30:00Z": true,  // Tuesday
		"2026-11-26T01:30:00Z": false, // Wednesday
		"2026-12-01T01:30:00Z": false, // after the end
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		s.now = now
		if runs {
			s.shows(s.request(1), u)
		} else {
			s.shows(s.request(1))
		}
	}
}

func TestWeightedUnitsTakeTurns(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(plain)
	heavy := s.unit(c, 1_000_000, func(u *ads.Unit) { u.Weight = 3 })
	s.unit(c, 5_000_000, func(u *ads.Unit) { u.Weight = 1 }) // the campaign's mean is 2.00
	below := s.unit(s.campaign(plain), 1_900_000, asIs)
	const draws = 4_000
	count := 0
	for range draws {
		choices, err := s.Choose(s.ctx, s.request(2))
		if err != nil || len(choices) != 2 || choices[1].Unit != below {
			t.Fatalf("%+v, %v", choices, err)
		}
		if choices[0].Unit == heavy {
			count++
		}
	}
	if count < draws*72/100 || count > draws*78/100 {
		t.Errorf("of %d draws the unit with three of four parts won %d", draws, count)
	}
}

func TestCapsCountForUsersAndVisitors(t *testing.T) {
	s := newStage(t, ads.ByFrequency)
	u := s.unit(s.campaign(plain), 2_000_000, func(u *ads.Unit) { u.Caps = []ads.Cap{{Count: 1, Per: ads.Day}} })
	rest := s.unit(s.campaign(plain), 1_000_000, asIs)
	r := s.request(1)
	choice := s.shows(r, u)[0]
	s.shows(r, rest)
	r.Visitor = "visitor.2"
	s.shows(r, u)
	r.User = "user_1" // a user's caps are independent of a visitor's
	s.shows(r, u)
	s.shows(r, rest)
	r.User, r.Visitor = "", ""
	s.shows(r, rest)
	r.Visitor = "visitor"
	s.now = s.now.Add(ads.ImpressionLife - time.Minute)
	if _, err := s.RecordImpression(s.ctx, choice.ImpressionToken); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(time.Hour)
	s.shows(r, rest)
	s.now = s.now.Add(23 * time.Hour)
	s.shows(r, u)
}

func TestExplainMatchesChoices(t *testing.T) {
	s := newStage(t, ads.ByKeywords)
	won := s.campaign(plain)
	want := map[ads.UnitID]adserver.Verdict{
		s.unit(won, 5_000_000, func(u *ads.Unit) { u.Keywords = []string{"anvil"} }): adserver.Won,
		s.unit(won, 4_000_000, asIs): adserver.Lost,
		s.unit(s.campaign(func(c *ads.Campaign) { c.Schedule.End = s.now }), 9_000_000, asIs):                           adserver.NotScheduled,
		s.unit(s.campaign(func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Total: 1} }), 9_000_000, asIs): adserver.NoBudget,
	}
	capped := s.unit(s.campaign(plain), 99_000_000, func(u *ads.Unit) { u.Caps = []ads.Cap{{Count: 1, Per: ads.Week}} })
	r := s.request(1, "anvil")
	s.shows(r, capped)
	want[capped] = adserver.AtCap
	for range 3 { // Explain changes nothing, so repeat it
		explained, err := s.Explain(s.ctx, r)
		if err != nil || len(explained) != len(want) || explained[0].Verdict != adserver.Won {
			t.Fatalf("%+v, %v", explained, err)
		}
		for _, e := range explained {
			if e.Verdict != want[e.Unit] {
				t.Errorf("%v is %s, want %s", e.Unit, e.Verdict, want[e.Unit])
			}
		}
	}
	r.Visitor = ""
	explained, err := s.Explain(s.ctx, r)
	if err != nil || !slices.ContainsFunc(explained, func(e adserver.Explanation) bool { return e.Unit == capped && e.Verdict == adserver.NoProfile }) {
		t.Errorf("without a person: %+v, %v", explained, err)
	}
}

func TestExplainNeedsAZone(t *testing.T) {
	w := newWorld(t)
	_, err := w.Explain(w.ctx, request(top.Site, "unknown", 1))
	refused(t, err, fault.CodeNotFound, "zone", "Explain")
}

func TestStaffRecordingsAreNotCounted(t *testing.T) {
	s := newStage(t, ads.ByZone)
	u := s.unit(s.campaign(plain), 1_000_000, asIs)
	r := s.request(1)
	r.Staff = true
	c := s.shows(r, u)[0]
	if recorded, err := s.RecordImpression(s.ctx, c.ImpressionToken); err != nil || !recorded {
		t.Errorf("an impression by staff: %v, %v", recorded, err)
	}
	if _, err := s.RecordClick(s.ctx, c.ClickToken, "10.0.0.1"); err != nil {
		t.Errorf("a click by staff: %v", err)
	}
	s.counted(u, 0, 0)
}

// TestEvenPaceFollowsThePlan simulates a day with quiet nights, and ten times as many requests as
// the budget pays for.
func TestEvenPaceFollowsThePlan(t *testing.T) {
	const daily, requests = 2_000, 20_000 // impressions; one costs 1,000 micros
	s := newStage(t, ads.ByZone)
	s.now = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	midnight := s.now
	s.Service = adserver.New(s.store, adserver.Options{Now: func() time.Time { return s.now }, Go: func(do func()) { do() }})
	c := s.campaign(func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Daily: daily * 1_000, Even: true} })
	s.unit(c, 1_000_000, asIs)
	due, worst := 0.0, 0.0
	for minute := range 24 * 60 {
		share := float64(minute) / (24 * 60)
		due += requests / (24.0 * 60) * (1 - 0.9*math.Cos(2*math.Pi*share))
		for n := 0; due >= 1; due-- {
			s.now = midnight.Add(time.Duration(minute)*time.Minute + time.Duration(n)*time.Second)
			s.showOne()
			n++
		}
		if err := s.Settle(s.ctx); err != nil {
			t.Fatal(err)
		}
		spent := s.spent(c)
		off := float64(spent)/(daily*1_000) - share
		if worst = max(worst, math.Abs(off)); minute%60 == 59 && math.Abs(off) > 0.05 {
			t.Errorf("after %d hours %.1f %% of the day's budget is spent, %+.1f %% of the plan", minute/60+1, 100*float64(spent)/(daily*1_000), 100*off)
		}
	}
	if spent := s.spent(c); spent < 0.95*daily*1_000 || spent > daily*1_000 {
		t.Errorf("%d of %d were spent", spent, daily*1_000)
	}
	t.Logf("%.1f %% were spent, and %.1f %% off the plan at most", 100*float64(s.spent(c))/(daily*1_000), 100*worst)
}

// TestAwkwardBudgetsAreUsedUp has budgets that are not multiples of a lease. Each request gets an
// ad, or, at an even pace, every second one does.
func TestAwkwardBudgetsAreUsedUp(t *testing.T) {
	midnight := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		budget ads.Budget
		cpm    ads.Micros
		want   int64
	}{
		"300 at 1.00":         {ads.Budget{Total: 300_000}, 1_000_000, 300},
		"333 at 1.00":         {ads.Budget{Total: 333_000}, 1_000_000, 333},
		"999 at 1.00":         {ads.Budget{Total: 999_000}, 1_000_000, 999},
		"10.00 a day at 3.00": {ads.Budget{Daily: 10_000_000}, 3_000_000, 3_333},
		"an even 1,999":       {ads.Budget{Daily: 1_999_000, Even: true}, 1_000_000, 1_999},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, ads.ByZone)
			c.budget.Currency = "EUR"
			u := s.unit(s.campaign(func(to *ads.Campaign) { to.Budget = c.budget }), c.cpm, asIs)
			requests, every := c.want, 5*time.Millisecond
			if c.budget.Even {
				requests, every = 2*c.want, 24*time.Hour/time.Duration(2*c.want)
			}
			for n := range requests {
				s.now = midnight.Add(time.Duration(n) * every)
				s.showOne()
			}
			s.counted(u, c.want, 0)
		})
	}
}

// showOne chooses an ad and records its impression, if there is one.
func (s *stage) showOne() {
	s.t.Helper()
	choices, err := s.Choose(s.ctx, s.request(1))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range choices {
		if _, err := s.RecordImpression(s.ctx, c.ImpressionToken); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stage) spent(c ads.Campaign) ads.Micros {
	s.t.Helper()
	found, err := s.Ledgers(s.ctx, []ads.CampaignID{c.ID})
	if err != nil {
		s.t.Fatal(err)
	}
	return found[c.ID].Spent
}

// TestConcurrentRequestsGetAllOfABudget lets 64 clients ask two servers for twice as many ads as
// the budget pays for: no request is refused while money is left.
func TestConcurrentRequestsGetAllOfABudget(t *testing.T) {
	const budget, askers, each = 1_000, 64, 32
	s := newStage(t, ads.ByZone)
	s.unit(s.campaign(func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Total: budget * 1_000} }), 1_000_000, asIs)
	servers := []*adserver.Service{adserver.New(s.store, adserver.Options{}), adserver.New(s.store, adserver.Options{})}
	var served atomic.Int64
	var all sync.WaitGroup
	for i := range askers {
		all.Go(func() {
			for n := range each {
				choices, err := servers[(i+n)%2].Choose(s.ctx, s.request(1))
				if err != nil {
					t.Error(err)
				}
				served.Add(int64(len(choices)))
			}
		})
	}
	all.Wait()
	if got := served.Load(); got != budget {
		t.Errorf("%d of %d requests were answered with an ad, want %d", got, askers*each, budget)
	}
}
