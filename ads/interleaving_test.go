package ads_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plaza/ads"
	"plaza/ads/adsmodel"
)

// expected is what must be true of one choice, whatever the order of its recordings.
type expected struct {
	ads.Choice
	chosen         time.Time
	shown, clicked bool
}

// TestOrderDoesNotMatter sends impressions and clicks in any order, again and again, to two servers on one database, which is away at
// times: each counts once while its token is valid, a click counts if its impression does, and the budget pays for exactly that.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := newOrdering(t)
		rt.Repeat(map[string]func(*rapid.T){
			"choose":     func(rt *rapid.T) { o.choose(rt) },
			"impression": func(rt *rapid.T) { o.impression(rt) },
			"click":      func(rt *rapid.T) { o.click(rt) },
			"wait": func(rt *rapid.T) {
				o.w.now = o.w.now.Add(time.Duration(rapid.IntRange(1, 40*60).Draw(rt, "seconds")) * time.Second)
			},
			"stop counting": func(*rapid.T) { o.store.stopped = !o.store.stopped },
			"":              func(*rapid.T) {},
		})
		o.check(rt)
	})
}

// lazy is a store that does not count at times.
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
	servers [2]*ads.Service
	unit    ads.UnitID
	price   ads.Micros
	choices []*expected
}

func newOrdering(t *testing.T) *ordering {
	w := newWorld(t)
	o := &ordering{w: w, store: &lazy{Store: w.store.Store}, price: 200_000}
	for i := range o.servers {
		o.servers[i] = w.server(o.store)
	}
	u := w.unit(o.price)
	u.Bid.Model = ads.CPC
	o.unit = u.ID
	w.add(ads.Batch{Units: []ads.Unit{u}})
	return o
}

func (o *ordering) server(rt *rapid.T) *ads.Service {
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
	r.Visitor = fmt.Sprint("visitor-", len(o.choices)) // each for itself: clicks are never too many
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
	c.clicked = c.clicked || valid
}

// check waits until no click can wait for its impression any more.
func (o *ordering) check(rt *rapid.T) {
	o.store.stopped = false
	o.w.now = o.w.now.Add(time.Hour)
	if err := o.servers[0].CatchUp(o.w.ctx); err != nil {
		rt.Fatal(err)
	}
	var impressions, clicks, lonely int64
	for _, c := range o.choices {
		switch {
		case c.shown && c.clicked:
			clicks++
		case c.clicked:
			lonely++
		}
		if c.shown {
			impressions++
		}
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
	want := ads.ReportRow{Impressions: impressions, Clicks: clicks, Invalid: lonely, Spend: ads.Micros(clicks) * o.price}
	got.Key, got.Currency = "", ""
	if got != want {
		rt.Errorf("the report says %+v, want %+v", got, want)
	}
	units, err := o.store.Units(o.w.ctx, []ads.UnitID{o.unit})
	if err != nil || units[o.unit].Impressions != impressions || units[o.unit].Clicks != clicks {
		rt.Errorf("the unit has %+v, %v; want %d impressions and %d clicks", units[o.unit], err, impressions, clicks)
	}
}
