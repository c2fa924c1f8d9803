package ads

import (
	"errors"
	"fmt"

	"plaza/fault"
)

// check returns the first fault only: programs write batches, so one error is enough for them.
func (b *Batch) check() error {
	err := b.checkEntries(MaxBatch)
	if mistake, ok := errors.AsType[*fault.Error](err); ok {
		mistake.Code = fault.CodeInvalid
	}
	return err
}

func (b *Batch) checkEntries(most int) error {
	if err := checkAll("advertisers", most, b.Advertisers, (*Advertiser).check); err != nil {
		return err
	}
	if err := checkAll("campaigns", most, b.Campaigns, (*Campaign).check); err != nil {
		return err
	}
	if err := checkAll("zones", most, b.Zones, (*Zone).check); err != nil {
		return err
	}
	return checkAll("units", most, b.Units, (*Unit).check)
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
