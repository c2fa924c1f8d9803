package ads

import (
	"context"
	"time"
)

// Traffic is what one server has counted of a zone in an hour. If a server has several entries for
// an hour, they add up.
type Traffic struct {
	ID        TrafficID
	Zone      ZoneID
	Currency  Currency // the zone's; empty if nothing was requested
	Hour      time.Time
	Requested int64 // ads that were requested
	Filled    int64 // ads that were chosen
	Shown     int64 // valid impressions that were recorded
}

// TrafficRequest asks for sums of traffic.
type TrafficRequest struct {
	From, To time.Time // whole hours; To is exclusive
	By       Dimension // PerHour, PerDay or PerZone
	Zones    []ZoneID  // none: all
}

// TrafficRow is a row of such sums.
type TrafficRow struct {
	Key       string // see ReportRow
	Currency  Currency
	Requested int64
	Filled    int64
	Shown     int64
}

// Traffics stores what servers have counted.
type Traffics interface {
	// PutTraffic stores counts, and replaces earlier ones with the same ids: repeating the call
	// changes nothing.
	PutTraffic(ctx context.Context, counts []Traffic) error
	// Traffic adds up counts: one row for each key and currency with data, in any order.
	Traffic(ctx context.Context, r TrafficRequest) ([]TrafficRow, error)
}
