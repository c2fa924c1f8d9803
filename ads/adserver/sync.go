package adserver

import (
	"context"
	"errors"
	"reflect"
	"time"

	"plaza/ads"
)

// Changes counts what Sync did with the entries of a batch.
type Changes struct{ Added, Changed, Unchanged int }

// Sync stores the entries of a batch that are new or that differ from the stored ones, in one
// transaction. Omitted parts remain as they are stored. It ignores the entries' revisions. Errors
// are those of Add; INVALID for "advertiser", "campaign" and "bid.currency", which can't be changed,
// and for a stored budget that does not suit the rest of its campaign.
func (s *Service) Sync(ctx context.Context, b ads.Batch, omitted Omitted) (Changes, error) {
	if err := checkBatch(&b); err != nil {
		return Changes{}, err
	}
	var counts Changes
	err := retrying(ctx, func() error {
		counts = Changes{}
		different, err := s.differing(ctx, &b, &omitted, &counts)
		if err == nil {
			_, err = s.put(ctx, different)
		}
		return err
	})
	if err != nil {
		return Changes{}, present(err)
	}
	return counts, nil
}

// differing returns the entries that are not stored as they are, with the stored revisions.
func (s *Service) differing(ctx context.Context, b *ads.Batch, omitted *Omitted, counts *Changes) (different ads.Batch, err error) {
	different.Advertisers, err = compare(ctx, b.Advertisers, counts, s.store.Advertisers, func(a *ads.Advertiser) ads.AdvertiserID { return a.ID }, adoptAdvertiser)
	if err != nil {
		return different, err
	}
	different.Campaigns, err = compare(ctx, b.Campaigns, counts, s.store.Campaigns, func(c *ads.Campaign) ads.CampaignID { return c.ID }, func(c, stored *ads.Campaign) error {
		c.Revision, c.CreatedAt = stored.Revision, keptCreation(stored.CreatedAt)
		return omitted.adoptCampaign("", c, stored)
	})
	if err != nil {
		return different, err
	}
	different.Zones, err = compare(ctx, b.Zones, counts, s.zones, func(z *ads.Zone) ads.ZoneID { return z.ID }, adoptZone)
	if err != nil {
		return different, err
	}
	different.Units, err = compare(ctx, b.Units, counts, s.store.Units, func(u *ads.Unit) ads.UnitID { return u.ID }, func(u, stored *ads.Unit) error {
		u.Revision, u.CreatedAt = stored.Revision, keptCreation(stored.CreatedAt)
		u.Impressions, u.Clicks, u.Conversions = stored.Impressions, stored.Clicks, stored.Conversions
		return omitted.adoptUnit(u, stored)
	})
	return different, err
}

func adoptAdvertiser(a, stored *ads.Advertiser) error {
	a.Revision, a.CreatedAt = stored.Revision, keptCreation(stored.CreatedAt)
	return nil
}

// keptCreation returns a stored time of creation; zero, so that the entry differs and gets one, if
// an earlier version of Plaza has imported it without.
func keptCreation(stored time.Time) time.Time {
	if ads.IsUndated(stored) {
		return time.Time{}
	}
	return stored
}

func adoptZone(z, stored *ads.Zone) error {
	z.Revision, stored.Units = stored.Revision, nil
	return nil
}

// compare returns the entries that are new, or differ from the stored ones after adopt has given
// them the parts that they leave out.
func compare[K comparable, V any](ctx context.Context, entries []V, counts *Changes,
	read func(context.Context, []K) (map[K]*V, error), key func(*V) K, adopt func(entry, stored *V) error,
) (different []V, err error) {
	keys := make([]K, len(entries))
	for i := range entries {
		keys[i] = key(&entries[i])
	}
	known, err := read(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		entry, stored := entries[i], known[keys[i]]
		if stored == nil {
			counts.Added++
			different = append(different, entry)
			continue
		}
		if err := adopt(&entry, stored); err != nil {
			return nil, err
		}
		if reflect.DeepEqual(&entry, stored) {
			counts.Unchanged++
			continue
		}
		counts.Changed++
		different = append(different, entry)
	}
	return different, nil
}

// zones reads zones without their units, one by one: there are few.
func (s *Service) zones(ctx context.Context, ids []ads.ZoneID) (map[ads.ZoneID]*ads.Zone, error) {
	found := map[ads.ZoneID]*ads.Zone{}
	for _, id := range ids {
		z, err := s.store.Zone(ctx, id)
		if errors.Is(err, ads.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[id] = z
	}
	return found, nil
}
