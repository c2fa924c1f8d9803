package ads

import "time"

// Kind is the kind of a recording, and of the tokens that are good for it.
type Kind string

// The kinds.
const (
	Impression Kind = "IMPRESSION"
	Click      Kind = "CLICK"
	// Conversion is what an advertiser wants a visitor to do after a click: a purchase, for
	// example. It uses the token of the click.
	Conversion Kind = "CONVERSION"
)

// Kinds returns all kinds in the order in which they are counted. Each recording except an
// impression follows a recording of the previous kind, of the same choice.
func Kinds() []Kind { return []Kind{Impression, Click, Conversion} }

// Before returns the kind that recordings of this kind follow; empty for impressions.
func (k Kind) Before() Kind {
	switch k {
	case Click:
		return Impression
	case Conversion:
		return Click
	default:
		return ""
	}
}

// How long tokens are valid.
const (
	ImpressionLife = 30 * time.Minute // also of the caps and the money that a choice has reserved
	ClickLife      = 24 * time.Hour
)
