package ads

import (
	"time"

	"plaza/fault"
)

const (
	// LeaseLife is how long a server spends from a lease.
	LeaseLife = 3 * time.Second
	// SettleAfter is how long after its last use a lease is settled: the impressions that were chosen with it have all
	// been recorded by then, or have expired.
	SettleAfter = ImpressionLife + time.Minute
	// portions says how much one server takes at a time: a 200th of what is there, or what it needs just now.
	portions = 200
	// clickFading is the part of the expected clicks that is given up each minute, and conversionFading the part of the expected conversions that is given
	// up each hour: 1/fading. So clicks are expected for 10 minutes on average, and conversions for a day.
	clickFading      = 10
	conversionFading = 24
)

// Budget bounds what a campaign spends. The zero value is: no bound.
type Budget struct {
	Currency     Currency // of all of its units; empty where there is no bound
	Total, Daily Micros   // 0 for none; a day is one of the schedule's time zone
	// Even spreads the daily budget over the hours of the day that the campaign runs, or else the total over the time
	// from start to end, which it needs then. Otherwise it is spent as fast as it can be.
	Even bool
}

// Limited says whether there is a bound.
func (b *Budget) Limited() bool { return b.Total > 0 || b.Daily > 0 }

func (b *Budget) check(field string) error {
	if *b == (Budget{}) {
		return nil
	}
	return fault.All(
		checkAmount(at(field, "total"), b.Total), checkAmount(at(field, "daily"), b.Daily),
		b.checkAmounts(field), b.Currency.Check(at(field, "currency")),
	)
}

func checkAmount(field string, amount Micros) error {
	if amount < 0 || amount > MaxBid {
		return fault.Invalidf(field, "A budget has 1 to %d micros.", MaxBid)
	}
	return nil
}

func (b *Budget) checkAmounts(field string) error {
	if b.Total == 0 && b.Daily == 0 {
		return fault.Invalidf(field, "A budget has a total, a daily amount, or both.")
	}
	if b.Total > 0 && b.Daily > b.Total {
		return fault.Invalidf(at(field, "daily"), "A day's budget is more than all.")
	}
	return nil
}

// Ledger is what was taken out of a campaign's budget. What is taken was spent, or is on lease: Spent ≤ Taken, and Taken
// never exceeds the budget, whose total and daily amounts are lowered at times, but never below it.
type Ledger struct {
	Taken, Spent Micros // ever
	// Day is the campaign's day that the next two are about.
	Day                string
	DayTaken, DaySpent Micros
	// Expected is what clicks are likely to cost that have not come yet: see Campaign.Expect. It is not part of Taken. Faded is
	// the minute, counted from 1970, of which it is the value.
	Expected Micros
	Faded    int64
	// Awaited is the same of conversions, and AwaitedHour the hour, counted from 1970, of which it is the value.
	Awaited     Micros
	AwaitedHour int64
}

// turn begins another day. It never goes back to an earlier one, whose counts are gone: clocks of servers differ.
func (l *Ledger) turn(day string) {
	if day > l.Day {
		l.Day, l.DayTaken, l.DaySpent = day, 0, 0
	}
}

// fade gives up a part of what is expected for each minute or hour: clicks come within 10 minutes on average, or not at all, and conversions within a day.
// It never goes back to an earlier one, as turn.
func (l *Ledger) fade(now time.Time) {
	fade(&l.Expected, &l.Faded, now.Unix()/60, clickFading)
	fade(&l.Awaited, &l.AwaitedHour, now.Unix()/3600, conversionFading)
}

func fade(sum *Micros, of *int64, present int64, fading Micros) {
	for ; *sum > 0 && *of < present; *of++ {
		*sum -= (*sum + fading - 1) / fading
	}
	*of = max(*of, present)
}

// free is how much can be taken now.
func (l *Ledger) free(b *Budget) Micros {
	free := MaxBid
	if b.Total > 0 {
		free = min(free, b.Total-l.Taken)
	}
	if b.Daily > 0 {
		free = min(free, b.Daily-l.DayTaken)
	}
	return max(free, 0)
}

// Lease is a portion of a budget that one server spends from. Whatever of it was not spent by SettleAt goes back.
type Lease struct {
	ID            LeaseID
	Campaign      CampaignID
	Amount, Spent Micros
	Day           string // the campaign's day on which it was taken
	UseUntil      time.Time
	SettleAt      time.Time
}

// LeaseRequest asks for a portion of a budget, for impressions.
type LeaseRequest struct {
	ID       LeaseID
	Campaign CampaignID
	Price    Micros // of an impression
	Count    int    // how many choices wait for it; 1 or more
	Return   Return // what the server had before
	Now      time.Time
}

// Return gives back what was not used of a lease. The zero value gives back nothing.
type Return struct {
	Lease Lease  // as it was granted
	Used  Micros // what was put aside for choices; of one lease it never grows from one return to the next
}

// Grant takes a portion out of the ledger: a whole number of prices, as many as there are choices that wait or a 200th of what is there, but
// no more than there is. nil: there is less than one price just now, since the budget is used up, on lease, or spent as far as the even pace goes.
func (c *Campaign) Grant(l *Ledger, r LeaseRequest) *Lease {
	l.turn(c.Schedule.Day(r.Now))
	amount := portion(c.room(l, r.Price, r.Now), r.Price, r.Count)
	if amount == 0 {
		return nil
	}
	l.Taken += amount
	l.DayTaken += amount
	use := r.Now.Add(LeaseLife)
	return &Lease{ID: r.ID, Campaign: c.ID, Amount: amount, Day: l.Day, UseUntil: use, SettleAt: use.Add(SettleAfter)}
}

// portion is how much of an amount one server gets, in whole pieces.
func portion(of, piece Micros, count int) Micros {
	all := max(of, 0) / piece
	return min(all, max(all/portions, Micros(count))) * piece
}

// Expectation asks to choose ads that are paid for by the click, or by the conversion.
type Expectation struct {
	Campaign CampaignID
	Kind     Kind   // Click or Conversion: what they are paid for by
	Price    Micros // of one click or conversion
	Each     Micros // what one choice is expected to cost: the price × the rate at which choices lead to one; 1 to Price
	Count    int    // how many choices wait; 0 to give back only
	Return   Micros // what was expected before of choices that were not made
	Now      time.Time
}

// Expect adds to the ledger what the clicks or conversions of a number of choices are expected to cost, and returns it; that number is found as Grant does.
// 0: there is less than the price of one left, or all of it is expected to be spent on earlier choices.
//
// It takes nothing: each choice costs a hundredth of a click or so, and a lease of that would pay for no click at all.
//
// What is expected of clicks is compared with what can be spent now, for they come within minutes. Conversions come within about a day, so that is compared with
// what can be spent within a day from now.
func (c *Campaign) Expect(l *Ledger, e Expectation) Micros {
	l.turn(c.Schedule.Day(e.Now))
	l.fade(e.Now)
	expected := &l.Expected
	if e.Kind == Conversion {
		expected = &l.Awaited
	}
	*expected = max(*expected-e.Return, 0)
	if e.Count == 0 {
		return 0
	}
	room := c.room(l, e.Price, e.Now)
	if room < e.Price {
		return 0
	}
	if e.Kind == Conversion {
		room = c.roomWithinADay(l, e.Price, e.Now)
	}
	amount := portion(room-*expected, e.Each, e.Count)
	*expected += amount
	return amount
}

// roomWithinADay is how much can be spent within a day from now: of a daily budget a day's amount, which is as much on any day.
func (c *Campaign) roomWithinADay(l *Ledger, price Micros, now time.Time) Micros {
	if c.Budget.Daily == 0 {
		return min(l.free(&c.Budget), c.paced(l, price, now.Add(24*time.Hour)))
	}
	all := Budget{Total: c.Budget.Total}
	return min(l.free(&all), c.Budget.Daily)
}

// room is how much can be taken for things of a price.
func (c *Campaign) room(l *Ledger, price Micros, now time.Time) Micros {
	if !c.Schedule.Runs(now) {
		return 0
	}
	return min(l.free(&c.Budget), c.paced(l, price, now))
}

// paced is how much may be taken by now at an even pace. It is one price ahead of the plan: otherwise the last of n would
// be released when the time is over, and n that do not divide the budget would never all be.
func (c *Campaign) paced(l *Ledger, price Micros, now time.Time) Micros {
	switch {
	case !c.Budget.Even:
		return MaxBid
	case c.Budget.Daily > 0:
		return part(c.Budget.Daily, c.Schedule.dayElapsed(now)) + price - l.DayTaken
	case c.Schedule.End.IsZero():
		return MaxBid
	default:
		start := c.Schedule.Start
		if start.IsZero() {
			start = c.ID.Time()
		}
		return part(c.Budget.Total, elapsed(start, c.Schedule.End, now)) + price - l.Taken
	}
}

// part is a share of an amount: how far along the plan is, no one's money.
func part(amount Micros, share float64) Micros { return Micros(float64(amount) * share) }

// Charge spends the cost of a recording: from the lease while it has enough, else, as all clicks and conversions do, from what is free in the budget. It
// returns the day whose budget that was. billed is false where neither has it, and then nothing has changed. lease may be nil.
func (c *Campaign) Charge(l *Ledger, lease *Lease, r *Recording) (day string, billed bool) {
	cost, now := r.Cost, r.At
	l.turn(c.Schedule.Day(now))
	day = l.Day
	switch {
	case lease != nil && lease.Spent+cost <= lease.Amount:
		lease.Spent += cost
		day = lease.Day
	case cost <= l.free(&c.Budget):
		l.Taken += cost
		l.DayTaken += cost
		if r.Kind == Click {
			l.Expected = max(l.Expected-cost, 0)
		}
	default:
		return "", false
	}
	l.Spent += cost
	if day == l.Day {
		l.DaySpent += cost
	}
	return day, true
}

// Refund gives back what was charged on a day. It can be spent again at once: on that day too, where it is not over.
func (c *Campaign) Refund(l *Ledger, charged Micros, day string, now time.Time) {
	l.turn(c.Schedule.Day(now))
	l.Taken -= charged
	l.Spent -= charged
	if day == l.Day {
		l.DayTaken -= charged
		l.DaySpent -= charged
	}
}

// GiveBack takes out of a lease what was neither used nor spent. To do it again, or after a later one of the same lease, changes nothing.
func (l *Ledger) GiveBack(lease *Lease, used Micros) {
	back := max(lease.Amount-max(used, lease.Spent), 0)
	lease.Amount -= back
	l.Taken -= back
	if lease.Day == l.Day {
		l.DayTaken -= back
	}
}

// Settle gives back what was not spent of a lease.
func (l *Ledger) Settle(lease *Lease) { l.GiveBack(lease, 0) }
