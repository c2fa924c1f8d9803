package adserver_test

import (
	"strings"
	"testing"
	"time"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
)

func TestReportsIncludeNewRecordings(t *testing.T) {
	s := newStage(t, ads.ByKeywords)
	c := s.campaign(plain)
	u := s.unit(c, 500_000, func(u *ads.Unit) { u.Bid.Model, u.Keywords = ads.CPC, []string{"anvil"} })
	hour := s.now.Truncate(time.Hour)
	r := ads.ReportRequest{From: hour, To: hour.Add(48 * time.Hour), By: ads.PerHour}
	for step, want := range []int{1, 1, 2} { // hours with rows
		choice := s.shows(s.request(1, "anvil"), u)[0]
		if _, err := s.RecordImpression(s.ctx, choice.ImpressionToken); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RecordClick(s.ctx, choice.ClickToken, ""); err != nil {
			t.Fatal(err)
		}
		rows, err := s.Report(s.ctx, r)
		if err != nil || len(rows) != want {
			t.Fatalf("step %d: %+v, %v; want %d rows", step, rows, err, want)
		}
		s.now = s.now.Add(20 * time.Minute * time.Duration(step+1))
	}
	for range 2 {
		r.By = ads.PerKeyword
		rows, err := s.Report(s.ctx, r)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%+v, %v", rows, err)
		}
		want := ads.ReportRow{Key: "anvil", Currency: "EUR", Impressions: 3, Clicks: 3, Spend: 1_500_000}
		if rows[0] != want || rows[0].CTR() != 1 || rows[0].ECPM() != 500_000_000 {
			t.Errorf("%+v, want %+v", rows[0], want)
		}
		if from, err := s.Rebuild(s.ctx); err != nil || !from.Equal(hour) {
			t.Fatalf("from %v, want %v: %v", from, hour, err)
		}
	}
}

func TestReportsRefuseBadInput(t *testing.T) {
	w := newWorld(t)
	hour := w.now.Truncate(time.Hour)
	for field, r := range map[string]ads.ReportRequest{
		"from": {From: hour.Add(time.Minute), To: hour.Add(time.Hour), By: ads.PerDay},
		"to":   {From: hour, To: hour, By: ads.PerDay},
	} {
		_, err := w.Report(w.ctx, r)
		refused(t, err, fault.CodeInvalid, field, "a bad "+field)
	}
	_, err := w.Report(w.ctx, ads.ReportRequest{From: hour, To: hour.Add(ads.MaxReport + time.Hour), By: ads.PerDay})
	refused(t, err, fault.CodeInvalid, "to", "more than 31 days")
	_, err = w.Report(w.ctx, ads.ReportRequest{From: hour, To: hour.Add(time.Hour), By: ads.PerDay, Campaign: ads.CampaignID{ID: id.New()}})
	refused(t, err, fault.CodeNotFound, "campaignId", "a campaign that there is not")
}

func TestCSVIsSafeForSpreadsheets(t *testing.T) {
	text := ads.CSV(ads.PerKeyword, []ads.ReportRow{
		{Key: `=HYPERLINK("x")`, Currency: "EUR", Impressions: 8, Clicks: 2, Conversions: 1, Spend: 1_234_567, Refunded: 5, Requested: 8, Filled: 6},
		{Key: "-1", Currency: "EUR"},
	})
	want := "keyword,currency,impressions,clicks,invalid,ctr,spend,ecpm,refunded,requested,filled,fill_rate," +
		"conversions,conversion_rate,conversions_per_impression,cost_per_conversion\n" +
		"\"'=HYPERLINK(\"\"x\"\")\",EUR,8,2,0,0.250000,1.234567,154.320875,0.000005,8,6,0.750000,1,0.500000,0.125000,1.234567\n" +
		"'-1,EUR,0,0,0,0.000000,0.000000,0.000000,0.000000,,,,0,0.000000,0.000000,\n"
	if text != want || strings.Count(text, "\n") != 3 {
		t.Errorf("%q, want %q", text, want)
	}
}
