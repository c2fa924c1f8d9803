package adserver

import (
	"context"
	"testing"
	"time"

	"plaza/ads"
	"plaza/id"
)

// slowTill grants whatever is asked for. Something happens during the first request.
type slowTill struct {
	asked  int
	during func()
}

func (t *slowTill) Lease(context.Context, ads.LeaseRequest) (*ads.Lease, error) { return nil, nil }

func (t *slowTill) Return(context.Context, ads.Return) error { return nil }

func (t *slowTill) Expect(_ context.Context, e ads.Expectation) (ads.Micros, error) {
	if t.asked++; t.asked == 1 {
		t.during()
	}
	return 10 * e.Each, nil
}

// TestGrantsOfAnEarlierBudgetAreNotSpent, also if a click is counted while they arrive.
func TestGrantsOfAnEarlierBudgetAreNotSpent(t *testing.T) {
	till := &slowTill{}
	w := newWallet(till, Options{Now: time.Now, Go: func(do func()) { do() }})
	key := purseKey{campaign: ads.CampaignID{ID: id.New()}, kind: ads.Click, price: 100}
	till.during = func() {
		w.mu.Lock()
		w.notice(w.purses[key], 2)
		w.mu.Unlock()
		w.spent(key.campaign)
	}
	if _, ok := w.hold(t.Context(), key, 1, 5); !ok || till.asked != 2 {
		t.Errorf("held: %v, after %d requests; want a second one for the changed budget", ok, till.asked)
	}
}
