package ads

import (
	"context"
	"math"
	"math/bits"
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

// Check validates a request. Errors: INVALID for "from" or "to".
func (r *ReportRequest) Check() error {
	if !r.From.Equal(r.From.Truncate(time.Hour)) {
		return fault.Invalidf("from", "A report must begin at a full hour.")
	}
	if !r.To.Equal(r.To.Truncate(time.Hour)) {
		return fault.Invalidf("to", "A report must end at a full hour.")
	}
	if !r.From.Before(r.To) || r.To.Sub(r.From) > MaxReport {
		return fault.Invalidf("to", "A report must cover 1 hour to 31 days.")
	}
	return nil
}

// HasTraffic reports whether the rows of a report can be related to requests.
func (r *ReportRequest) HasTraffic() bool {
	return r.Campaign.IsZero() && (r.By == PerHour || r.By == PerDay || r.By == PerZone)
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
	// Requested and Filled are how many ads were requested and how many were chosen, for all campaigns
	// together. They are 0 except in rows for hours, days and zones.
	Requested, Filled int64
}

// FillRate returns the share of requested ads that were chosen; 0 if none was requested.
func (r *ReportRow) FillRate() float64 {
	if r.Requested == 0 {
		return 0
	}
	return float64(r.Filled) / float64(r.Requested)
}

// HourKey returns the key of an hour or a day.
func HourKey(hour time.Time) string { return hour.UTC().Format(hourKey) }

// ParseHourKey returns the hour of a key in a report by hours.
func ParseHourKey(key string) (time.Time, error) { return time.Parse(hourKey, key) }

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

// ECPM returns what a thousand impressions have cost, rounded down; 0 without impressions, and at
// most math.MaxInt64.
func (r *ReportRow) ECPM() Micros {
	if r.Impressions <= 0 || r.Spend <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(r.Spend), Mille)
	if high >= uint64(r.Impressions) {
		return math.MaxInt64
	}
	ecpm, _ := bits.Div64(high, low, uint64(r.Impressions))
	return Micros(min(ecpm, math.MaxInt64))
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
