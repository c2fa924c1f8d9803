package adserver_test

import (
	"testing"
	"time"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
)

func TestEvenPaceNeedsDailyBudgetOrEnd(t *testing.T) {
	w := newWorld(t)
	even, end := ads.Budget{Currency: "EUR", Total: 2_000, Even: true}, ads.Schedule{End: w.now.Add(time.Hour)}
	c := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: w.campaign.Advertiser, Name: "Even", State: ads.Active, Budget: even}
	refused(t, w.CreateCampaign(w.ctx, c), fault.CodeInvalid, "budget.even", "CreateCampaign")
	_, err := w.Add(w.ctx, ads.Batch{Campaigns: []ads.Campaign{c}})
	refused(t, err, fault.CodeInvalid, "campaigns.0.budget.even", "Add")
	c.Schedule = end
	if err := w.CreateCampaign(w.ctx, c); err != nil {
		t.Fatalf("until an end: %v", err)
	}
	err = w.UpdateCampaign(w.ctx, c.ID, func(c *ads.Campaign) error { c.Schedule = ads.Schedule{}; return nil })
	refused(t, err, fault.CodeInvalid, "budget.even", "taking the end away")
	err = w.UpdateCampaign(w.ctx, c.ID, func(c *ads.Campaign) error { c.Schedule, c.Budget.Daily = ads.Schedule{}, 1_000; return nil })
	if err != nil {
		t.Errorf("a day instead of an end: %v", err)
	}
	err = w.UpdateCampaign(w.ctx, c.ID, func(c *ads.Campaign) error { c.Budget.Daily = 0; return nil })
	refused(t, err, fault.CodeInvalid, "budget.even", "taking the day away")
}

func TestCampaignWithUnsuitablePaceCanBePaused(t *testing.T) {
	w := newWorld(t)
	c := ads.Campaign{
		ID: ads.CampaignID{ID: id.New()}, Advertiser: w.campaign.Advertiser, Name: "Even", State: ads.Active,
		Budget: ads.Budget{Currency: "EUR", Total: 2_000, Even: true},
	}
	if _, err := w.store.Save(w.ctx, ads.Batch{Campaigns: []ads.Campaign{c}}); err != nil {
		t.Fatal(err)
	}
	if err := w.SetCampaignState(w.ctx, c.ID, ads.Paused); err != nil {
		t.Errorf("pausing: %v", err)
	}
	err := w.UpdateCampaign(w.ctx, c.ID, func(c *ads.Campaign) error { c.Budget.Total++; return nil })
	refused(t, err, fault.CodeInvalid, "budget.even", "another total")
}
