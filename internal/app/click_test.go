package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
	"plaza/id"
	"plaza/internal/testtime"
)

// adWorld is the click handler over an in-memory store with one ad, with a clock that tests set.
type adWorld struct {
	*adserver.Service
	t     *testing.T
	store *faulty
	unit  ads.Unit
	now   time.Time
	log   strings.Builder
}

// faulty is a store that tests can make fail or hang.
type faulty struct {
	*adsmodel.Store
	mu    sync.Mutex
	fault error
	hang  chan struct{} // calls wait until it is closed; nil if they do not wait
	tried int
}

func (f *faulty) set(fault error, hang chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.hang = fault, hang
}

func (f *faulty) tries() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tried
}

// meet makes a call fail or wait, as the test has set.
func (f *faulty) meet(ctx context.Context) error {
	f.mu.Lock()
	fault, hang := f.fault, f.hang
	f.tried++
	f.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return fmt.Errorf("%w: hanging", ads.ErrUnavailable)
		}
	}
	return fault
}

func (f *faulty) Record(ctx context.Context, r ads.Recording) (bool, error) {
	if err := f.meet(ctx); err != nil {
		return false, err
	}
	return f.Store.Record(ctx, r)
}

func (f *faulty) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) ([]ads.Receipt, error) {
	if err := f.meet(ctx); err != nil {
		return nil, err
	}
	return f.Store.Count(ctx, keys, now)
}

func (f *faulty) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	if err := f.meet(ctx); err != nil {
		return nil, err
	}
	return f.Store.Units(ctx, ids)
}

func newAdWorld(t *testing.T) *adWorld {
	t.Helper()
	w := &adWorld{t: t, store: &faulty{Store: adsmodel.New()}, now: time.Now()}
	w.restart(func(do func()) { do() })
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	campaign := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Spring", State: ads.Active}
	zone := ads.Zone{ID: ads.ZoneID{Site: "example.org", Name: "top"}, Currency: "EUR", Design: ads.ByZone}
	w.unit = ads.Unit{
		ID: ads.UnitID{ID: id.New()}, Campaign: campaign.ID, State: ads.Active, Zones: []ads.ZoneID{zone.ID},
		Creative: ads.Creative{Headline: "Anvils", LandingURL: "https://acme.example/anvils?from=plaza#buy"},
		Bid:      ads.Bid{Model: ads.CPM, Price: 1_000, Currency: zone.Currency},
	}
	_, err := w.Add(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{advertiser}, Campaigns: []ads.Campaign{campaign}, Zones: []ads.Zone{zone}, Units: []ads.Unit{w.unit},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// restart creates another server; run determines how it runs background tasks.
func (w *adWorld) restart(run func(func())) {
	w.Service = adserver.New(w.store, adserver.Options{Now: func() time.Time { return w.now }, Go: run})
}

func (w *adWorld) choose() adserver.Choice {
	w.t.Helper()
	choices, err := w.Choose(w.t.Context(), adserver.Request{Site: "example.org", Zone: "top", Count: 1})
	if err != nil || len(choices) != 1 {
		w.t.Fatalf("Choose: %v, %v", choices, err)
	}
	return choices[0]
}

// counted checks the unit's counters.
func (w *adWorld) counted(impressions, clicks int64) {
	w.t.Helper()
	units, err := w.store.Store.Units(w.t.Context(), []ads.UnitID{w.unit.ID})
	if err != nil {
		w.t.Fatal(err)
	}
	if got := units[w.unit.ID]; got.Impressions != impressions || got.Clicks != clicks {
		w.t.Errorf("the unit has %d impressions and %d clicks, want %d and %d", got.Impressions, got.Clicks, impressions, clicks)
	}
}

// click sends a request to the handler, mounted as in the server.
func (w *adWorld) click(method, target string) *http.Response {
	w.t.Helper()
	mux := http.NewServeMux()
	logger := slog.New(slog.NewTextHandler(&w.log, nil))
	mux.Handle(clickPath+"{token}", clickHandler(w.Service, &proxies{}, logger))
	mux.Handle(impressionPath+"{token}", recordingHandler(w.RecordImpression, logger))
	mux.Handle(conversionPath+"{token}", recordingHandler(w.RecordConversion, logger))
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(w.t.Context(), method, target, nil))
	return answer.Result()
}

func TestAClickCountsOnceAndRedirects(t *testing.T) {
	w := newAdWorld(t)
	choice := w.choose()
	link := clickPath + choice.ClickToken
	w.shown(choice)
	for _, step := range []struct {
		method, target string
		clicks         int64
	}{
		{http.MethodHead, link, 0},
		{http.MethodGet, link, 1},
		{http.MethodGet, link + "?url=https://evil.example/&landingUrl=//evil.example", 1},
		{http.MethodHead, link, 1},
	} {
		answer := w.click(step.method, step.target)
		if answer.StatusCode != http.StatusFound || answer.Header.Get("Location") != w.unit.LandingURL {
			t.Errorf("%s: %d to %q, want 302 to %q", step.method, answer.StatusCode, answer.Header.Get("Location"), w.unit.LandingURL)
		}
		if got := answer.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control is %q", step.method, got)
		}
		w.counted(1, step.clicks)
	}
}

// TestPrefetchIsNotAClick follows a link as browsers do before a person clicks it.
func TestPrefetchIsNotAClick(t *testing.T) {
	w := newAdWorld(t)
	choice := w.choose()
	w.shown(choice)
	for header, value := range map[string]string{"Sec-Purpose": "prefetch;prerender", "Purpose": "prefetch", "X-Moz": "Prefetch"} {
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, clickPath, nil)
		request.SetPathValue("token", choice.ClickToken)
		request.Header.Set(header, value)
		clickHandler(w.Service, &proxies{}, slog.Default())(answer, request)
		if answer.Code != http.StatusFound || answer.Header().Get("Location") != w.unit.LandingURL {
			t.Errorf("%s: %d to %q", header, answer.Code, answer.Header().Get("Location"))
		}
	}
	w.counted(1, 0)
	w.click(http.MethodGet, clickPath+choice.ClickToken)
	w.counted(1, 1)
}

// shown records the impression of a choice over HTTP, twice.
func (w *adWorld) shown(c adserver.Choice) {
	w.t.Helper()
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		answer := w.click(method, impressionPath+c.ImpressionToken)
		if answer.StatusCode != http.StatusNoContent || answer.Header.Get("Cache-Control") != "no-store" {
			w.t.Errorf("%s of an impression: %d, %v", method, answer.StatusCode, answer.Header)
		}
	}
}

func TestBadImpressionsCountNothing(t *testing.T) {
	w := newAdWorld(t)
	c := w.choose()
	for name, step := range map[string]struct {
		method, token string
		status        int
	}{
		"forged":    {http.MethodGet, "forged", http.StatusNotFound},
		"edited":    {http.MethodPost, "C" + c.ImpressionToken[1:], http.StatusNotFound},
		"a click's": {http.MethodGet, c.ClickToken, http.StatusNotFound},
		"DELETE":    {http.MethodDelete, c.ImpressionToken, http.StatusMethodNotAllowed},
	} {
		w.leadsNowhere(name, w.click(step.method, impressionPath+step.token), step.status)
	}
	w.now = w.now.Add(ads.ImpressionLife)
	w.leadsNowhere("expired", w.click(http.MethodGet, impressionPath+c.ImpressionToken), http.StatusGone)
	w.counted(0, 0)
}

// TestConversionsOverHTTP: a click leads to the page with its token, by which a page or a server
// reports one conversion.
func TestConversionsOverHTTP(t *testing.T) {
	w := newAdWorld(t)
	const page = "https://acme.example/buy?click="
	if err := w.UpdateUnit(t.Context(), w.unit.ID, func(u *ads.Unit) error { u.LandingURL = page + ads.ClickMacro; return nil }); err != nil {
		t.Fatal(err)
	}
	c := w.choose()
	w.shown(c)
	head := w.click(http.MethodHead, clickPath+c.ClickToken).Header.Get("Location")
	token, found := strings.CutPrefix(w.click(http.MethodGet, clickPath+c.ClickToken).Header.Get("Location"), page)
	if !found || token == "" || head != page+token {
		t.Fatalf("a click leads to %q, and a HEAD to %q", token, head)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		answer := w.click(method, conversionPath+token)
		if answer.StatusCode != http.StatusNoContent || answer.Header.Get("Cache-Control") != "no-store" || answer.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s of a conversion: %d, %v", method, answer.StatusCode, answer.Header)
		}
	}
	w.counted(1, 1)
	units, err := w.store.Units(t.Context(), []ads.UnitID{w.unit.ID})
	if err != nil || units[w.unit.ID].Conversions != 1 {
		t.Errorf("%+v, %v; want one conversion", units[w.unit.ID], err)
	}
	for name, step := range map[string]struct {
		method, token string
		status        int
	}{
		"forged":          {http.MethodGet, "forged", http.StatusNotFound},
		"edited":          {http.MethodPost, "C" + token[1:], http.StatusNotFound},
		"an impression's": {http.MethodGet, c.ImpressionToken, http.StatusNotFound},
		"DELETE":          {http.MethodDelete, token, http.StatusMethodNotAllowed},
	} {
		w.leadsNowhere(name, w.click(step.method, conversionPath+step.token), step.status)
	}
	w.now = w.now.Add(ads.ClickLife + ads.DefaultAttribution*24*time.Hour)
	w.leadsNowhere("expired", w.click(http.MethodGet, conversionPath+token), http.StatusGone)
}

func TestBadClicksLeadNowhere(t *testing.T) {
	w := newAdWorld(t)
	c, old := w.choose(), w.choose()
	for _, step := range []struct {
		name, method, token string
		status              int
	}{
		{"forged", http.MethodGet, "forged", http.StatusNotFound},
		{"forged, HEAD", http.MethodHead, "forged", http.StatusNotFound},
		{"edited", http.MethodGet, "C" + c.ClickToken[1:], http.StatusNotFound},
		{"an impression's", http.MethodGet, c.ImpressionToken, http.StatusNotFound},
		{"an address", http.MethodGet, "https:%2F%2Fevil.example", http.StatusNotFound},
		{"POST", http.MethodPost, c.ClickToken, http.StatusMethodNotAllowed},
		{"DELETE", http.MethodDelete, c.ClickToken, http.StatusMethodNotAllowed},
	} {
		w.leadsNowhere(step.name, w.click(step.method, clickPath+step.token), step.status)
	}
	w.now = w.now.Add(2 * ads.ClickLife)
	w.leadsNowhere("expired", w.click(http.MethodGet, clickPath+old.ClickToken), http.StatusGone)
	w.leadsNowhere("expired, HEAD", w.click(http.MethodHead, clickPath+old.ClickToken), http.StatusGone)
	w.counted(0, 0)
	if w.log.Len() > 0 {
		t.Errorf("people's mistakes were logged: %s", &w.log)
	}
}

// leadsNowhere checks an answer without a landing page, which caches must not store.
func (w *adWorld) leadsNowhere(name string, answer *http.Response, status int) {
	w.t.Helper()
	text := readAll(w.t, answer)
	if answer.StatusCode != status || answer.Header.Get("Location") != "" {
		w.t.Errorf("%s: %d to %q, want %d", name, answer.StatusCode, answer.Header.Get("Location"), status)
	}
	if answer.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
		w.t.Errorf("%s: the headers are %v", name, answer.Header)
	}
	if !strings.HasSuffix(strings.TrimSpace(text), ".") || strings.Contains(text, "evil") {
		w.t.Errorf("%s: the text is %q, want a plain sentence", name, text)
	}
}

// TestClicksRedirectWithoutTheDatabase: clicks are redirected even if the database hangs, is down
// or fails.
func TestClicksRedirectWithoutTheDatabase(t *testing.T) {
	background := func(do func()) { go do() }
	leadsOn := func(w *adWorld, token string) {
		t.Helper()
		for _, method := range []string{http.MethodHead, http.MethodGet} {
			answer := w.click(method, clickPath+token)
			if answer.StatusCode != http.StatusFound || answer.Header.Get("Location") != w.unit.LandingURL {
				t.Errorf("%s: %d to %q", method, answer.StatusCode, answer.Header.Get("Location"))
			}
		}
	}
	t.Run("it hangs", func(t *testing.T) {
		w := newAdWorld(t)
		w.restart(background)
		choice := w.choose()
		w.shown(choice)
		hang := make(chan struct{})
		w.store.set(nil, hang)
		leadsOn(w, choice.ClickToken)
		close(hang)
		w.ok(w.Drain(t.Context()))
		w.ok(w.CatchUp(t.Context()))
		w.counted(1, 1)
		if lost := w.LostClicks(); lost != 0 {
			t.Errorf("%d clicks were lost", lost)
		}
	})
	t.Run("it is away, and comes back", func(t *testing.T) {
		w := newAdWorld(t)
		w.restart(background)
		choice := w.choose()
		w.shown(choice)
		w.store.set(fmt.Errorf("%w: no primary", ads.ErrUnavailable), nil)
		before := w.store.tries()
		leadsOn(w, choice.ClickToken)
		testtime.Eventually(t, "another attempt", func() bool { return w.store.tries() >= before+2 })
		w.store.set(nil, nil)
		w.ok(w.Drain(t.Context()))
		w.ok(w.CatchUp(t.Context()))
		w.counted(1, 1)
	})
	t.Run("it stays away until the server stops", func(t *testing.T) {
		w := newAdWorld(t)
		w.restart(background)
		choice := w.choose()
		w.store.set(fmt.Errorf("%w: no primary", ads.ErrUnavailable), nil)
		leadsOn(w, choice.ClickToken)
		over, end := context.WithCancel(t.Context())
		end()
		if err := w.Drain(over); err == nil || !strings.Contains(err.Error(), "1 clicks were lost") || w.LostClicks() != 1 {
			t.Errorf("draining says %v, and %d clicks were lost", err, w.LostClicks())
		}
	})
	t.Run("it fails", func(t *testing.T) {
		w := newAdWorld(t)
		choice := w.choose()
		w.store.set(errors.New("secret"), nil)
		leadsOn(w, choice.ClickToken)
		if err := w.Drain(t.Context()); err == nil || !strings.Contains(err.Error(), "secret") || w.LostClicks() != 1 {
			t.Errorf("draining says %v, and %d clicks were lost", err, w.LostClicks())
		}
	})
}

func (w *adWorld) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestImpressionsAreRefusedWithoutTheDatabase: a beacon can be sent again. The cause is logged, and
// not sent to the client.
func TestImpressionsAreRefusedWithoutTheDatabase(t *testing.T) {
	w := newAdWorld(t)
	link := impressionPath + w.choose().ImpressionToken
	w.store.set(fmt.Errorf("%w: secret", ads.ErrUnavailable), nil)
	w.leadsNowhere("unavailable", w.click(http.MethodGet, link), http.StatusServiceUnavailable)
	w.store.set(errors.New("secret"), nil)
	answer := w.click(http.MethodGet, link)
	text := readAll(t, answer)
	if answer.StatusCode != http.StatusInternalServerError || strings.Contains(text, "secret") {
		t.Errorf("an internal error is answered %d %q", answer.StatusCode, text)
	}
	if !strings.Contains(w.log.String(), "secret") {
		t.Errorf("the log is %q, and lacks the error", w.log.String())
	}
	w.store.set(nil, nil)
	if answer := w.click(http.MethodGet, link); answer.StatusCode != http.StatusNoContent {
		t.Errorf("after the fault: %d", answer.StatusCode)
	}
	w.counted(1, 0)
}

func readAll(t *testing.T, answer *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
