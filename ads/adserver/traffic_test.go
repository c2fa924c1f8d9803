package adserver_test

import (
	"testing"
	"time"

	"plaza/ads"
)

func (s *stage) zones(r ads.ReportRequest) []ads.ReportRow {
	s.t.Helper()
	rows, err := s.Report(s.ctx, r)
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

func TestFillRatesCountRequests(t *testing.T) {
	s := newStage(t, ads.ByZone)
	r := ads.ReportRequest{From: s.now.Truncate(time.Hour), To: s.now.Truncate(time.Hour).Add(24 * time.Hour), By: ads.PerZone}
	s.choose(3) // in the zone "top", where no ads run
	u := s.unit(s.campaign(plain), 1_000_000, asIs)
	choice := s.shows(s.request(4), u)[0]
	if _, err := s.RecordImpression(s.ctx, choice.ImpressionToken); err != nil {
		t.Fatal(err)
	}
	staff := s.request(5)
	staff.Staff = true
	s.shows(staff, u)
	if _, err := s.Choose(s.ctx, request("example.org", "unknown", 9)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Explain(s.ctx, s.request(7)); err != nil {
		t.Fatal(err)
	}
	want := map[string]ads.ReportRow{
		s.zone.String(): {Key: s.zone.String(), Currency: "EUR", Impressions: 1, Spend: 1_000, Requested: 4, Filled: 1},
		top.String():    {Key: top.String(), Currency: "EUR", Requested: 3},
	}
	for range 3 { // a report stores the counts; the next ones must not count them again
		rows := s.zones(r)
		if len(rows) != len(want) {
			t.Errorf("%+v", rows)
		}
		for _, row := range rows {
			if row != want[row.Key] {
				t.Errorf("%+v, want %+v", row, want[row.Key])
			}
		}
	}
	if rate := s.zones(r)[0].FillRate(); rate != 0.25 {
		t.Errorf("the fill rate is %v", rate)
	}
	s.now = s.now.Add(time.Hour)
	s.shows(s.request(2), u)
	other := s.server(s.store)
	if _, err := other.Choose(s.ctx, s.request(2)); err != nil {
		t.Fatal(err)
	}
	if err := other.FlushTraffic(s.ctx); err != nil {
		t.Fatal(err)
	}
	r.By = ads.PerHour
	rows := s.zones(r)
	if len(rows) != 2 || rows[0].Requested != 7 || rows[1].Requested != 4 || rows[1].Filled != 2 {
		t.Errorf("by the hour: %+v", rows)
	}
	r.By = ads.PerDay
	if rows := s.zones(r); len(rows) != 1 || rows[0].Requested != 11 || rows[0].Filled != 3 {
		t.Errorf("by the day: %+v", rows)
	}
	r.By = ads.PerUnit
	if rows := s.zones(r); len(rows) != 1 || rows[0].Requested != 0 {
		t.Errorf("by unit: %+v", rows)
	}
}

// TestTrafficIsStoredWhenTheDatabaseIsBack: counts that could not be stored are stored once, later.
func TestTrafficIsStoredWhenTheDatabaseIsBack(t *testing.T) {
	s := newStage(t, ads.ByZone)
	s.choose(3)
	s.store.fault = ads.ErrUnavailable
	if err := s.FlushTraffic(s.ctx); err == nil {
		t.Error("a failed flush returned no error")
	}
	s.store.fault = nil
	s.now = s.now.Add(2 * time.Hour)
	s.choose(2)
	for range 2 {
		if err := s.FlushTraffic(s.ctx); err != nil {
			t.Fatal(err)
		}
	}
	from := s.now.Truncate(24 * time.Hour)
	rows, err := s.store.Traffic(s.ctx, ads.TrafficRequest{From: from, To: from.Add(24 * time.Hour), By: ads.PerZone})
	if err != nil || len(rows) != 1 || rows[0].Requested != 5 || rows[0].Filled != 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}
