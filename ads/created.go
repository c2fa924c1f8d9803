package ads

import (
	"slices"
	"time"

	"plaza/id"
)

// Creation is when an advertiser, a campaign or a unit was created: the time in its id, unless
// another one was given. The ids of imported entries are derived from keys, so their time is 1970.
func Creation(given time.Time, of id.ID) time.Time {
	if given.IsZero() {
		return of.Time()
	}
	return given
}

// OwnCreation returns the given time of creation if the entry's id does not say the same, and
// otherwise the zero time: then nothing has to be stored.
func OwnCreation(given time.Time, of id.ID) time.Time {
	if given.Equal(of.Time()) {
		return time.Time{}
	}
	return given
}

// Dated returns the batch with a time of creation for each entry: those that have none get that of
// their id, or now if it has none either. So entries that an earlier version of Plaza has imported,
// without a time, get one when they are saved again.
func (b Batch) Dated(now time.Time) Batch {
	b.Advertisers, b.Campaigns, b.Units = slices.Clone(b.Advertisers), slices.Clone(b.Campaigns), slices.Clone(b.Units)
	for i := range b.Advertisers {
		date(&b.Advertisers[i].CreatedAt, b.Advertisers[i].ID.ID, now)
	}
	for i := range b.Campaigns {
		date(&b.Campaigns[i].CreatedAt, b.Campaigns[i].ID.ID, now)
	}
	for i := range b.Units {
		date(&b.Units[i].CreatedAt, b.Units[i].ID.ID, now)
	}
	return b
}

func date(created *time.Time, of id.ID, now time.Time) {
	*created = Creation(*created, of)
	if IsUndated(*created) {
		*created = now.UTC().Truncate(time.Millisecond)
	}
}

// IsUndated reports whether a time of creation is that of an id without a time.
func IsUndated(created time.Time) bool { return created.UnixMilli() <= 0 }
