package ads_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"          //nolint:depguard // see click.go
	"net/http/httptest" //nolint:depguard // see click.go
	"strings"
	"testing"

	"plaza/ads"
)

// click sends a request to the handler, mounted as its comment says.
func (w *world) click(method, target string) *http.Response {
	w.t.Helper()
	mux := http.NewServeMux()
	mux.Handle(ads.ClickPath+"{token}", ads.ClickHandler(w.Service))
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(w.ctx, method, target, nil))
	return answer.Result()
}

func TestAClickCountsOnceAndLeadsOn(t *testing.T) {
	w := newWorld(t)
	u := w.place(1)
	link := ads.ClickPath + w.choose(1)[0].ClickToken
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
		if answer.StatusCode != http.StatusFound || answer.Header.Get("Location") != u.LandingURL {
			t.Errorf("%s: %d to %q, want 302 to %q", step.method, answer.StatusCode, answer.Header.Get("Location"), u.LandingURL)
		}
		if got := answer.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control is %q", step.method, got)
		}
		w.counted(u.ID, 0, step.clicks)
	}
}

func TestBadClicksLeadNowhere(t *testing.T) {
	w := newWorld(t)
	u := w.place(1)
	c, old := w.choose(1)[0], w.choose(1)[0]
	for _, step := range []struct {
		name, method, token string
		status              int
	}{
		{"forged", http.MethodGet, "forged", http.StatusNotFound},
		{"forged, HEAD", http.MethodHead, "forged", http.StatusNotFound},
		{"edited", http.MethodGet, flip(c.ClickToken[:1]) + c.ClickToken[1:], http.StatusNotFound},
		{"an impression's", http.MethodGet, c.ImpressionToken, http.StatusNotFound},
		{"an address", http.MethodGet, "https:%2F%2Fevil.example", http.StatusNotFound},
		{"POST", http.MethodPost, c.ClickToken, http.StatusMethodNotAllowed},
		{"DELETE", http.MethodDelete, c.ClickToken, http.StatusMethodNotAllowed},
	} {
		w.leadsNowhere(step.name, w.click(step.method, ads.ClickPath+step.token), step.status)
	}
	w.now = w.now.Add(2 * ads.TokenLife)
	w.leadsNowhere("expired", w.click(http.MethodGet, ads.ClickPath+old.ClickToken), http.StatusGone)
	w.leadsNowhere("expired, HEAD", w.click(http.MethodHead, ads.ClickPath+old.ClickToken), http.StatusGone)
	w.counted(u.ID, 0, 0)
	if w.log.Len() > 0 {
		t.Errorf("people's mistakes were logged: %s", &w.log)
	}
}

// leadsNowhere checks an answer without a way on, which no cache keeps.
func (w *world) leadsNowhere(name string, answer *http.Response, status int) {
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

func TestFaultsAreLoggedAndNotTold(t *testing.T) {
	w := newWorld(t)
	w.place(1)
	link := ads.ClickPath + w.choose(1)[0].ClickToken
	w.store.fault = fmt.Errorf("%w: secret", ads.ErrUnavailable)
	w.leadsNowhere("unavailable", w.click(http.MethodGet, link), http.StatusServiceUnavailable)
	w.store.fault = errors.New("secret")
	answer := w.click(http.MethodGet, link)
	text := readAll(t, answer)
	if answer.StatusCode != http.StatusInternalServerError || strings.Contains(text, "secret") {
		t.Errorf("an internal error is answered %d %q", answer.StatusCode, text)
	}
	if !strings.Contains(w.log.String(), "secret") {
		t.Errorf("the log is %q, and lacks the error", w.log.String())
	}
	w.store.fault = nil
	if answer := w.click(http.MethodGet, link); answer.StatusCode != http.StatusFound {
		t.Errorf("after the fault: %d", answer.StatusCode)
	}
}

func readAll(t *testing.T, answer *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
