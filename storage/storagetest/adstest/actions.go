package adstest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"plaza/ads"
	"plaza/ads/adserver"
)

// actionCases are about ads that are paid for by the conversion.
var actionCases = []testCase{
	{"AnyBudgetPaysForConversions", anyBudgetOfConversions},
	{"ConversionsUseABudgetToTheLast", conversionsToTheLast},
	{"UnitsThatCannotPayAConversionDoNotWin", noFreeConversions},
	{"NoMoreConversionsAreExpectedThanADayPaysFor", expectedWithinADay},
}

func cpa(price ads.Micros) ads.Bid { return ads.Bid{Model: ads.CPA, Price: price, Currency: "EUR"} }

// actions is a market with one unit that is paid for by the conversion, and its expected state.
type actions struct {
	*market
	price   ads.Micros
	choices []adserver.Choice
	spent   ads.Micros
}

// choose asks a server, whose balances have expired, for an ad.
func (a *actions) choose(server int) {
	a.pass(ads.LeaseLife)
	before := a.ledger(a.campaign)
	choices, err := a.servers[server].Choose(a.ctx, a.request)
	if err != nil {
		a.fatal("Choose: %v", err)
	}
	canPay := a.free() >= a.price && a.now.Before(midnight.Add(openTime))
	if len(choices) > 0 && !canPay || len(choices) == 0 && canPay && before.Awaited == 0 {
		a.fatal("%d were chosen; %+v, and a conversion costs %d", len(choices), before, a.price)
	}
	a.choices = append(a.choices, choices...)
}

// convert shows an ad, clicks on it and reports the conversion, each twice.
func (a *actions) convert(server, choice int) {
	c, s := a.choices[choice], a.servers[server]
	if _, err := s.RecordImpression(a.ctx, c.ImpressionToken); err != nil {
		a.fatal("RecordImpression: %v", err)
	}
	if _, err := s.RecordClick(a.ctx, c.ClickToken, ""); err != nil {
		a.fatal("RecordClick: %v", err)
	}
	recorded, err := s.RecordConversion(a.ctx, c.ClickToken)
	if err != nil || !recorded {
		a.fatal("RecordConversion: %v, %v", recorded, err)
	}
	if again, err := s.RecordConversion(a.ctx, c.ClickToken); err != nil || again {
		a.fatal("RecordConversion again: %v, %v", again, err)
	}
	a.choices = append(a.choices[:choice], a.choices[choice+1:]...)
	if a.campaign.Budget.Total+a.campaign.Budget.Daily-a.spent >= a.price {
		a.spent += a.price
	}
}

// check: each conversion is billed once while the budget can pay for it, and nothing else is ever
// taken.
func (a *actions) check() {
	if l := a.ledger(a.campaign); l.Spent != a.spent || l.Taken != a.spent {
		a.fatal("%+v, and %d is to be spent", l, a.spent)
	}
}

// anyBudgetOfConversions plays random histories of servers that choose, convert, wait, and are
// killed.
func anyBudgetOfConversions(w *world) {
	w.play(func(t *rapid.T) {
		price := ads.Micros(rapid.Int64Range(1, 50).Draw(t, "price"))
		b := ads.Budget{Total: ads.Micros(rapid.Int64Range(1, 5*int64(price)).Draw(t, "budget"))}
		if rapid.Bool().Draw(t, "daily") {
			b = ads.Budget{Daily: b.Total}
		}
		a := &actions{market: w.market(rapid.IntRange(1, 2).Draw(t, "servers"), b, cpa(price)), price: price}
		a.fatal = t.Fatalf
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			a.step(t)
			a.check()
		}
	})
}

func (a *actions) step(t *rapid.T) {
	server := rapid.IntRange(0, len(a.servers)-1).Draw(t, "server")
	switch rapid.SampledFrom([]string{"choose", "choose", "convert", "convert", "wait", "kill"}).Draw(t, "step") {
	case "choose":
		a.choose(server)
	case "convert":
		if len(a.choices) > 0 {
			a.convert(server, rapid.IntRange(0, len(a.choices)-1).Draw(t, "choice"))
		}
	case "wait":
		a.pass(time.Duration(rapid.IntRange(1, 100_000).Draw(t, "milliseconds")) * time.Millisecond)
	case "kill":
		a.start(server)
	}
}

// conversionsToTheLast chooses 30 ads with a budget for 10 conversions, before all of them lead to
// one.
func conversionsToTheLast(w *world) {
	a := &actions{market: w.market(2, ads.Budget{Total: 2_000_000}, cpa(200_000)), price: 200_000}
	for i := range 30 {
		choices, err := a.servers[i%2].Choose(w.ctx, a.request)
		w.ok(err, "Choose")
		a.choices = append(a.choices, choices...)
	}
	w.same(len(a.choices), 30, "the ads that were chosen")
	for i := range 30 {
		a.convert(i%2, 0)
		a.check()
	}
	w.same(a.ledger(a.campaign).Spent, ads.Micros(2_000_000), "what was spent")
	w.same(a.ask(0), 0, "ads of a budget that is used up")
}

// noFreeConversions has an ad with a budget for one and a half conversions compete with a cheaper
// ad that can pay.
func noFreeConversions(w *world) {
	a := &actions{market: w.market(2, ads.Budget{Total: 300_000_000}, cpa(200_000_000)), price: 200_000_000}
	rival := w.place(w.campaign(), cpm(1_000_000), ads.ZoneID{Site: a.request.Site, Name: a.request.Zone})
	a.choose(0)
	w.same(a.choices[0].Unit != rival, true, "before the conversion: the dearer ad won")
	a.convert(0, 0)
	choices, err := a.servers[0].Choose(w.ctx, a.request)
	w.ok(err, "Choose")
	w.same(choices[0].Unit == rival, true, "after the conversion: the ad won that pays")
	w.same(a.ask(0), 1, "the ads that explain agrees with")
}

// expectedWithinADay: the expected cost of conversions is at most what can be spent within a day
// from now, and falls with each hour.
func expectedWithinADay(w *world) {
	const price = 1_000
	for name, c := range map[string]struct {
		budget ads.Budget
		want   ads.Micros
	}{
		"a total":          {ads.Budget{Total: 10_000}, 10_000},
		"a day":            {ads.Budget{Daily: 4_000}, 4_000},
		"both":             {ads.Budget{Total: 3_000, Daily: 2_000}, 2_000},
		"a day, evenly":    {ads.Budget{Daily: 4_000, Even: true}, 4_000},
		"a total, evenly":  {ads.Budget{Total: 10_000, Even: true}, 10_000},
		"less than a part": {ads.Budget{Total: price - 1}, 0},
	} {
		m := w.market(1, c.budget, cpa(price))
		expect := func(now time.Time) (sum ads.Micros) {
			for {
				amount, err := w.Expect(w.ctx, ads.Expectation{Campaign: m.campaign.ID, Kind: ads.Conversion, Price: price, Each: 100, Count: 10, Now: now})
				w.ok(err, "Expect")
				if sum += amount; amount == 0 {
					return sum
				}
			}
		}
		w.same(expect(midnight), c.want, name)
		w.same(m.ledger(m.campaign).Awaited, c.want, name+": the ledger")
		later := expect(midnight.Add(6 * time.Hour)) // 1 - (23/24)⁶ of it, in whole hundreds
		w.same(later > c.want/8 && later < c.want/3, c.want > 0, fmt.Sprintf("%s: %d six hours later", name, later))
	}
}
