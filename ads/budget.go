package ads

import (
	"time"

	"plaza/fault"
)

const (
	// LeaseLife is how long a server spends from a lease.
	LeaseLife = time.Minute
	// SettleAfter is how long after its last use a lease is settled: the impressions that were chosen with it have all
	// been recorded by then, or have expired.
	SettleAfter = ImpressionLife + time.Minute
	// portions is how many leases a budget is cut into, about.
	portions = 200
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
	// Day is the campaign's day that the rest is about.
	Day                string
	DayTaken, DaySpent Micros
}

// turn begins another day. It never goes back to an earlier one, whose counts are gone: clocks of servers differ.
func (l *Ledger) turn(day string) {
	if day > l.Day {
		l.Day, l.DayTaken, l.DaySpent = day, 0, 0
	}
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

// LeaseRequest asks for a portion.
type LeaseRequest struct {
	ID       LeaseID
	Campaign CampaignID
	Need     Micros // the least that is of use: what the dearest choice costs
	Now      time.Time
}

// Grant takes a portion out of the ledger, of about a 200th of the budget and at least what is needed. nil: nothing is to be
// had just now, since the budget is used up, on lease, or spent as far as the even pace goes.
func (c *Campaign) Grant(l *Ledger, r LeaseRequest) *Lease {
	l.turn(c.Schedule.Day(r.Now))
	amount := min(max(r.Need, c.Budget.portion()), l.free(&c.Budget), c.paced(l, r.Now))
	if amount < r.Need || amount <= 0 || !c.Schedule.Runs(r.Now) {
		return nil
	}
	l.Taken += amount
	l.DayTaken += amount
	use := r.Now.Add(LeaseLife)
	return &Lease{ID: r.ID, Campaign: c.ID, Amount: amount, Day: l.Day, UseUntil: use, SettleAt: use.Add(SettleAfter)}
}

func (b *Budget) portion() Micros {
	if b.Daily > 0 {
		return b.Daily / portions
	}
	return b.Total / portions
}

// paced is how much may be taken by now at an even pace.
func (c *Campaign) paced(l *Ledger, now time.Time) Micros {
	switch {
	case !c.Budget.Even:
		return MaxBid
	case c.Budget.Daily > 0:
		return part(c.Budget.Daily, c.Schedule.dayElapsed(now)) - l.DayTaken
	case c.Schedule.End.IsZero():
		return MaxBid
	default:
		start := c.Schedule.Start
		if start.IsZero() {
			start = c.ID.Time()
		}
		return part(c.Budget.Total, elapsed(start, c.Schedule.End, now)) - l.Taken
	}
}

// part is a share of an amount: how far along the plan is, no one's money.
func part(amount Micros, share float64) Micros { return Micros(float64(amount) * share) }

// Charge spends a cost: from the lease while it has enough, else from what is free in the budget. It returns the day whose
// budget that was. billed is false where neither has it, and then nothing has changed. lease may be nil.
func (c *Campaign) Charge(l *Ledger, lease *Lease, cost Micros, now time.Time) (day string, billed bool) {
	l.turn(c.Schedule.Day(now))
	day = l.Day
	switch {
	case lease != nil && lease.Spent+cost <= lease.Amount:
		lease.Spent += cost
		day = lease.Day
	case cost <= l.free(&c.Budget):
		l.Taken += cost
		l.DayTaken += cost
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

// Settle gives back what was not spent of a lease.
func (l *Ledger) Settle(lease *Lease) {
	back := lease.Amount - lease.Spent
	l.Taken -= back
	if lease.Day == l.Day {
		l.DayTaken -= back
	}
}
