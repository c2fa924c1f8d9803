package adserver_test

import (
	"math"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/id"
)

// monday is the first hour of the forecasts in these tests.
var monday = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// visits returns traffic that is busy by day, quiet at night, and twice as busy at weekends.
func visits(hour time.Time) int64 {
	n := int64(20)
	if hour.Hour() >= 8 && hour.Hour() < 20 {
		n = 100
	}
	if day := hour.Weekday(); day == time.Saturday || day == time.Sunday {
		n *= 2
	}
	return n
}

// past stores a zone's traffic before monday: of ten requested ads, eight were chosen and six seen.
func (s *stage) past(zone ads.ZoneID, length time.Duration, shape func(time.Time) int64) {
	s.t.Helper()
	var counts []ads.Traffic
	for hour := monday.Add(-length); hour.Before(monday); hour = hour.Add(time.Hour) {
		n := shape(hour)
		counts = append(counts, ads.Traffic{ID: ads.TrafficID{ID: id.New()}, Zone: zone, Currency: "EUR", Hour: hour, Requested: n, Filled: n * 8 / 10, Shown: n * 6 / 10})
	}
	if err := s.store.PutTraffic(s.ctx, counts); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) forecast(from, to time.Duration) *adserver.Forecast {
	s.t.Helper()
	f, err := s.Forecast(s.ctx, adserver.ForecastRequest{Zone: s.zone, From: monday.Add(from), To: monday.Add(to)})
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

func newForecastStage(t *testing.T) *stage {
	s := newStage(t, ads.ByKeywords)
	s.now = monday.Add(time.Minute)
	return s
}

const (
	day  = 24 * time.Hour
	week = 7 * day
	// The traffic of visits on a working day, and in a week.
	weekday   = 12*100 + 12*20
	wholeWeek = 5*weekday + 2*2*weekday
)

func TestForecastsRepeatThePast(t *testing.T) {
	for _, c := range []struct {
		name     string
		past     time.Duration
		from, to time.Duration
		basis    adserver.Basis
		asked    int64
	}{
		{"eight weeks, and a week", 8 * week, 0, week, adserver.FromWeeks, wholeWeek},
		{"more weeks than are looked at", 10 * week, 0, week, adserver.FromWeeks, wholeWeek},
		{"one week, and a Saturday", week, 5 * day, 6 * day, adserver.FromWeeks, 2 * weekday},
		{"ten days, and a Thursday three weeks ahead", 10 * day, 3*week + 3*day, 3*week + 4*day, adserver.FromWeeks, weekday},
		{"an hour of the day", 4 * week, 8 * time.Hour, 9 * time.Hour, adserver.FromWeeks, 100},
		{"an hour of the night", 4 * week, 20 * time.Hour, 21 * time.Hour, adserver.FromWeeks, 20},
		{"a Sunday, and a Tuesday", day, day, 2 * day, adserver.FromDays, 2 * weekday},
		{"four hours of the night, and a day", 4 * time.Hour, 0, day, adserver.FromHours, 24 * 40},
		{"nothing", 0, 0, week, adserver.FromNone, 0},
	} {
		s := newForecastStage(t)
		s.past(s.zone, c.past, visits)
		f := s.forecast(c.from, c.to)
		available := c.asked * 6 / 8
		if f.Basis != c.basis || f.Requested != c.asked || f.Available != available || f.Booked != 0 || f.Remaining != available {
			t.Errorf("%s: %+v; want %d by %s", c.name, f, c.asked, c.basis)
		}
		if want := min(float64(c.past)/float64(week), 8); math.Abs(f.Weeks-want) > 1e-9 {
			t.Errorf("%s: %v weeks are known, want %v", c.name, f.Weeks, want)
		}
	}
}

func TestForecastsAreMeansOfWeeks(t *testing.T) {
	s := newForecastStage(t)
	s.past(s.zone, 4*week, func(hour time.Time) int64 { return 10 * (1 + int64(monday.Sub(hour)-1)/int64(week)) }) // 40, 30, 20, 10
	if f := s.forecast(0, day); f.Requested != 24*25 {
		t.Errorf("%+v", f)
	}
}

func TestForecastsSubtractBookings(t *testing.T) {
	const slots = wholeWeek * 6 / 8 // impressions in the week
	for name, c := range map[string]struct {
		campaign func(c *ads.Campaign)
		unit     func(u *ads.Unit)
		want     int64
	}{
		"a daily budget": {func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000} }, asIs, 7 * 100},
		"a total":        {func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Total: 300_000} }, asIs, 300},
		"a total below its days": {func(c *ads.Campaign) {
			c.Budget = ads.Budget{Currency: "EUR", Total: 300_000, Daily: 100_000}
		}, asIs, 300},
		"a total, evenly, half of whose time is in the week": {func(c *ads.Campaign) {
			c.Budget = ads.Budget{Currency: "EUR", Total: 1_000_000, Even: true}
			c.Schedule.Start, c.Schedule.End = monday, monday.Add(2*week)
		}, asIs, 500},
		"weekends": {func(c *ads.Campaign) {
			c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000}
			c.Schedule.Weekdays = ads.On(time.Saturday, time.Sunday)
		}, asIs, 200},
		"three days": {func(c *ads.Campaign) {
			c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000}
			c.Schedule.End = monday.Add(3 * day)
		}, asIs, 300},
		"nothing before the end": {func(c *ads.Campaign) {
			c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000}
			c.Schedule.Start = monday.Add(2 * week)
		}, asIs, 0},
		"more than there is in its hours": {func(c *ads.Campaign) {
			c.Budget = ads.Budget{Currency: "EUR", Total: 1e12}
			c.Schedule.FromHour, c.Schedule.ToHour = 20, 24
		}, asIs, 4 * (5*20 + 2*40) * 6 / 8},
		"clicks": {func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000} }, func(u *ads.Unit) {
			u.Bid.Model, u.Bid.Price = ads.CPC, 200_000 // at 1 % a thousand impressions cost 2,000,000
		}, 7 * 50},
		"no budget": {plain, asIs, slots},
		"house ads": {func(c *ads.Campaign) { c.House = true }, asIs, 0},
		"elsewhere": {func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000} }, func(u *ads.Unit) { u.Zones = []ads.ZoneID{top} }, 0},
		"paused":    {func(c *ads.Campaign) { c.State = ads.Paused }, asIs, 0},
	} {
		s := newForecastStage(t)
		s.past(s.zone, 2*week, visits)
		u := func(u *ads.Unit) { u.Zones = []ads.ZoneID{s.zone}; c.unit(u) }
		s.unit(s.campaign(c.campaign), 1_000_000, u)
		f := s.forecast(0, week)
		if f.Available != slots || f.Booked != c.want || f.Remaining != slots-c.want {
			t.Errorf("%s: %+v; want %d booked", name, f, c.want)
		}
	}
}

// TestForecastsServeTheBestFirst: an open campaign takes everything that is left, so a campaign
// with a lower bid gets nothing.
func TestForecastsServeTheBestFirst(t *testing.T) {
	s := newForecastStage(t)
	s.past(s.zone, 2*week, visits)
	s.past(top, 2*week, func(hour time.Time) int64 { return 3 * visits(hour) })
	budget := func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000} }
	cheap, open, best := s.campaign(budget), s.campaign(plain), s.campaign(budget)
	s.unit(cheap, 1_000_000, asIs)
	s.unit(open, 2_000_000, asIs)
	s.unit(open, 1_000_000, asIs)
	s.unit(best, 4_000_000, func(u *ads.Unit) { u.Zones = append(u.Zones, top) }) // a quarter of its traffic is here
	f := s.forecast(0, week)
	part := int64(7 * 25 / 4)
	want := []adserver.Booking{
		{Campaign: best.ID, Impressions: part + 1}, {Campaign: open.ID, Impressions: f.Available - part - 1, Unlimited: true}, {Campaign: cheap.ID},
	}
	if len(f.Bookings) != 3 || f.Remaining != 0 || f.Booked != f.Available {
		t.Fatalf("%+v", f)
	}
	for i := range want {
		if got := f.Bookings[i]; got.Campaign != want[i].Campaign || got.Unlimited != want[i].Unlimited || max(got.Impressions-want[i].Impressions, want[i].Impressions-got.Impressions) > 1 {
			t.Errorf("%d: %+v, want %+v", i, got, want[i])
		}
	}
}

// TestForecastsSubtractSpending: only the rest of today's budget is left.
func TestForecastsSubtractSpending(t *testing.T) {
	s := newForecastStage(t)
	s.past(s.zone, 2*week, visits)
	c := s.campaign(func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Daily: 100_000} })
	u := s.unit(c, 1_000_000, asIs)
	for range 40 {
		choice := s.shows(s.request(1), u)[0]
		if _, err := s.RecordImpression(s.ctx, choice.ImpressionToken); err != nil {
			t.Fatal(err)
		}
	}
	if f := s.forecast(0, day); f.Booked != 60 {
		t.Errorf("today: %+v", f)
	}
	if f := s.forecast(day, 2*day); f.Booked != 100 {
		t.Errorf("tomorrow: %+v", f)
	}
	if f := s.forecast(day, 2*day-12*time.Hour); f.Booked != 50 {
		t.Errorf("half of tomorrow: %+v", f)
	}
}

func TestForecastsRefuseBadInput(t *testing.T) {
	s := newForecastStage(t)
	for _, c := range []struct {
		field    string
		code     fault.Code
		zone     ads.ZoneID
		from, to time.Duration
	}{
		{"site", fault.CodeInvalid, ads.ZoneID{Name: "top"}, 0, day},
		{"zone", fault.CodeInvalid, ads.ZoneID{Site: "example.org", Name: "a/b"}, 0, day},
		{"zone", fault.CodeNotFound, ads.ZoneID{Site: "example.org", Name: "nowhere"}, 0, day},
		{"from", fault.CodeInvalid, s.zone, -time.Hour, day},
		{"from", fault.CodeInvalid, s.zone, time.Minute, day},
		{"to", fault.CodeInvalid, s.zone, 0, time.Minute},
		{"to", fault.CodeInvalid, s.zone, day, day},
		{"to", fault.CodeInvalid, s.zone, 0, adserver.MaxForecast + time.Hour},
		{"to", fault.CodeInvalid, s.zone, adserver.MaxAhead, adserver.MaxAhead + time.Hour},
	} {
		_, err := s.Forecast(s.ctx, adserver.ForecastRequest{Zone: c.zone, From: monday.Add(c.from), To: monday.Add(c.to)})
		refused(t, err, c.code, c.field, c.field)
	}
}
