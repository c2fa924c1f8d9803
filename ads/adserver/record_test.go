package adserver_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
	"plaza/fault"
)

func TestImpressionsAndClicksCountOnce(t *testing.T) {
	w := newWorld(t)
	u := w.place(1_000)
	c := w.choose(1)[0]
	for i := range 3 {
		recorded, err := w.RecordImpression(w.ctx, c.ImpressionToken)
		if err != nil || recorded != (i == 0) {
			t.Errorf("impression %d: recorded %v, %v", i, recorded, err)
		}
	}
	w.counted(u.ID, 1, 0)
	for i := range 3 {
		landing, err := w.RecordClick(w.ctx, c.ClickToken, "")
		if err != nil || landing != u.LandingURL {
			t.Errorf("click %d: to %q, %v", i, landing, err)
		}
	}
	w.counted(u.ID, 1, 1)
	if _, err := w.RecordImpression(w.ctx, w.choose(1)[0].ImpressionToken); err != nil {
		t.Fatal(err)
	}
	w.counted(u.ID, 2, 1)
}

func TestConcurrentUsesOfOneTokenCountOnce(t *testing.T) {
	w := newWorld(t)
	u := w.place(1_000)
	c := w.choose(1)[0]
	var impressions atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if recorded, err := w.RecordImpression(w.ctx, c.ImpressionToken); err != nil {
				t.Error(err)
			} else if recorded {
				impressions.Add(1)
			}
			if _, err := w.RecordClick(w.ctx, c.ClickToken, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if impressions.Load() != 1 {
		t.Errorf("%d impressions were recorded, want one", impressions.Load())
	}
	w.counted(u.ID, 1, 1)
}

func TestTokensAreBoundToTheirKind(t *testing.T) {
	w := newWorld(t)
	u := w.place(1_000)
	c := w.choose(1)[0]
	_, err := w.RecordImpression(w.ctx, c.ClickToken)
	refused(t, err, fault.CodeInvalid, "token", "a click's token for an impression")
	_, err = w.RecordClick(w.ctx, c.ImpressionToken, "")
	refused(t, err, fault.CodeInvalid, "token", "an impression's token for a click")
	_, err = w.Landing(w.ctx, c.ImpressionToken)
	refused(t, err, fault.CodeInvalid, "token", "an impression's token for a landing page")
	w.counted(u.ID, 0, 0)
}

func TestForgedTokensAreRefused(t *testing.T) {
	w := newWorld(t)
	u := w.place(1_000)
	c := w.choose(1)[0]
	forged := map[string]string{
		"empty": "", "no token": "token", "shortened": c.ImpressionToken[1:], "another database's": newToken(t),
		"edited": c.ImpressionToken[:8] + flip(c.ImpressionToken[8:9]) + c.ImpressionToken[9:],
	}
	for name, text := range forged {
		recorded, err := w.RecordImpression(w.ctx, text)
		refused(t, err, fault.CodeInvalid, "token", name)
		landing, err := w.RecordClick(w.ctx, text, "")
		refused(t, err, fault.CodeInvalid, "token", name)
		if recorded || landing != "" {
			t.Errorf("%s: recorded %v, leads to %q", name, recorded, landing)
		}
	}
	w.counted(u.ID, 0, 0)
}

func flip(text string) string {
	if text == "A" {
		return "B"
	}
	return "A"
}

// newToken returns a valid impression token of another server.
func newToken(t *testing.T) string {
	t.Helper()
	other := newWorld(t)
	other.place(1_000)
	return other.choose(1)[0].ImpressionToken
}

func TestTokensExpire(t *testing.T) {
	w := newWorld(t)
	u := w.place(1_000)
	chosen, early, late := w.now, w.choose(1)[0], w.choose(1)[0]
	w.now = chosen.Add(ads.ImpressionLife - time.Second)
	if recorded, err := w.RecordImpression(w.ctx, early.ImpressionToken); err != nil || !recorded {
		t.Errorf("a second before the end: recorded %v, %v", recorded, err)
	}
	w.now = chosen.Add(ads.ImpressionLife)
	_, err := w.RecordImpression(w.ctx, late.ImpressionToken)
	refused(t, err, fault.CodeInvalid, "token", "an impression after its time")
	if !errors.Is(err, adserver.ErrExpired) {
		t.Errorf("the error %v is no ErrExpired", err)
	}
	_, err = w.RecordImpression(w.ctx, early.ImpressionToken)
	refused(t, err, fault.CodeInvalid, "token", "a repetition after its time")
	w.now = chosen.Add(ads.ClickLife)
	_, err = w.RecordClick(w.ctx, late.ClickToken, "")
	refused(t, err, fault.CodeInvalid, "token", "a click after a day")
	w.counted(u.ID, 1, 0)
}

func TestServersOnOneDatabaseAcceptEachOthersTokens(t *testing.T) {
	w := newWorld(t)
	w.place(1_000)
	c := w.choose(1)[0]
	other := w.server(w.store)
	if recorded, err := other.RecordImpression(w.ctx, c.ImpressionToken); err != nil || !recorded {
		t.Errorf("the other server: recorded %v, %v", recorded, err)
	}
	if recorded, err := w.RecordImpression(w.ctx, c.ImpressionToken); err != nil || recorded {
		t.Errorf("the first server, after the other: recorded %v, %v", recorded, err)
	}
}

func TestFaultyKeyIsRefused(t *testing.T) {
	store := adsmodel.New()
	if _, err := store.SigningKey(t.Context(), []byte("short")); err != nil {
		t.Fatal(err)
	}
	if _, err := adserver.New(store, adserver.Options{}).Choose(t.Context(), request("example.org", "top", 1)); err == nil {
		t.Error("a key of five bytes was taken")
	}
}

// TestLearningMovesTheChoice shows a CPC unit that gets no clicks, until a CPM unit is worth more.
func TestLearningMovesTheChoice(t *testing.T) {
	w := newWorld(t)
	steady, learning := w.unit(4_500_000), w.unit(500_000)
	learning.Bid.Model = ads.CPC // 5.00 at first
	w.add(ads.Batch{Units: []ads.Unit{steady, learning}})
	shown := 0
	for ; shown < 1000; shown++ {
		w.now = w.now.Add(time.Second) // the cached zone expires
		c := w.choose(1)[0]
		if c.Unit == steady.ID {
			break
		}
		if _, err := w.RecordImpression(w.ctx, c.ImpressionToken); err != nil {
			t.Fatal(err)
		}
	}
	// 5.00 × 500 / (500 + n), rounded to three digits, is 4.51 for n = 54, 4.50 for 55 and 56,
	// which tie, and 4.49 for 57.
	if shown < 55 || shown > 57 {
		t.Errorf("the learning unit was shown %d times, want 55 to 57", shown)
	}
}
