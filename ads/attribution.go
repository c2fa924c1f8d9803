package ads

import (
	"time"

	"plaza/fault"
)

const (
	// DefaultAttribution is how many days after its click a conversion counts, unless the campaign
	// has another value.
	DefaultAttribution = 30
	// MaxAttribution is the longest attribution window of a campaign. Recordings are kept for
	// longer than that plus the life of a token, so that each counts once.
	MaxAttribution = 60
)

// AttributionWindow returns how long after its click a conversion counts.
func AttributionWindow(days int) time.Duration { return time.Duration(days) * 24 * time.Hour }

// CheckAttribution checks a given number of days. A campaign without one has 0.
func CheckAttribution(field string, days int) error {
	if days < 1 || days > MaxAttribution {
		return fault.Invalidf(field, "Conversions must count for 1 to %d days after the click.", MaxAttribution)
	}
	return nil
}
