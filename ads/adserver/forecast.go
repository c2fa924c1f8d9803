package adserver

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"plaza/ads"
	"plaza/fault"
)

const (
	// MaxForecast is the longest time that one forecast can cover.
	MaxForecast = 31 * 24 * time.Hour
	// MaxAhead is how far in the future a forecast may end.
	MaxAhead = 92 * 24 * time.Hour
	// forecastPast is how much of the past a forecast is based on.
	forecastPast = 8 * week

	week = 7 * 24 * time.Hour
)

// Basis is the kind of data that a forecast is based on.
type Basis string

// The bases, best first.
const (
	FromWeeks Basis = "WEEKS" // the same weekdays and hours of previous weeks
	FromDays  Basis = "DAYS"  // less than a week of data: the same hours of previous days
	FromHours Basis = "HOURS" // less than a day of data: the mean of its hours
	FromNone  Basis = "NONE"  // no data: no traffic is expected
)

// ForecastRequest asks for a forecast.
type ForecastRequest struct {
	Zone     ads.ZoneID
	From, To time.Time // whole hours; To is exclusive
}

func (r *ForecastRequest) check(now time.Time) error {
	if err := r.Zone.Check("site", "zone"); err != nil {
		return err
	}
	hour := now.UTC().Truncate(time.Hour)
	if !r.From.Equal(r.From.Truncate(time.Hour)) || r.From.Before(hour) {
		return fault.Invalidf("from", "A forecast must begin at a full hour: the current one or a later one.")
	}
	if !r.To.Equal(r.To.Truncate(time.Hour)) {
		return fault.Invalidf("to", "A forecast must end at a full hour.")
	}
	if !r.From.Before(r.To) || r.To.Sub(r.From) > MaxForecast || r.To.Sub(hour) > MaxAhead {
		return fault.Invalidf("to", "A forecast must cover 1 hour to 31 days, and end within 92 days.")
	}
	return nil
}

// Forecast is the traffic that is expected in a zone.
type Forecast struct {
	Basis Basis
	Weeks float64 // length of the history that was used, at most 8
	// Requested is the number of ads that will be requested, and Available the number of impressions
	// that result. ShowRate is Available divided by Requested: not every chosen ad is seen.
	Requested, Available int64
	ShowRate             float64
	// Booked is the part of Available that campaigns in the zone will take, by Bookings. Remaining is
	// the rest.
	Booked, Remaining int64
	Bookings          []Booking // in the order in which the zone ranks them, each campaign once
}

// Booking is what one campaign will take.
type Booking struct {
	Campaign    ads.CampaignID
	Impressions int64
	// Unlimited campaigns have no budget: they take everything that is left while they run.
	Unlimited bool
}

// Forecast estimates how many impressions a zone will have, from past requests, and how many of
// them are booked.
//
// The expected requests of an hour are the mean of that weekday and hour over the past 8 weeks, or
// fewer if there is less data: the mean of several seasonal naïve forecasts (Hyndman and
// Athanasopoulos, Forecasting: Principles and Practice, third edition, section 5.2). They become
// impressions by the rate at which ads chosen in the zone were seen.
//
// The campaigns whose ads run in the zone then take their impressions, starting with the campaign
// whose best ad there has the highest eCPM. Each takes them from the hours in which it runs, in
// proportion to what is left of each hour. A campaign takes as many as it can pay for in that time
// at that eCPM. From a daily budget that is the amount of each day, times the share of the day's
// running hours that the forecast covers. It is never more than is left of the total; an evenly
// spread total without a daily budget gives the share of its remaining time. If a campaign's ads
// run in several zones, this zone gets its share of their traffic. Caps, keywords and their
// weights, weights of units and future changes of bids are ignored. House ads use what is free, and
// are left out.
//
// Errors: INVALID for "site", "zone", "from" or "to"; NOT_FOUND for "zone".
func (s *Service) Forecast(ctx context.Context, r ForecastRequest) (*Forecast, error) {
	now := s.now().UTC()
	if err := r.check(now); err != nil {
		return nil, err
	}
	zone, err := s.ZoneHead(ctx, r.Zone)
	if err != nil {
		return nil, err
	}
	hour := now.Truncate(time.Hour)
	past := ads.TrafficRequest{From: hour.Add(-forecastPast), To: hour, By: ads.PerHour, Zones: []ads.ZoneID{r.Zone}}
	hours, err := s.store.Traffic(ctx, past)
	if err != nil {
		return nil, present(err)
	}
	f, plan := expect(hours, hour, r)
	demands, err := s.demands(ctx, zone, r, now)
	if err != nil {
		return nil, err
	}
	f.book(plan, demands)
	return f, nil
}

// history holds the ads that were requested in each hour, from the first hour with data until now.
type history struct {
	first, end time.Time
	asked      map[time.Time]float64
}

// mean averages the past hours that lie a whole number of steps before the given hour.
func (h *history) mean(hour time.Time, step time.Duration) float64 {
	sum, n := 0.0, 0
	ahead := hour.Sub(h.end)
	at := hour.Add(ahead%step - ahead - step) // the last such hour that is over
	for ; !at.Before(h.first); at = at.Add(-step) {
		sum += h.asked[at]
		n++
	}
	return sum / max(float64(n), 1)
}

// expect returns the forecast of requests, and the impressions that are available in each hour.
func expect(rows []ads.TrafficRow, end time.Time, r ForecastRequest) (*Forecast, []float64) {
	h, rate := readHistory(rows, end)
	known := end.Sub(h.first)
	f := &Forecast{Weeks: float64(known) / float64(week), ShowRate: rate}
	var step time.Duration
	switch {
	case known >= week:
		f.Basis, step = FromWeeks, week
	case known >= 24*time.Hour:
		f.Basis, step = FromDays, 24*time.Hour
	case known > 0:
		f.Basis, step = FromHours, time.Hour
	default:
		f.Basis, step = FromNone, week
	}
	asked, available := 0.0, 0.0
	plan := make([]float64, 0, r.To.Sub(r.From)/time.Hour)
	for at := r.From.UTC(); at.Before(r.To); at = at.Add(time.Hour) {
		mean := h.mean(at, step)
		asked += mean
		available += mean * rate
		plan = append(plan, mean*rate)
	}
	f.Requested, f.Available = int64(math.Round(asked)), int64(math.Round(available))
	return f, plan
}

// readHistory also returns the rate at which chosen ads were seen: 1 if none was chosen.
func readHistory(rows []ads.TrafficRow, end time.Time) (history, float64) {
	h := history{first: end, end: end, asked: map[time.Time]float64{}}
	filled, shown := int64(0), int64(0)
	for _, row := range rows {
		at, err := ads.ParseHourKey(row.Key)
		if err != nil {
			continue // not an hour's key
		}
		h.asked[at] += float64(row.Requested)
		filled += row.Filled
		shown += row.Shown
		if at.Before(h.first) {
			h.first = at
		}
	}
	if filled == 0 {
		return h, 1
	}
	return h, min(float64(shown)/float64(filled), 1)
}

// demand is what a campaign would take in a forecast if enough were available.
type demand struct {
	Booking
	ecpm        ads.Micros
	impressions float64 // +Inf for open campaigns
	runs        []bool  // for each hour
}

// book hands out the available impressions to the demands, in their order.
func (f *Forecast) book(left []float64, demands []demand) {
	booked := 0.0
	for _, d := range demands {
		room := 0.0
		for i, runs := range d.runs {
			if runs {
				room += left[i]
			}
		}
		taken := min(d.impressions, room)
		for i, runs := range d.runs {
			if runs && room > 0 {
				left[i] -= left[i] * taken / room
			}
		}
		booked += taken
		d.Booking.Impressions = int64(math.Round(taken))
		f.Bookings = append(f.Bookings, d.Booking)
	}
	f.Booked = min(int64(math.Round(booked)), f.Available)
	f.Remaining = f.Available - f.Booked
}

// demands returns the demands of the campaigns that run in a zone, highest eCPM first.
func (s *Service) demands(ctx context.Context, zone *ads.Zone, r ForecastRequest, now time.Time) ([]demand, error) {
	best := map[ads.CampaignID]*ads.RunningUnit{}
	var campaigns []ads.CampaignID
	var units []ads.UnitID
	for i := range zone.Units {
		u := &zone.Units[i]
		if u.House {
			continue
		}
		units = append(units, u.Unit)
		if best[u.Campaign] == nil { // the units are sorted: the first is the best
			best[u.Campaign] = u
			campaigns = append(campaigns, u.Campaign)
		}
	}
	if len(campaigns) == 0 {
		return nil, nil
	}
	found, err := s.store.Campaigns(ctx, campaigns)
	if err != nil {
		return nil, present(err)
	}
	ledgers, err := s.store.Ledgers(ctx, campaigns)
	if err != nil {
		return nil, present(err)
	}
	shares, err := s.shares(ctx, zone.ID, units, now)
	if err != nil {
		return nil, err
	}
	var all []demand
	for _, id := range campaigns {
		if c := found[id]; c != nil {
			all = append(all, demandOf(c, ledgers[id], best[id].ECPM, shares[id], r, now))
		}
	}
	slices.SortStableFunc(all, func(a, b demand) int { return cmp.Compare(b.ecpm, a.ecpm) })
	return all, nil
}

// demandOf returns what a campaign wants of one zone, given the zone's share of the campaign's
// traffic.
func demandOf(c *ads.Campaign, l ads.Ledger, ecpm ads.Micros, share float64, r ForecastRequest, now time.Time) demand {
	d := demand{Booking: Booking{Campaign: c.ID, Unlimited: !c.Budget.Limited()}, ecpm: ecpm, impressions: math.Inf(1)}
	for at := r.From; at.Before(r.To); at = at.Add(time.Hour) {
		d.runs = append(d.runs, c.Schedule.Runs(at))
	}
	if !d.Unlimited {
		d.impressions = spendable(c, l, r, now) / (float64(max(ecpm, 1)) / ads.Mille) * share
	}
	return d
}

// spendable returns how much money a campaign can spend during a forecast.
func spendable(c *ads.Campaign, l ads.Ledger, r ForecastRequest, now time.Time) float64 {
	most := math.Inf(1)
	if c.Budget.Total > 0 {
		most = float64(max(c.Budget.Total-l.Spent, 0))
		if c.Budget.Even && c.Budget.Daily == 0 && !c.Schedule.End.IsZero() {
			most *= remaining(c, r, now)
		}
	}
	if c.Budget.Daily > 0 {
		most = min(most, dailySpendable(c, l, r, now))
	}
	return most
}

// remaining returns the share of a campaign's remaining time that the forecast covers.
func remaining(c *ads.Campaign, r ForecastRequest, now time.Time) float64 {
	from := now
	if c.Schedule.Start.After(from) {
		from = c.Schedule.Start
	}
	return ads.Elapsed(from, c.Schedule.End, r.To) - ads.Elapsed(from, c.Schedule.End, r.From)
}

// dailySpendable adds up the daily budgets. Each day counts with the share of its remaining running
// hours that the forecast covers.
func dailySpendable(c *ads.Campaign, l ads.Ledger, r ForecastRequest, now time.Time) float64 {
	const day = 24 * time.Hour
	hour := now.UTC().Truncate(time.Hour)
	within, all := map[string]float64{}, map[string]float64{}
	for at := r.From.Add(-day); at.Before(r.To.Add(day)); at = at.Add(time.Hour) {
		if at.Before(hour) || !c.Schedule.Runs(at) {
			continue
		}
		today := c.Schedule.Day(at)
		all[today]++
		if !at.Before(r.From) && at.Before(r.To) {
			within[today]++
		}
	}
	sum := 0.0
	for today, hours := range within {
		budget := c.Budget.Daily
		if today == l.Day {
			budget = max(budget-l.DaySpent, 0)
		}
		sum += float64(budget) * hours / all[today]
	}
	return sum
}

// shares returns, for each campaign with units in the zone, the zone's share of the traffic of all
// zones with these units. Without traffic, the zones have equal shares.
func (s *Service) shares(ctx context.Context, zone ads.ZoneID, ids []ads.UnitID, now time.Time) (map[ads.CampaignID]float64, error) {
	units, err := s.store.Units(ctx, ids)
	if err != nil {
		return nil, present(err)
	}
	places, all := map[ads.CampaignID]map[ads.ZoneID]bool{}, map[ads.ZoneID]bool{zone: true}
	for _, u := range units {
		if places[u.Campaign] == nil {
			places[u.Campaign] = map[ads.ZoneID]bool{}
		}
		for _, z := range u.Zones {
			places[u.Campaign][z], all[z] = true, true
		}
	}
	asked, err := s.askedIn(ctx, all, now)
	if err != nil {
		return nil, err
	}
	shares := map[ads.CampaignID]float64{}
	for campaign, zones := range places {
		sum := 0.0
		for z := range zones {
			sum += asked[z]
		}
		if sum > 0 {
			shares[campaign] = asked[zone] / sum
		} else {
			shares[campaign] = 1 / float64(len(zones))
		}
	}
	return shares, nil
}

// askedIn returns how much was requested in zones. It skips the query for a single zone, whose
// share is 1 anyway.
func (s *Service) askedIn(ctx context.Context, zones map[ads.ZoneID]bool, now time.Time) (map[ads.ZoneID]float64, error) {
	asked := map[ads.ZoneID]float64{}
	if len(zones) == 1 {
		return asked, nil
	}
	hour := now.UTC().Truncate(time.Hour)
	r := ads.TrafficRequest{From: hour.Add(-forecastPast), To: hour, By: ads.PerZone}
	for z := range zones {
		r.Zones = append(r.Zones, z)
	}
	rows, err := s.store.Traffic(ctx, r)
	if err != nil {
		return nil, present(err)
	}
	for _, row := range rows {
		if z, err := ads.ParseZoneID(row.Key); err == nil {
			asked[z] += float64(row.Requested)
		}
	}
	return asked, nil
}
