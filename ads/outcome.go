package ads

import "time"

// EventLife is how long recordings are kept.
const EventLife = 90 * 24 * time.Hour

// Evidence is what an engine knows about a recording when it counts it.
type Evidence struct {
	// Arrived says that the recording that this one follows has been counted: for a click the
	// impression of its choice, for a conversion the click. Valid says whether that one was valid,
	// and At when it was recorded.
	Arrived, Valid bool
	At             time.Time
	// PersonClicks and AddressClicks are the clicks within ClickWindow before this recording, by
	// the profile and from the address: all earlier ones, and those of the same moment that have
	// been counted.
	PersonClicks, AddressClicks int
}

// Judge decides whether a recording is valid. The first rule that fits applies: ByStaff, if Staff
// is set; NoImpression, for a click whose choice has no valid impression, and NoClick, for a
// conversion whose choice has no valid click; TooLate, for a conversion more than Days after its
// click; TooMany, for a click with MaxPersonClicks or MaxAddressClicks before it, valid or not. If
// the recording that it follows has not arrived but still may, it waits, and there is no verdict
// yet.
func (r *Recording) Judge(e Evidence, now time.Time) (verdict Invalid, waits bool) {
	switch {
	case r.Staff:
		return ByStaff, false
	case r.Kind == Impression:
		return "", false
	case !e.Valid:
		return r.Kind.missing(), !e.Arrived && now.Before(r.WaitUntil)
	case r.Kind == Conversion && r.At.After(e.At.Add(AttributionWindow(r.Days))):
		return TooLate, false
	case e.PersonClicks >= MaxPersonClicks || e.AddressClicks >= MaxAddressClicks:
		return TooMany, false
	default:
		return "", false
	}
}

// missing returns the verdict for a recording of the kind if the one that it follows is missing or
// invalid.
func (k Kind) missing() Invalid {
	if k == Conversion {
		return NoClick
	}
	return NoImpression
}

// waitAtMost limits how long a waiting recording stays unexamined: another server may be counting
// what it waits for, without knowing of this one.
const waitAtMost = time.Hour

// LookAgain returns when a waiting recording is due to be examined again.
func (r *Recording) LookAgain(now time.Time) time.Time {
	if again := now.Add(waitAtMost); again.Before(r.WaitUntil) {
		return again
	}
	return r.WaitUntil
}

// Burst reports whether a click that is TooMany makes the person's earlier clicks suspect, too.
// Then the valid ones within ClickWindow are refunded as TooMany, and so are the valid conversions
// of all of them, also of clicks that were refunded by hand; clicks that have not been counted yet
// become TooMany. Many people can share an address, so earlier clicks from the same address stay
// valid.
func (e Evidence) Burst() bool { return e.PersonClicks >= MaxPersonClicks }

// CountingTime is longer than a transaction takes, plus the difference between the servers' clocks.
const CountingTime = 2 * time.Minute

// Lateness is how long after the end of its hour a recording may still be stored.
const Lateness = 5 * time.Minute

// IsLate reports whether a recording is counted so late that its hour may have been added up
// already.
func (r *Recording) IsLate(now time.Time) bool {
	return !now.Before(r.At.Truncate(time.Hour).Add(time.Hour + Lateness - CountingTime))
}
