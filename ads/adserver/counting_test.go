package adserver_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

// gated is a store whose Count waits until the gate is open.
type gated struct {
	*adsmodel.Store
	gate    chan struct{}
	entered chan struct{} // receives an element for each call

	mu    sync.Mutex
	sizes []int
}

func (g *gated) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) ([]ads.Receipt, error) {
	g.mu.Lock()
	g.sizes = append(g.sizes, len(keys))
	g.mu.Unlock()
	g.entered <- struct{}{}
	<-g.gate
	return g.Store.Count(ctx, keys, now)
}

// TestWaitingRecordingsAreCountedTogether: while a transaction runs, recordings accumulate, and the
// next transactions take as many of them as allowed.
func TestWaitingRecordingsAreCountedTogether(t *testing.T) {
	w := newWorld(t)
	u := w.place(1_000)
	const all = 3*ads.MaxCounted + 8
	store := &gated{Store: w.store.Store, gate: make(chan struct{}), entered: make(chan struct{}, all)}
	s := adserver.New(store, adserver.Options{Now: func() time.Time { return w.now }})
	for i := range all {
		choices, err := s.Choose(w.ctx, request(top.Site, top.Name, 1))
		if err != nil || len(choices) != 1 {
			t.Fatal(choices, err)
		}
		if recorded, err := s.RecordImpression(w.ctx, choices[0].ImpressionToken); err != nil || !recorded {
			t.Fatal(recorded, err)
		}
		if i == 0 {
			<-store.entered // the first recording is being counted
		}
	}
	w.counted(u.ID, 0, 0)
	close(store.gate)
	for range 4 { // 1, 64, 64, 64 and 7
		<-store.entered
	}
	if err := s.Drain(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.counted(u.ID, all, 0)
	store.mu.Lock()
	defer store.mu.Unlock()
	if want := []int{1, ads.MaxCounted, ads.MaxCounted, ads.MaxCounted, 7}; len(store.sizes) != len(want) || store.sizes[4] != 7 {
		t.Errorf("transactions counted %d, want %d", store.sizes, want)
	}
}
