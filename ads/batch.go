package ads

import (
	"fmt"

	"plaza/fault"
)

// MaxBatch is the most entries of each kind that are stored at a time.
const MaxBatch = 1000

// Check returns the first mistake in a batch with at most the given number of entries of each kind.
// Errors name the entry and its part.
func (b *Batch) Check(most int) error {
	if err := checkAll("advertisers", most, b.Advertisers, (*Advertiser).Check); err != nil {
		return err
	}
	if err := checkAll("campaigns", most, b.Campaigns, (*Campaign).Check); err != nil {
		return err
	}
	if err := checkAll("zones", most, b.Zones, (*Zone).Check); err != nil {
		return err
	}
	return checkAll("units", most, b.Units, (*Unit).Check)
}

// checkAll returns the first fault in a list of entries.
func checkAll[T any](list string, most int, entries []T, check func(entry *T, field string) error) error {
	if len(entries) > most {
		return fault.Invalidf(list, "At most %d can be added in one call.", most)
	}
	for i := range entries {
		if err := check(&entries[i], fmt.Sprintf("%s.%d", list, i)); err != nil {
			return err
		}
	}
	return nil
}
