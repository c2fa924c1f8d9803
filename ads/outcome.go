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
