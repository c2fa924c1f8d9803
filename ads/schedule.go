package ads

import (
	"sync"
	"time"

	"plaza/fault"
)

// Schedule defines when a campaign runs. The zero value means always.
type Schedule struct {
	Start, End time.Time // Start is inclusive, End exclusive; zero: no limit
	// TimeZone is an IANA name such as "Europe/Berlin". It applies to the weekdays, the hours, and
	// the days of a daily budget. "" is UTC.
	TimeZone string
	Weekdays Weekdays
	// FromHour and ToHour limit the hours of each day: FromHour ≤ hour < ToHour, 0 to 24. Both 0:
	// all day.
	FromHour, ToHour int
}

// Weekdays is a set of time.Weekday, one bit each. The empty set means all days.
type Weekdays uint8

// On returns the set of the given days.
func On(days ...time.Weekday) Weekdays {
	var set Weekdays
	for _, day := range days {
		set |= 1 << day
	}
	return set
}

// Has reports whether a day is in the set.
func (w Weekdays) Has(day time.Weekday) bool { return w == 0 || w&(1<<day) != 0 }

// List returns the days of the set, Sunday first; none if the set means all days.
func (w Weekdays) List() []time.Weekday {
	var days []time.Weekday
	for day := time.Sunday; day <= time.Saturday; day++ {
		if w != 0 && w.Has(day) {
			days = append(days, day)
		}
	}
	return days
}

func (s *Schedule) check(field string) error {
	var end, zone, days error
	if !s.Start.IsZero() && !s.End.IsZero() && !s.Start.Before(s.End) {
		end = fault.Invalidf(fault.Part(field, "end"), "The end must be after the start.")
	}
	if _, err := location(s.TimeZone); err != nil {
		zone = fault.Invalidf(fault.Part(field, "timeZone"), "This is not a time zone: use an IANA name such as Europe/Berlin.")
	}
	if s.Weekdays > 1<<7-1 {
		days = fault.Invalidf(fault.Part(field, "weekdays"), "A week has seven days.")
	}
	return fault.All(end, zone, days, s.checkHours(field))
}

func (s *Schedule) checkHours(field string) error {
	if s.FromHour == 0 && s.ToHour == 0 {
		return nil
	}
	if s.FromHour < 0 || s.FromHour > 23 {
		return fault.Invalidf(fault.Part(field, "fromHour"), "The hour to begin must be 0 to 23.")
	}
	if s.ToHour <= s.FromHour || s.ToHour > 24 {
		return fault.Invalidf(fault.Part(field, "toHour"), "The hour to end must be after the hour to begin, and at most 24.")
	}
	return nil
}

// Runs reports whether a moment is within the schedule.
func (s *Schedule) Runs(now time.Time) bool {
	if now.Before(s.Start) || (!s.End.IsZero() && !now.Before(s.End)) {
		return false
	}
	if s.Weekdays == 0 && s.ToHour == 0 {
		return true
	}
	local := s.local(now)
	return s.Weekdays.Has(local.Weekday()) && (s.ToHour == 0 || (local.Hour() >= s.FromHour && local.Hour() < s.ToHour))
}

// local converts a moment to the schedule's time zone.
func (s *Schedule) local(now time.Time) time.Time {
	where, err := location(s.TimeZone)
	if err != nil {
		where = time.UTC // cannot happen: the name was checked when it was stored
	}
	return now.In(where)
}

// Day returns the campaign's day at a moment: "2026-11-22".
func (s *Schedule) Day(now time.Time) string { return s.local(now).Format(time.DateOnly) }

// dayElapsed returns how much of the campaign's run time on that day is over, 0 to 1.
func (s *Schedule) dayElapsed(now time.Time) float64 {
	local := s.local(now)
	y, m, d := local.Date()
	to := s.ToHour
	if to == 0 {
		to = 24
	}
	from, until := time.Date(y, m, d, s.FromHour, 0, 0, 0, local.Location()), time.Date(y, m, d, to, 0, 0, 0, local.Location())
	if s.Start.After(from) {
		from = s.Start
	}
	if !s.End.IsZero() && s.End.Before(until) {
		until = s.End
	}
	return Elapsed(from, until, now)
}

// Elapsed returns the share of a span that is over, 0 to 1.
func Elapsed(from, until, now time.Time) float64 {
	whole := until.Sub(from)
	if whole <= 0 {
		return 1
	}
	return min(max(float64(now.Sub(from))/float64(whole), 0), 1)
}

// locations caches time zones: loading one reads a file.
var locations sync.Map

func location(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if known, ok := locations.Load(name); ok {
		return known.(*time.Location), nil //nolint:errcheck,forcetypeassert // it holds nothing else
	}
	if name == "Local" {
		return nil, errNoTimeZone
	}
	found, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	locations.Store(name, found)
	return found, nil
}

var errNoTimeZone = fault.Refusal("no such time zone")
