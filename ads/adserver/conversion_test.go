package adserver_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
)

// TestLandingPagesContainTheClicksToken: it replaces the macro, in both spellings, and the page
// reports a conversion with it.
func TestLandingPagesContainTheClicksToken(t *testing.T) {
	for _, page := range []string{
		"https://acme.example/buy?from=plaza&t={click_token}#top", "https://acme.example/{click_token}/buy",
		"https://acme.example/buy?t=%7Bclick_token%7D", "https://acme.example/buy#t=%7bclick_token%7d",
	} {
		w := newWorld(t)
		u := w.unit(1_000_000)
		u.LandingURL = page
		w.add(ads.Batch{Units: []ads.Unit{u}})
		choice := w.choose(1)[0]
		landing, err := w.RecordClick(w.ctx, choice.ClickToken, "")
		if err != nil {
			t.Fatal(err)
		}
		before, after, _ := strings.Cut(strings.NewReplacer("%7B", "{", "%7D", "}", "%7b", "{", "%7d", "}").Replace(page), ads.ClickMacro)
		token := strings.TrimSuffix(strings.TrimPrefix(landing, before), after)
		if _, err := url.Parse(landing); err != nil || before+token+after != landing || len(token) >= len(choice.ClickToken) {
			t.Fatalf("the page is %q, %v", landing, err)
		}
		if recorded, err := w.RecordConversion(w.ctx, token); err != nil || !recorded {
			t.Errorf("the page's token: recorded %v, %v", recorded, err)
		}
		if recorded, err := w.RecordConversion(w.ctx, choice.ClickToken); err != nil || recorded {
			t.Errorf("the same click's token again: recorded %v, %v", recorded, err)
		}
		if again, err := w.Landing(w.ctx, token); err != nil || again != landing {
			t.Errorf("the page's token leads to %q, %v", again, err)
		}
	}
}

func TestConversionTokens(t *testing.T) {
	w := newWorld(t)
	w.place(1_000_000)
	choice := w.choose(1)[0]
	for name, token := range map[string]string{
		"an impression's": choice.ImpressionToken, "edited": choice.ClickToken[:40] + flip(choice.ClickToken[40:41]) + choice.ClickToken[41:], "none": "", "something else": "AAAA",
	} {
		_, err := w.RecordConversion(w.ctx, token)
		refused(t, err, fault.CodeInvalid, "token", name)
	}
	w.now = w.now.Add(ads.ClickLife + ads.DefaultAttribution*24*time.Hour - 2*time.Second)
	if recorded, err := w.RecordConversion(w.ctx, choice.ClickToken); err != nil || !recorded {
		t.Errorf("before the token ends: recorded %v, %v", recorded, err)
	}
	w.now = w.now.Add(2 * time.Second)
	_, err := w.RecordConversion(w.ctx, choice.ClickToken)
	refused(t, err, fault.CodeInvalid, "token", "expired")
	if !errors.Is(err, adserver.ErrExpired) {
		t.Errorf("expired: the cause of %v is not ErrExpired", err)
	}
}

// TestAttributionIsChecked: it is 1 to 60 days, or the default. The macro never changes the host
// that a click leads to.
func TestAttributionIsChecked(t *testing.T) {
	w := newWorld(t)
	for _, days := range []int{-1, ads.MaxAttribution + 1, 1 << 20} {
		err := w.UpdateCampaign(w.ctx, w.campaign.ID, func(c *ads.Campaign) error { c.Attribution = days; return nil })
		refused(t, err, fault.CodeInvalid, "attributionDays", "days")
	}
	for _, page := range []string{
		"https://{click_token}/", "https://acme.example:{click_token}/", "https://{click_token}@acme.example/", "{click_token}", "https://acme.example/{click_id}",
		"https://acme.example/{click_token}?t=%7bclick_token%7d",
	} {
		u := w.unit(1_000_000)
		u.LandingURL = page
		_, err := w.Add(w.ctx, ads.Batch{Units: []ads.Unit{u}})
		refused(t, err, fault.CodeInvalid, "units.0.landingUrl", page)
	}
}
