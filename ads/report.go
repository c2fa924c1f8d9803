package ads

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plaza/fault"
)

// MaxReport is how long a time one report is about.
const MaxReport = 31 * 24 * time.Hour

// Dimension is what a report has a row for each of.
type Dimension string

// The dimensions. Hours and days are those of UTC.
const (
	PerHour     Dimension = "HOUR"
	PerDay      Dimension = "DAY"
	PerCampaign Dimension = "CAMPAIGN"
	PerUnit     Dimension = "UNIT"
	PerZone     Dimension = "ZONE"
	PerKeyword  Dimension = "KEYWORD" // that matched; an impression counts for each of its keywords
)

// ReportRequest asks for a report.
type ReportRequest struct {
	From, To time.Time // whole hours; To is not in it
	By       Dimension
	Campaign CampaignID // zero: all
}

func (r *ReportRequest) check() error {
	if !r.From.Equal(r.From.Truncate(time.Hour)) {
		return fault.Invalidf("from", "A report begins with an hour.")
	}
	if !r.To.Equal(r.To.Truncate(time.Hour)) {
		return fault.Invalidf("to", "A report ends with an hour.")
	}
	if !r.From.Before(r.To) || r.To.Sub(r.From) > MaxReport {
		return fault.Invalidf("to", "A report is about 1 hour to 31 days.")
	}
	return nil
}

// ReportRow is a row of a report.
type ReportRow struct {
	Key         string // the hour or day as HourKey has it, the id, the zone's text, or the keyword
	Currency    Currency
	Impressions int64
	Clicks      int64
	Invalid     int64 // impressions and clicks that count nowhere
	Spend       Micros
}

// HourKey is the key of an hour or a day.
func HourKey(hour time.Time) string { return hour.UTC().Format("2006-01-02T15:04:05.000Z") }

// CTR is the clicks for each impression; 0 without any.
func (r *ReportRow) CTR() float64 {
	if r.Impressions == 0 {
		return 0
	}
	return float64(r.Clicks) / float64(r.Impressions)
}

// ECPM is what a thousand impressions have brought; 0 without any.
func (r *ReportRow) ECPM() Micros {
	if r.Impressions == 0 {
		return 0
	}
	return Micros(float64(r.Spend) / float64(r.Impressions) * mille)
}

// Reports sums up what was recorded.
type Reports interface {
	// RollUp makes the tallies of the hours between from and to anew, of what was recorded in them, and remembers until, in one
	// transaction. Doing it again changes nothing.
	RollUp(ctx context.Context, from, to, until time.Time) error
	// RolledUp is the last until; zero before the first.
	RolledUp(ctx context.Context) (time.Time, error)
	// Report adds up tallies: one row for each key and currency that has any, in any order.
	Report(ctx context.Context, r ReportRequest) ([]ReportRow, error)
}

// lateness is how long after its hour something may still be recorded.
const lateness = 5 * time.Minute

// CatchUp sums up what may have been recorded since the last time, on any server.
func (s *Service) CatchUp(ctx context.Context) error {
	since, err := s.store.RolledUp(ctx)
	if err != nil {
		return present(err)
	}
	return s.rollUp(ctx, since)
}

// Rebuild makes all tallies anew of which recordings are still kept.
func (s *Service) Rebuild(ctx context.Context) error { return s.rollUp(ctx, time.Time{}) }

func (s *Service) rollUp(ctx context.Context, since time.Time) error {
	now := s.now()
	if oldest := now.Add(-EventLife).Truncate(time.Hour).Add(time.Hour); since.Before(oldest) {
		since = oldest
	}
	return present(s.store.RollUp(ctx, since, now.Truncate(time.Hour).Add(time.Hour), now.Add(-lateness).Truncate(time.Hour)))
}

// Report adds up what was recorded, until now, by hour or day in their order, and else the highest spend first. Errors: INVALID
// for "from" or "to"; NOT_FOUND for "campaignId".
func (s *Service) Report(ctx context.Context, r ReportRequest) ([]ReportRow, error) {
	if err := r.check(); err != nil {
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
	rows, err := s.store.Report(ctx, r)
	slices.SortFunc(rows, func(a, b ReportRow) int {
		if r.By == PerHour || r.By == PerDay {
			return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Currency, b.Currency))
		}
		return cmp.Or(cmp.Compare(b.Spend, a.Spend), cmp.Compare(b.Impressions, a.Impressions), strings.Compare(a.Key, b.Key), cmp.Compare(a.Currency, b.Currency))
	})
	return rows, present(err)
}

// CSV writes a report as RFC 4180 has it, with a head. What a spreadsheet would take for a formula gets an apostrophe.
func CSV(by Dimension, rows []ReportRow) string {
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write([]string{strings.ToLower(string(by)), "currency", "impressions", "clicks", "invalid", "ctr", "spend", "ecpm"})
	for i := range rows {
		row, key := &rows[i], rows[i].Key
		if strings.ContainsAny(key[:min(len(key), 1)], "=+-@") {
			key = "'" + key
		}
		_ = w.Write([]string{
			key, string(row.Currency), strconv.FormatInt(row.Impressions, 10), strconv.FormatInt(row.Clicks, 10), strconv.FormatInt(row.Invalid, 10),
			fmt.Sprintf("%.6f", row.CTR()), amount(row.Spend), amount(row.ECPM()),
		})
	}
	w.Flush()
	return text.String()
}

// amount writes micros as units: "2.500000".
func amount(m Micros) string { return fmt.Sprintf("%d.%06d", m/1_000_000, m%1_000_000) }
