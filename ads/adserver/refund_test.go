package adserver_test

import (
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/id"
)

// clicked shows the stage's best ad to a visitor, who clicks on it.
func (s *stage) clicked(visitor, address string) adserver.Choice {
	s.t.Helper()
	r := s.request(1)
	r.Visitor = visitor
	choices, err := s.Choose(s.ctx, r)
	if err != nil || len(choices) != 1 {
		s.t.Fatalf("%d choices, %v", len(choices), err)
	}
	if _, err := s.RecordImpression(s.ctx, choices[0].ImpressionToken); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.RecordClick(s.ctx, choices[0].ClickToken, address); err != nil {
		s.t.Fatal(err)
	}
	return choices[0]
}

func (s *stage) charged(q adserver.ChargeQuery) *adserver.Charged {
	s.t.Helper()
	charges, err := s.Charged(s.ctx, q)
	if err != nil {
		s.t.Fatal(err)
	}
	return charges
}

func TestRefundGivesBackOnePersonsClicks(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Total: 1_000_000, Daily: 500_000} })
	u := s.unit(c, 10_000, func(u *ads.Unit) { u.Bid.Model = ads.CPC })
	robot := s.clicked("robot", "203.0.113.9")
	s.clicked("robot", "203.0.113.10")
	s.clicked("visitor", "203.0.113.9")
	s.now = s.now.Add(time.Hour)

	all := s.charged(adserver.ChargeQuery{Campaign: c.ID})
	if all.Count != 3 || all.Amount != 30_000 || len(all.Newest) != 3 {
		t.Fatalf("%+v", all)
	}
	for _, q := range []adserver.ChargeQuery{{Campaign: c.ID, Visitor: "robot"}, {Campaign: c.ID, Address: " 203.0.113.9"}} {
		if found := s.charged(q); found.Count != 2 || found.Amount != 20_000 {
			t.Errorf("%+v: %+v", q, found)
		}
	}
	person := s.charged(adserver.ChargeQuery{Campaign: c.ID, Visitor: "robot"}).Newest[0].Person
	if same := s.charged(adserver.ChargeQuery{Campaign: c.ID, Unit: u, Person: person}); same.Count != 2 {
		t.Errorf("the person of a charge has %+v", same)
	}
	if mapped := s.charged(adserver.ChargeQuery{Campaign: c.ID, Address: "::ffff:203.0.113.9"}); mapped.Count != 2 {
		t.Errorf("the address as IPv6 has it: %+v", mapped)
	}
	if one := s.charged(adserver.ChargeQuery{Campaign: c.ID, Choice: robot.ID, Visitor: "robot", Address: "203.0.113.9"}); one.Count != 1 || one.Newest[0].Choice != robot.ID {
		t.Errorf("one click: %+v", one)
	}

	r := adserver.RefundRequest{ChargeQuery: adserver.ChargeQuery{Campaign: c.ID, Visitor: "robot"}, Count: 2, Reason: "a robot", By: "user_1"}
	refund, err := s.Refund(s.ctx, r)
	if err != nil || refund.Count != 2 || refund.Amount != 20_000 || !refund.Done || refund.By != "user_1" || refund.Reason != "a robot" {
		t.Fatalf("%+v, %v", refund, err)
	}
	if spent := s.spent(c); spent != 10_000 {
		t.Errorf("%d is spent", spent)
	}
	s.counted(u, 3, 1)
	_, err = s.Refund(s.ctx, r)
	refused(t, err, fault.CodeConflict, "count", "the same again")

	report := ads.ReportRequest{From: s.now.Truncate(24 * time.Hour), To: s.now.Truncate(24 * time.Hour).Add(24 * time.Hour), By: ads.PerCampaign}
	want := ads.ReportRow{Key: c.ID.String(), Currency: "EUR", Impressions: 3, Clicks: 1, Invalid: 2, Spend: 10_000, Refunded: 20_000}
	for range 2 {
		rows, err := s.Report(s.ctx, report)
		if err != nil || len(rows) != 1 || rows[0] != want {
			t.Errorf("%+v, %v; want %+v", rows, err, want)
		}
		if _, err := s.Rebuild(s.ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefundsOfLongAgoShowInReports refunds in an hour that was added up long before.
func TestRefundsOfLongAgoShowInReports(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(plain)
	s.unit(c, 10_000, func(u *ads.Unit) { u.Bid.Model = ads.CPC })
	first := s.now
	old := s.clicked("robot", "")
	report := ads.ReportRequest{From: first.Truncate(time.Hour), To: first.Truncate(time.Hour).Add(time.Hour), By: ads.PerHour, Campaign: c.ID}
	spend := func(want, refunded ads.Micros) {
		t.Helper()
		rows, err := s.Report(s.ctx, report)
		if err != nil || len(rows) != 1 || rows[0].Spend != want || rows[0].Refunded != refunded {
			t.Errorf("%+v, %v; want %d spent and %d refunded", rows, err, want, refunded)
		}
	}
	s.now = first.Add(30 * 24 * time.Hour)
	spend(10_000, 0)
	_, err := s.Refund(s.ctx, adserver.RefundRequest{ChargeQuery: adserver.ChargeQuery{Campaign: c.ID, Choice: old.ID}, Count: 1, Reason: "a robot"})
	if err != nil {
		t.Fatal(err)
	}
	spend(0, 10_000)
	s.now = first.Add(61 * 24 * time.Hour)
	_, err = s.Refund(s.ctx, adserver.RefundRequest{ChargeQuery: adserver.ChargeQuery{Campaign: c.ID, Choice: old.ID, From: first}, Count: 1, Reason: "a robot"})
	refused(t, err, fault.CodeInvalid, "from", "what is too old")
}

// TestLongRefundsContinueInTheBackground: a caller waits only for the first part of a refund.
func TestLongRefundsContinueInTheBackground(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(plain)
	u := s.unit(c, 1_000_000, asIs)
	const all = 20*ads.MaxRefunded + 1
	for range all {
		r := ads.Recording{Kind: ads.Impression, Choice: ads.ChoiceID{ID: id.New()}, Unit: u, Zone: s.zone, At: s.now, KeepUntil: s.now.Add(ads.EventLife), Cost: 1_000}
		r.Campaign = c.ID
		if _, err := s.store.Record(s.ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	refund, err := s.Refund(s.ctx, adserver.RefundRequest{ChargeQuery: adserver.ChargeQuery{Campaign: c.ID}, Count: all, Reason: "robots"})
	if err != nil || refund.Done || refund.Count != all-1 {
		t.Fatalf("%+v, %v", refund, err)
	}
	if err := s.FinishRefunds(s.ctx); err != nil {
		t.Fatal(err)
	}
	listed, err := s.ListRefunds(s.ctx, c.ID, ads.Page{Limit: 5})
	if err != nil || len(listed.Items) != 1 || !listed.Items[0].Done || listed.Items[0].Count != all || s.spent(c) != 0 {
		t.Errorf("%+v, %v; %d is spent", listed, err, s.spent(c))
	}
}

// TestRefundContinuesAfterAnOutage: the database stops answering in the middle of a refund.
func TestRefundContinuesAfterAnOutage(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(plain)
	s.unit(c, 10_000, func(u *ads.Unit) { u.Bid.Model = ads.CPC })
	s.clicked("robot", "")
	s.store.fault = ads.ErrUnavailable
	refund, err := s.Refund(s.ctx, adserver.RefundRequest{ChargeQuery: adserver.ChargeQuery{Campaign: c.ID}, Count: 1, Reason: "robots"})
	if err != nil || refund.Done || refund.Count != 0 {
		t.Fatalf("%+v, %v", refund, err)
	}
	refused(t, s.FinishRefunds(s.ctx), fault.CodeUnavailable, "", "finishing without a database")
	s.store.fault = nil
	if err := s.FinishRefunds(s.ctx); err != nil || s.spent(c) != 0 {
		t.Errorf("%v; %d is spent", err, s.spent(c))
	}
}

func TestRefundsRefuseBadInput(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(plain)
	other := s.unit(s.campaign(plain), 1_000_000, asIs)
	good := adserver.RefundRequest{ChargeQuery: adserver.ChargeQuery{Campaign: c.ID}, Count: 1, Reason: "robots"}
	for _, bad := range []struct {
		field  string
		code   fault.Code
		change func(r *adserver.RefundRequest)
	}{
		{"campaignId", fault.CodeNotFound, func(r *adserver.RefundRequest) { r.Campaign = ads.CampaignID{ID: id.New()} }},
		{"unitId", fault.CodeNotFound, func(r *adserver.RefundRequest) { r.Unit = ads.UnitID{ID: id.New()} }},
		{"unitId", fault.CodeNotFound, func(r *adserver.RefundRequest) { r.Unit = other }},
		{"kind", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.Kind, r.Visitor = ads.Impression, "robot" }},
		{"from", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.From = s.now.Add(-ads.RefundLife - time.Second) }},
		{"to", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.From = s.now.Add(time.Hour) }},
		{"to", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.To = s.now.Add(time.Hour) }},
		{"visitor", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.Visitor = "a b" }},
		{"visitor", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.Visitor, r.Person = "a", ads.ProfileID{ID: id.New()} }},
		{"address", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.Address = "here" }},
		{"count", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.Count = 0 }},
		{"count", fault.CodeInvalid, func(r *adserver.RefundRequest) { r.Count = ads.MaxRefund + 1 }},
		{"count", fault.CodeConflict, func(*adserver.RefundRequest) {}},
		{"reason", fault.CodeBlank, func(r *adserver.RefundRequest) { r.Reason = " " }},
	} {
		r := good
		bad.change(&r)
		_, err := s.Refund(s.ctx, r)
		refused(t, err, bad.code, bad.field, "a bad "+bad.field)
	}
	if listed, err := s.ListRefunds(s.ctx, c.ID, ads.Page{Limit: 1}); err != nil || len(listed.Items) != 0 {
		t.Errorf("a refused refund was begun: %+v, %v", listed, err)
	}
}

// TestPastDaysGetNoNewBudget: a clock that is behind does not give a day its budget twice.
func TestPastDaysGetNoNewBudget(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(func(c *ads.Campaign) { c.Budget = ads.Budget{Currency: "EUR", Daily: 1_000} })
	midnight := s.now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	taken := ads.Micros(0)
	for i := range 40 {
		now := midnight.Add(time.Second)
		if i%2 == 1 {
			now = midnight.Add(-time.Second)
		}
		lease, err := s.store.Lease(s.ctx, ads.LeaseRequest{ID: ads.LeaseID{ID: id.New()}, Campaign: c.ID, Price: 100, Count: 1, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if lease != nil {
			taken += lease.Amount
		}
	}
	if taken != 1_000 {
		t.Errorf("%d of a day's 1000 were taken around midnight", taken)
	}
}

// TestAddressesOfOneNetworkAreOne: in IPv6 a client can use many addresses.
func TestAddressesOfOneNetworkAreOne(t *testing.T) {
	s := newStage(t, ads.ByZone)
	c := s.campaign(plain)
	s.unit(c, 10_000, func(u *ads.Unit) { u.Bid.Model = ads.CPC })
	for _, address := range []string{"2001:db8:1:2::1", "2001:db8:1:2:ffff::", "2001:db8:1:3::1"} {
		s.clicked("", address)
	}
	if found := s.charged(adserver.ChargeQuery{Campaign: c.ID, Address: "2001:db8:1:2::7"}); found.Count != 2 {
		t.Errorf("%+v", found)
	}
}
