package ads

// Evidence is what an engine has found about a recording.
type Evidence struct {
	Shown         bool // the choice has a valid impression
	PersonClicks  int  // clicks of the profile within ClickWindow before it
	AddressClicks int  // the same of the address
}

// Judge says whether a recording is valid: see Recorder.Record.
func (r *Recording) Judge(e Evidence) Invalid {
	switch {
	case r.Staff:
		return ByStaff
	case r.Kind == Impression:
		return ""
	case !e.Shown:
		return NoImpression
	case e.PersonClicks >= MaxPersonClicks || e.AddressClicks >= MaxAddressClicks:
		return TooMany
	default:
		return ""
	}
}

// Burst says that a click which is TooMany shows that the person's clicks before it were none of an interested person either: those
// within ClickWindow that were billed are refunded as TooMany. Many people can share an address: what came from one before is left alone.
func (e Evidence) Burst() bool { return e.PersonClicks >= MaxPersonClicks }
