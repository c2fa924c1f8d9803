package ads

import (
	"time"

	"plaza/fault"
)

const (
	// LeaseLife is how long a server may spend from a lease.
	LeaseLife = 3 * time.Second
	// SettleAfter is how long after its last use a lease is settled. By then, all impressions that
	// were chosen with it have been recorded or have expired.
	SettleAfter = ImpressionLife + time.Minute
	// portions sets how much one server takes at a time: 1/portions of the available amount, or
	// what it needs now if that is more.
	portions = 200
	// 1/clickFading of the expected clicks is dropped each minute, and 1/conversionFading of the
	// expected conversions each hour. So a click stays expected for 10 minutes on average, and a
	// conversion for a day.
	clickFading      = 10
	conversionFading = 24
)

// Budget limits what a campaign spends. The zero value means unlimited.
type Budget struct {
	Currency     Currency // of all of the campaign's units; empty if unlimited
	Total, Daily Micros   // 0 if unlimited; days are those of the schedule's time zone
	// Even spreads the daily budget over the hours of the day in which the campaign runs. Without a
	// daily budget, it spreads the total over the time from start to end, and then the schedule
	// needs an end. If Even is false, the budget is spent as fast as possible.
	Even bool
}

// Limited reports whether the budget has a limit.
func (b *Budget) Limited() bool { return b.Total > 0 || b.Daily > 0 }

func (b *Budget) check(field string) error {
	if *b == (Budget{}) {
		return nil
	}
	return fault.All(
		checkAmount(fault.Part(field, "total"), b.Total), checkAmount(fault.Part(field, "daily"), b.Daily),
		b.checkAmounts(field), b.Currency.Check(fault.Part(field, "currency")),
	)
}

func checkAmount(field string, amount Micros) error {
	if amount < 0 || amount > MaxBid {
		return fault.Invalidf(field, "A budget must be 1 to %d micros.", MaxBid)
	}
	return nil
}

func (b *Budget) checkAmounts(field string) error {
	if b.Total == 0 && b.Daily == 0 {
		return fault.Invalidf(field, "A budget must have a total, a daily amount, or both.")
	}
	if b.Total > 0 && b.Daily > b.Total {
		return fault.Invalidf(fault.Part(field, "daily"), "The daily budget is more than the total.")
	}
	return nil
}

// Ledger records what was taken out of a campaign's budget. Money that was taken has been spent or
// is on lease: Spent ≤ Taken. Taken never exceeds the budget, unless the budget is lowered: then
// nothing can be taken until it is less again.
type Ledger struct {
	Taken, Spent Micros // since the campaign was created
	// Day is the campaign's day that DayTaken and DaySpent belong to.
	Day                string
	DayTaken, DaySpent Micros
	// Expected is what clicks that have not arrived yet are likely to cost: see Campaign.Expect. It
	// is not part of Taken. It is the value as of Faded, a minute counted from 1970.
	Expected Micros
	Faded    int64
	// Awaited is the same for conversions, as of AwaitedHour, an hour counted from 1970.
	Awaited     Micros
	AwaitedHour int64
}

// turn starts a new day. It never returns to an earlier one, whose counts are gone: the clocks of
// servers differ.
func (l *Ledger) turn(day string) {
	if day > l.Day {
		l.Day, l.DayTaken, l.DaySpent = day, 0, 0
	}
}

// fade drops a part of the expected costs for each minute or hour that has passed: clicks arrive
// within 10 minutes on average, or not at all, and conversions within a day. Like turn, it never
// goes back in time.
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

// free returns how much can be taken now.
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

// Lease is a portion of a budget that one server spends from. The part that was not spent by
// SettleAt goes back to the budget.
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
	Count    int    // how many choices wait for the portion; 1 or more
	Return   Return // gives back the lease that the server had before
	Now      time.Time
}

// Return gives back the unused part of a lease. The zero value gives back nothing.
type Return struct {
	Lease Lease  // as it was granted
	Used  Micros // what choices have put aside; for one lease it never grows from one return to the next
}

// Grant takes a portion out of the ledger: a whole number of prices, either one for each waiting
// choice or a 200th of the available amount, whichever is more, but never more than is available.
// It returns nil if less than one price is available now, because the budget is used up, on lease,
// or ahead of the even pace.
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

// portion returns how much of an amount one server gets, as a multiple of piece.
func portion(of, piece Micros, count int) Micros {
	all := max(of, 0) / piece
	return min(all, max(all/portions, Micros(count))) * piece
}

// Expectation asks for permission to choose ads that are paid for by the click or by the
// conversion.
type Expectation struct {
	Campaign CampaignID
	Kind     Kind   // Click or Conversion: what the ads are paid for by
	Price    Micros // of one click or conversion
	Each     Micros // what one choice is expected to cost: the price × the rate at which choices lead to one; 1 to Price
	Count    int    // how many choices wait; 0 to only give back
	Return   Micros // the amount expected earlier for choices that were then not made
	Now      time.Time
}

// Expect adds to the ledger what the clicks or conversions of a number of choices are expected to
// cost, and returns that amount. It finds the number of choices in the same way as Grant. It
// returns 0 if less than the price of one click or conversion is left, or if earlier choices are
// expected to spend all of it.
//
// It takes nothing out of the budget: each choice is expected to cost about a hundredth of a click,
// and a lease of that size could not pay for a single click.
//
// The expected cost of clicks is compared with what can be spent now, because clicks arrive within
// minutes. Conversions arrive within about a day, so their expected cost is compared with what can
// be spent within a day from now.
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

// roomWithinADay returns how much can be spent within a day from now. With a daily budget that is
// one day's amount, whatever the time of day.
func (c *Campaign) roomWithinADay(l *Ledger, price Micros, now time.Time) Micros {
	if c.Budget.Daily == 0 {
		return min(l.free(&c.Budget), c.paced(l, price, now.Add(24*time.Hour)))
	}
	all := Budget{Total: c.Budget.Total}
	return min(l.free(&all), c.Budget.Daily)
}

// room returns how much can be taken now for things that each cost price.
func (c *Campaign) room(l *Ledger, price Micros, now time.Time) Micros {
	if !c.Schedule.Runs(now) {
		return 0
	}
	return min(l.free(&c.Budget), c.paced(l, price, now))
}

// paced returns how much may be taken by now at an even pace. It is one price ahead of the plan:
// otherwise the last of n items would be released only when the time is over, and a budget that is
// not a multiple of the price would never be used up.
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
			start = Creation(c.CreatedAt, c.ID.ID)
		}
		return part(c.Budget.Total, Elapsed(start, c.Schedule.End, now)) + price - l.Taken
	}
}

// part returns a share of an amount, rounded down. Rounding is fine here: the result says how far
// along the plan is, and no charge depends on it.
func part(amount Micros, share float64) Micros { return Micros(float64(amount) * share) }

// Charge spends the cost of a recording: from the lease while it has enough, otherwise from what is
// free in the budget, as for all clicks and conversions. It returns the day whose budget was
// charged. If neither has enough, billed is false and nothing changes. lease may be nil.
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

// Refund gives back what was charged on a day. The money can be spent again immediately, also on
// the same day if it is not over.
func (c *Campaign) Refund(l *Ledger, charged Micros, day string, now time.Time) {
	l.turn(c.Schedule.Day(now))
	l.Taken -= charged
	l.Spent -= charged
	if day == l.Day {
		l.DayTaken -= charged
		l.DaySpent -= charged
	}
}

// GiveBack takes out of a lease what was neither used nor spent. Repeating the call, or making it
// after a later one for the same lease, changes nothing.
func (l *Ledger) GiveBack(lease *Lease, used Micros) {
	back := max(lease.Amount-max(used, lease.Spent), 0)
	lease.Amount -= back
	l.Taken -= back
	if lease.Day == l.Day {
		l.DayTaken -= back
	}
}

// Settle gives back the unspent part of a lease.
func (l *Ledger) Settle(lease *Lease) { l.GiveBack(lease, 0) }
