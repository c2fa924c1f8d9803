package adserver

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"plaza/ads"
)

// rollUpSpan is how much time one transaction adds up.
const rollUpSpan = 24 * time.Hour

// CatchUp adds up what servers may have recorded since the last time, and rebuilds the hours with
// refunds since then.
func (s *Service) CatchUp(ctx context.Context) error {
	if err := s.counting.countDue(ctx, s.now()); err != nil {
		return present(err)
	}
	since, stale, err := s.store.RolledUp(ctx)
	if err != nil {
		return present(err)
	}
	if _, err := s.rollUp(ctx, since); err != nil {
		return err
	}
	for _, hour := range stale {
		if hour.Before(since) && !hour.Before(s.oldestHour()) {
			if err := s.store.RollUp(ctx, hour, hour.Add(time.Hour), since); err != nil {
				return present(err)
			}
		}
	}
	return nil
}

// Rebuild rebuilds all tallies for which recordings are still kept, and returns the first hour; the
// zero time if there are none.
func (s *Service) Rebuild(ctx context.Context) (from time.Time, err error) {
	if err := s.counting.countDue(ctx, s.now()); err != nil {
		return time.Time{}, present(err)
	}
	return s.rollUp(ctx, time.Time{})
}

// rollUp adds up the hours since the given one, or since the first hour with recordings, and
// returns the hour where it began; the zero time if there are no recordings.
func (s *Service) rollUp(ctx context.Context, since time.Time) (time.Time, error) {
	now := s.now()
	if since.IsZero() {
		oldest, err := s.store.Oldest(ctx)
		if err != nil || oldest.IsZero() {
			return time.Time{}, present(err)
		}
		since = oldest.Truncate(time.Hour)
	}
	if oldest := s.oldestHour(); since.Before(oldest) {
		since = oldest
	}
	end, until := now.Truncate(time.Hour).Add(time.Hour), now.Add(-ads.Lateness).Truncate(time.Hour)
	for from := since; from.Before(end); from = from.Add(rollUpSpan) {
		to := from.Add(rollUpSpan)
		if to.After(end) {
			to = end
		}
		done := until
		if to.Before(until) {
			done = to
		}
		if err := s.store.RollUp(ctx, from, to, done); err != nil {
			return since, present(err)
		}
	}
	return since, nil
}

// oldestHour returns the first hour of which all recordings are kept.
func (s *Service) oldestHour() time.Time {
	return s.now().Add(-ads.EventLife).Truncate(time.Hour).Add(time.Hour)
}

// Report adds up what was recorded until now. Hours and days come in order, other rows by spend,
// highest first. Requests to other servers in the last seconds may be missing. Errors: INVALID for
// "from" or "to"; NOT_FOUND for "campaignId".
func (s *Service) Report(ctx context.Context, r ads.ReportRequest) ([]ads.ReportRow, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if !r.Campaign.IsZero() {
		if _, err := s.Campaign(ctx, "campaignId", r.Campaign); err != nil {
			return nil, err
		}
	}
	if err := s.CatchUp(ctx); err != nil {
		return nil, err
	}
	if err := s.FlushTraffic(ctx); err != nil {
		return nil, err
	}
	rows, err := s.store.Report(ctx, r)
	if err != nil {
		return nil, present(err)
	}
	rows, err = s.withTraffic(ctx, r, rows)
	sortRows(r.By, rows)
	return rows, present(err)
}

// withTraffic adds to a report how many ads were requested and chosen. Requests have no campaign,
// unit or keyword, so reports by these are unchanged.
func (s *Service) withTraffic(ctx context.Context, r ads.ReportRequest, rows []ads.ReportRow) ([]ads.ReportRow, error) {
	if !r.HasTraffic() {
		return rows, nil
	}
	traffic, err := s.store.Traffic(ctx, ads.TrafficRequest{From: r.From, To: r.To, By: r.By})
	if err != nil {
		return nil, err
	}
	at := map[ads.ReportRow]int{}
	for i := range rows {
		at[ads.ReportRow{Key: rows[i].Key, Currency: rows[i].Currency}] = i
	}
	for _, t := range traffic {
		if t.Requested == 0 {
			continue
		}
		i, ok := at[ads.ReportRow{Key: t.Key, Currency: t.Currency}]
		if !ok {
			i = len(rows)
			rows = append(rows, ads.ReportRow{Key: t.Key, Currency: t.Currency})
		}
		rows[i].Requested, rows[i].Filled = t.Requested, t.Filled
	}
	return rows, nil
}

// sortRows sorts hours and days by time, and other rows by spend, highest first.
func sortRows(by ads.Dimension, rows []ads.ReportRow) {
	slices.SortFunc(rows, func(a, b ads.ReportRow) int {
		if by == ads.PerHour || by == ads.PerDay {
			return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Currency, b.Currency))
		}
		return cmp.Or(cmp.Compare(b.Spend, a.Spend), cmp.Compare(b.Impressions, a.Impressions), strings.Compare(a.Key, b.Key), cmp.Compare(a.Currency, b.Currency))
	})
}
