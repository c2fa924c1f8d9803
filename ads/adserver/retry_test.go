package adserver_test

import (
	"context"
	"testing"

	"plaza/ads"
	"plaza/fault"
)

// contested is a store whose next saves lose against other writers.
type contested struct {
	*watched
	losses int
	lost   func()
}

func (c *contested) Save(ctx context.Context, b ads.Batch) (int, error) {
	if c.losses > 0 {
		c.losses--
		c.lost()
		return 0, ads.ErrConflict
	}
	return c.watched.Save(ctx, b)
}

func TestChangesAreRetried(t *testing.T) {
	w := newWorld(t)
	u := w.place(1_000)
	store := &contested{watched: w.store, losses: 8, lost: func() {}}
	service := w.server(store)
	rename := func(u *ads.Unit) error { u.Headline = "Other"; return nil }
	if err := service.UpdateUnit(w.ctx, u.ID, rename); err != nil {
		t.Errorf("after eight conflicts: %v", err)
	}
	store.losses = 1_000
	refused(t, service.UpdateUnit(w.ctx, u.ID, rename), fault.CodeConflict, "", "after a thousand")

	ctx, cancel := context.WithCancel(w.ctx)
	store.losses, store.lost = 1_000, cancel
	refused(t, service.UpdateUnit(ctx, u.ID, rename), fault.CodeConflict, "", "when the request ends")
	if store.losses != 999 {
		t.Errorf("it tried %d times more", 999-store.losses)
	}
}
