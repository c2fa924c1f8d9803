package adserver_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

// expected is the correct state of one choice, whatever the order of its recordings.
type expected struct {
	adserver.Choice
	chosen             time.Time
	shown              bool
	clicked, converted time.Time // zero: not yet
}

// TestOrderDoesNotMatter sends impressions, clicks and conversions in random order, with repeats,
// to two servers on one database that is down at times. Each counts once while its token is valid.
// A click counts if its impression does, and a conversion if its click does and the conversion is
// within the attribution window. The budget pays for exactly that.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := newOrdering(t)
		rt.Repeat(map[string]func(*rapid.T){
			"choose":     func(rt *rapid.T) { o.choose(rt) },
			"impression": func(rt *rapid.T) { o.impression(rt) },
			"click":      func(rt *rapid.T) { o.click(rt) },
			"conversion": func(rt *rapid.T) { o.conversion(rt) },
			"wait long": func(rt *rapid.T) {
				if o.w.now.Sub(o.began) > 20*24*time.Hour {
					rt.Skip("a report is about 31 days")
				}
				o.w.now = o.w.now.Add(time.Duration(rapid.IntRange(20, 30).Draw(rt, "hours")) * time.Hour)
			},
			"wait": func(rt *rapid.T) {
				o.w.now = o.w.now.Add(time.Duration(rapid.IntRange(1, 40*60).Draw(rt, "seconds")) * time.Second)
			},
			"stop counting": func(*rapid.T) { o.store.stopped = !o.store.stopped },
			"":              func(*rapid.T) {},
		})
		o.check(rt)
	})
}

// lazy is a store that refuses to count at times.
type lazy struct {
	*adsmodel.Store
	stopped bool
}

func (l *lazy) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) ([]ads.Receipt, error) {
	if l.stopped {
		return nil, ads.ErrUnavailable
	}
	return l.Store.Count(ctx, keys, now)
}

type ordering struct {
	w       *world
	store   *lazy
	servers [2]*adserver.Service
	unit    ads.UnitID
	price   ads.Micros
	began   time.Time
	choices []*expected
}

// attributed is the attribution window in this test.
const attributed = 24 * time.Hour

func newOrdering(t *testing.T) *ordering {
	w := newWorld(t)
	o := &ordering{w: w, store: &lazy{Store: w.store.Store}, price: 200_000, began: w.now}
	if err := w.UpdateCampaign(w.ctx, w.campaign.ID, func(c *ads.Campaign) error { c.Attribution = 1; return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range o.servers {
		o.servers[i] = w.server(o.store)
	}
	u := w.unit(o.price)
	u.Bid.Model = ads.CPC
	o.unit = u.ID
	w.add(ads.Batch{Units: []ads.Unit{u}})
	return o
}

func (o *ordering) server(rt *rapid.T) *adserver.Service {
	return o.servers[rapid.IntRange(0, 1).Draw(rt, "server")]
}

func (o *ordering) one(rt *rapid.T) *expected {
	if len(o.choices) == 0 {
		rt.Skip("nothing was chosen")
	}
	return o.choices[rapid.IntRange(0, len(o.choices)-1).Draw(rt, "choice")]
}

func (o *ordering) choose(rt *rapid.T) {
	r := request(top.Site, top.Name, 1)
	r.Visitor = fmt.Sprint("visitor-", len(o.choices)) // a separate visitor for each choice, so that clicks are never too many
	choices, err := o.server(rt).Choose(o.w.ctx, r)
	if err != nil || len(choices) != 1 {
		rt.Fatalf("Choose: %v, %v", choices, err)
	}
	o.choices = append(o.choices, &expected{Choice: choices[0], chosen: o.w.now})
}

func (o *ordering) impression(rt *rapid.T) {
	c := o.one(rt)
	recorded, err := o.server(rt).RecordImpression(o.w.ctx, c.ImpressionToken)
	valid := o.w.now.Before(c.chosen.Truncate(time.Second).Add(ads.ImpressionLife))
	if recorded != (valid && !c.shown) || (err == nil) != valid {
		rt.Fatalf("an impression: recorded %v, %v; the token is valid: %v, and was used: %v", recorded, err, valid, c.shown)
	}
	c.shown = c.shown || valid
}

func (o *ordering) click(rt *rapid.T) {
	c := o.one(rt)
	landing, err := o.server(rt).RecordClick(o.w.ctx, c.ClickToken, "")
	valid := o.w.now.Before(c.chosen.Truncate(time.Second).Add(ads.ClickLife))
	if (err == nil) != valid || (landing == c.LandingURL) != valid {
		rt.Fatalf("a click: to %q, %v; the token is valid: %v", landing, err, valid)
	}
	if valid && c.clicked.IsZero() {
		c.clicked = o.w.now
	}
}

func (o *ordering) conversion(rt *rapid.T) {
	c := o.one(rt)
	recorded, err := o.server(rt).RecordConversion(o.w.ctx, c.ClickToken)
	valid := o.w.now.Before(c.chosen.Truncate(time.Second).Add(ads.ClickLife + attributed))
	if recorded != (valid && c.converted.IsZero()) || (err == nil) != valid {
		rt.Fatalf("a conversion: recorded %v, %v; the token is valid: %v, and was used: %v", recorded, err, valid, c.converted)
	}
	if recorded {
		c.converted = o.w.now
	}
}

// counts reports whether a choice's click and conversion must count.
func (c *expected) counts() (click, conversion bool) {
	click = c.shown && !c.clicked.IsZero()
	return click, click && !c.converted.IsZero() && c.converted.Sub(c.clicked.Truncate(time.Millisecond)) < attributed+time.Millisecond
}

// check waits until no recording can wait for another one any more, and compares the results.
func (o *ordering) check(rt *rapid.T) {
	o.store.stopped = false
	o.w.now = o.w.now.Add(ads.ClickLife + time.Hour)
	if err := o.servers[0].CatchUp(o.w.ctx); err != nil {
		rt.Fatal(err)
	}
	var impressions, clicks, conversions, invalid int64
	count := func(recorded, counts bool, valid *int64) {
		switch {
		case counts:
			*valid++
		case recorded:
			invalid++
		}
	}
	for _, c := range o.choices {
		click, conversion := c.counts()
		count(c.shown, c.shown, &impressions)
		count(!c.clicked.IsZero(), click, &clicks)
		count(!c.converted.IsZero(), conversion, &conversions)
	}
	day := o.w.now.Truncate(time.Hour)
	rows, err := o.servers[1].Report(o.w.ctx, ads.ReportRequest{From: day.Add(time.Hour - ads.MaxReport), To: day.Add(time.Hour), By: ads.PerUnit})
	if err != nil {
		rt.Fatal(err)
	}
	var got ads.ReportRow
	for _, row := range rows {
		got = row
	}
	want := ads.ReportRow{Impressions: impressions, Clicks: clicks, Conversions: conversions, Invalid: invalid, Spend: ads.Micros(clicks) * o.price}
	got.Key, got.Currency = "", ""
	if got != want {
		rt.Errorf("the report says %+v, want %+v", got, want)
	}
	units, err := o.store.Units(o.w.ctx, []ads.UnitID{o.unit})
	if err != nil || units[o.unit].Impressions != impressions || units[o.unit].Clicks != clicks || units[o.unit].Conversions != conversions {
		rt.Errorf("the unit has %+v, %v; want %d impressions, %d clicks and %d conversions", units[o.unit], err, impressions, clicks, conversions)
	}
}
