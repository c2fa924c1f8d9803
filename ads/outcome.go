package ads

import "time"

// Evidence is what an engine has found about a recording.
type Evidence struct {
	Arrived bool // the impression of the choice has been counted
	Shown   bool // and it was valid
	// PersonClicks and AddressClicks are clicks within ClickWindow before it, of the profile and from the address: all earlier ones, and those of the
	// same moment that have been counted.
	PersonClicks, AddressClicks int
}

// Judge says whether a recording is valid, by the first rule that fits: ByStaff, where Staff is set; NoImpression, for a click whose choice has no valid
// impression; TooMany, for a click with MaxPersonClicks or MaxAddressClicks before it, valid or not. A click without an impression, which may still
// arrive, waits: nothing is known about it yet.
func (r *Recording) Judge(e Evidence, now time.Time) (verdict Invalid, waits bool) {
	switch {
	case r.Staff:
		return ByStaff, false
	case r.Kind == Impression:
		return "", false
	case !e.Shown:
		return NoImpression, !e.Arrived && now.Before(r.ShownBy)
	case e.PersonClicks >= MaxPersonClicks || e.AddressClicks >= MaxAddressClicks:
		return TooMany, false
	default:
		return "", false
	}
}

// Burst says that a click which is TooMany shows that the person's clicks before it were none of an interested person either: those
// within ClickWindow that were billed are refunded as TooMany, and those that wait to be counted are TooMany. Many people can share an address: what
// came from one before is left alone.
func (e Evidence) Burst() bool { return e.PersonClicks >= MaxPersonClicks }

// countingTime is longer than a transaction takes, and than clocks of servers differ.
const countingTime = 2 * time.Minute

// IsLate says that a recording is counted when its hour may have been added up for the last time.
func (r *Recording) IsLate(now time.Time) bool {
	return !now.Before(r.At.Truncate(time.Hour).Add(time.Hour + lateness - countingTime))
}
