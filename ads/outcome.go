package ads

import "time"

// Evidence is what an engine has found about a recording.
type Evidence struct {
	// Arrived says that what it follows has been counted: of a click the impression of its choice, of a conversion the click. Valid says that it counts, and
	// At when it was recorded.
	Arrived, Valid bool
	At             time.Time
	// PersonClicks and AddressClicks are clicks within ClickWindow before it, of the profile and from the address: all earlier ones, and those of the
	// same moment that have been counted.
	PersonClicks, AddressClicks int
}

// Judge says whether a recording is valid, by the first rule that fits: ByStaff, where Staff is set; NoImpression, for a click whose choice has no valid
// impression, and NoClick, for a conversion whose choice has no valid click; TooLate, for a conversion more than Days after its click; TooMany, for a
// click with MaxPersonClicks or MaxAddressClicks before it, valid or not. A recording without what it follows, which may still arrive, waits: nothing
// is known about it yet.
func (r *Recording) Judge(e Evidence, now time.Time) (verdict Invalid, waits bool) {
	switch {
	case r.Staff:
		return ByStaff, false
	case r.Kind == Impression:
		return "", false
	case !e.Valid:
		return r.Kind.missing(), !e.Arrived && now.Before(r.WaitUntil)
	case r.Kind == Conversion && r.At.After(e.At.Add(days(r.Days))):
		return TooLate, false
	case e.PersonClicks >= MaxPersonClicks || e.AddressClicks >= MaxAddressClicks:
		return TooMany, false
	default:
		return "", false
	}
}

// missing is what a recording is that has not what it follows.
func (k Kind) missing() Invalid {
	if k == Conversion {
		return NoClick
	}
	return NoImpression
}

// waitAtMost bounds how long a recording waits before it is looked at again: what it waits for may just be counted by another server, which does not
// know of it yet.
const waitAtMost = time.Hour

// LookAgain is when a recording is due that waits for another one.
func (r *Recording) LookAgain(now time.Time) time.Time {
	if again := now.Add(waitAtMost); again.Before(r.WaitUntil) {
		return again
	}
	return r.WaitUntil
}

// Burst says that a click which is TooMany shows that the person's clicks before it were none of an interested person either: those
// within ClickWindow that count, and the conversions of these that have been counted, are refunded as TooMany, and clicks that wait to be counted are TooMany.
// Many people can share an address: what came from one before is left alone.
func (e Evidence) Burst() bool { return e.PersonClicks >= MaxPersonClicks }

// countingTime is longer than a transaction takes, and than clocks of servers differ.
const countingTime = 2 * time.Minute

// IsLate says that a recording is counted when its hour may have been added up for the last time.
func (r *Recording) IsLate(now time.Time) bool {
	return !now.Before(r.At.Truncate(time.Hour).Add(time.Hour + lateness - countingTime))
}
