package social

import (
	"time"

	"plaza/fault"
	"plaza/id"
)

// TimeRange selects entries created at or after Since, and before Until: a half-open interval, in
// whole milliseconds; nil means unbounded. The id of a post or a comment contains its time, so a
// range of time is a range of list keys.
type TimeRange struct {
	Since *time.Time
	Until *time.Time
}

// check validates the range. Error: INVALID, naming the argument.
func (r TimeRange) check() error {
	if r.Since != nil && r.Until != nil && !r.Since.Before(*r.Until) {
		return fault.Invalidf("until", "until must be later than since.")
	}
	return nil
}

// Narrow limits a page of a list, newest first, to the range. Error: INVALID, naming the
// argument.
func (r TimeRange) Narrow(p Page) (Page, error) { return r.newestFirst(p), r.check() }

// Narrow limits a page of the thread to a range of time. Error: INVALID, naming the argument, also
// for a range in the order of the tree.
func (t Thread) Narrow(r TimeRange, p Page) (Page, error) {
	switch {
	case t.Order == OrderNewest:
		return r.newestFirst(p), r.check()
	case t.Order == OrderOldest:
		return r.oldestFirst(p), r.check()
	case r.Since != nil:
		return p, outOfTime("since")
	case r.Until != nil:
		return p, outOfTime("until")
	}
	return p, nil
}

func outOfTime(argument string) error {
	return fault.Invalidf(argument, "A range of time needs an order by time: give order: OLDEST or order: NEWEST.")
}

func (r TimeRange) newestFirst(p Page) Page {
	from, to := r.bounds()
	if to != "" && (p.After == "" || to < p.After) {
		p.After = to
	}
	p.Before = max(p.Before, from)
	return p
}

func (r TimeRange) oldestFirst(p Page) Page {
	from, to := r.bounds()
	if to != "" && (p.Before == "" || to < p.Before) {
		p.Before = to
	}
	p.After = max(p.After, from)
	return p
}

// bounds are the keys around the range: the last before it, and the first after it; "" means
// unbounded.
func (r TimeRange) bounds() (from, to Key) {
	if r.Since != nil && r.Since.UnixMilli() > 0 {
		from = Key(id.LastAt(r.Since.Add(-time.Millisecond)).Bytes())
	}
	if r.Until != nil {
		to = Key(id.FirstAt(*r.Until).Bytes())
	}
	return from, to
}
