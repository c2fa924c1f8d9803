package ads

import "fmt"

func (b *Batch) check() error {
	if err := checkAll("advertisers", b.Advertisers, (*Advertiser).check); err != nil {
		return err
	}
	if err := checkAll("campaigns", b.Campaigns, (*Campaign).check); err != nil {
		return err
	}
	if err := checkAll("zones", b.Zones, (*Zone).check); err != nil {
		return err
	}
	return checkAll("units", b.Units, (*Unit).check)
}

// checkAll returns the first fault in a list of entries.
func checkAll[T any](list string, entries []T, check func(entry *T, field string) *Error) error {
	if len(entries) > MaxBatch {
		return invalid(list, fmt.Sprintf("At most %d can be added at once.", MaxBatch))
	}
	for i := range entries {
		if err := check(&entries[i], fmt.Sprintf("%s.%d", list, i)); err != nil {
			return err
		}
	}
	return nil
}
