package ads

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plaza/fault"
)

// MaxReport is the longest time that one report can cover.
const MaxReport = 31 * 24 * time.Hour

// Dimension is what the rows of a report stand for.
type Dimension string

// The dimensions. Hours and days are in UTC.
const (
	PerHour     Dimension = "HOUR"
	PerDay      Dimension = "DAY"
	PerCampaign Dimension = "CAMPAIGN"
	PerUnit     Dimension = "UNIT"
	PerZone     Dimension = "ZONE"
	PerKeyword  Dimension = "KEYWORD" // that matched; an impression counts for each of its matching keywords
)

// ReportRequest asks for a report.
type ReportRequest struct {
	From, To time.Time // whole hours; To is exclusive
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
	Conversions int64 // made in that time, whenever the click was
	Invalid     int64 // impressions, clicks and conversions that are not counted elsewhere
	Spend       Micros
	Refunded    Micros // of what was invalid: Spend does not include it
	// Asked and Filled are how many ads were requested and how many were chosen, for all campaigns
	// together. They are 0 except in rows for hours, days and zones.
	Asked, Filled int64
}

// FillRate returns the share of requested ads that were chosen; 0 if none was requested.
func (r *ReportRow) FillRate() float64 {
	if r.Asked == 0 {
		return 0
	}
	return float64(r.Filled) / float64(r.Asked)
}

// HourKey returns the key of an hour or a day.
func HourKey(hour time.Time) string { return hour.UTC().Format(hourKey) }

const hourKey = "2006-01-02T15:04:05.000Z"

// CTR returns clicks per impression; 0 without impressions.
func (r *ReportRow) CTR() float64 {
	if r.Impressions == 0 {
		return 0
	}
	return float64(r.Clicks) / float64(r.Impressions)
}

// ConversionRate returns conversions per click; 0 without clicks. It can exceed 1, if clicks were
// made before the reported time.
func (r *ReportRow) ConversionRate() float64 {
	if r.Clicks == 0 {
		return 0
	}
	return float64(r.Conversions) / float64(r.Clicks)
}

// ConversionsPerImpression returns conversions per impression; 0 without impressions.
func (r *ReportRow) ConversionsPerImpression() float64 {
	if r.Impressions == 0 {
		return 0
	}
	return float64(r.Conversions) / float64(r.Impressions)
}

// CostPerConversion returns the total spend divided by the conversions, whatever the bid model; ok
// is false without conversions.
func (r *ReportRow) CostPerConversion() (cost Micros, ok bool) {
	if r.Conversions == 0 {
		return 0, false
	}
	return r.Spend / Micros(r.Conversions), true
}

// ECPM returns what a thousand impressions have cost; 0 without impressions.
func (r *ReportRow) ECPM() Micros {
	if r.Impressions == 0 {
		return 0
	}
	return Micros(float64(r.Spend) / float64(r.Impressions) * mille)
}

// Reports adds up what was recorded.
type Reports interface {
	// RollUp rebuilds the tallies of the hours between from and to from the recordings in them, so
	// that none of these hours is stale, and stores until, unless a later one is stored, in one
	// transaction. Repeating the call changes nothing.
	RollUp(ctx context.Context, from, to, until time.Time) error
	// RolledUp returns the latest until; zero before the first RollUp. stale are the hours in which
	// something was refunded since they were added up, in any order.
	RolledUp(ctx context.Context) (until time.Time, stale []time.Time, err error)
	// Oldest returns the time of the oldest recording that is kept; zero if there is none.
	Oldest(ctx context.Context) (time.Time, error)
	// Report adds up tallies: one row for each key and currency with data, in any order.
	Report(ctx context.Context, r ReportRequest) ([]ReportRow, error)
}

// lateness is how long after the end of its hour a recording may still be stored.
const lateness = 5 * time.Minute

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
	end, until := now.Truncate(time.Hour).Add(time.Hour), now.Add(-lateness).Truncate(time.Hour)
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
	return s.now().Add(-EventLife).Truncate(time.Hour).Add(time.Hour)
}

// Report adds up what was recorded until now. Hours and days come in order, other rows by spend,
// highest first. Requests to other servers in the last seconds may be missing. Errors: INVALID for
// "from" or "to"; NOT_FOUND for "campaignId".
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

// CSV writes a report in the format of RFC 4180, with a header. A text that a spreadsheet would run
// as a formula gets an apostrophe in front. Cells without a value are empty.
func CSV(by Dimension, rows []ReportRow) string {
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write([]string{
		strings.ToLower(string(by)), "currency", "impressions", "clicks", "invalid", "ctr", "spend", "ecpm", "refunded", "asked", "filled", "fill_rate",
		"conversions", "conversion_rate", "conversions_per_impression", "cost_per_conversion",
	})
	for i := range rows {
		row, key := &rows[i], rows[i].Key
		if strings.ContainsAny(key[:min(len(key), 1)], "=+-@") {
			key = "'" + key
		}
		asked, filled, rate, costEach := "", "", "", ""
		if cost, ok := row.CostPerConversion(); ok {
			costEach = amount(cost)
		}
		if row.Asked > 0 {
			asked, filled, rate = strconv.FormatInt(row.Asked, 10), strconv.FormatInt(row.Filled, 10), fmt.Sprintf("%.6f", row.FillRate())
		}
		_ = w.Write([]string{
			key, string(row.Currency), strconv.FormatInt(row.Impressions, 10), strconv.FormatInt(row.Clicks, 10), strconv.FormatInt(row.Invalid, 10),
			fmt.Sprintf("%.6f", row.CTR()), amount(row.Spend), amount(row.ECPM()),
			amount(row.Refunded), asked, filled, rate,
			strconv.FormatInt(row.Conversions, 10), fmt.Sprintf("%.6f", row.ConversionRate()), fmt.Sprintf("%.6f", row.ConversionsPerImpression()), costEach,
		})
	}
	w.Flush()
	return text.String()
}

// amount formats micros as units: "2.500000".
func amount(m Micros) string { return fmt.Sprintf("%d.%06d", m/1_000_000, m%1_000_000) }
