package ads

import (
	"context"
	"strings"
	"time"

	"plaza/fault"
)

const (
	// DefaultAttribution is how many days after its click a conversion counts in campaigns that do not say.
	DefaultAttribution = 30
	// MaxAttribution is the most that a campaign can say. Recordings are kept for longer than that and a token together, so that each counts once.
	MaxAttribution = 60

	// ClickMacro stands in landing pages for the click's token, by which the page reports a conversion.
	ClickMacro = "{click_token}"
	// escapedMacro is what some programs make of it.
	escapedMacro = "%7Bclick_token%7D"
)

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// CheckAttribution checks a number of days that was given. A campaign that is given none has 0.
func CheckAttribution(field string, days int) error {
	if days < 1 || days > MaxAttribution {
		return fault.Invalidf(field, "Conversions count for 1 to %d days after the click.", MaxAttribution)
	}
	return nil
}

// AttributionDays is how many days after its click a conversion counts.
func (c *Campaign) AttributionDays() int {
	if c.Attribution == 0 {
		return DefaultAttribution
	}
	return c.Attribution
}

func (c *Campaign) checkAttribution(field string) error {
	if c.Attribution == 0 {
		return nil
	}
	return CheckAttribution(field, c.Attribution)
}

// checkLanding checks a page that a click leads to. ClickMacro may appear once, in its path, its query or its fragment: a token has hundreds of
// characters, and browsers and proxies limit addresses.
func checkLanding(field, text string) error {
	if strings.Count(strings.ToLower(strings.ReplaceAll(text, ClickMacro, escapedMacro)), strings.ToLower(escapedMacro)) > 1 {
		return fault.Invalidf(field, "A landing page contains %s at most once.", ClickMacro)
	}
	return fault.CheckURL(field, strings.ReplaceAll(text, ClickMacro, escapedMacro))
}

// page is where a click leads, with its token in the place of ClickMacro. The token needs no escaping: all characters of base64url
// are unreserved in addresses (RFC 3986, section 2.3).
func (t *token) page(key []byte, landing string) string {
	if !strings.Contains(landing, "click_token") {
		return landing
	}
	short := *t
	short.Landing = "" // a page that is part of its own address would grow with each click
	text := short.sign(key)
	return strings.NewReplacer(ClickMacro, text, escapedMacro, text, strings.ToLower(escapedMacro), text).Replace(landing)
}

// RecordConversion stores that a visitor has done what the advertiser wants, after a click; it is counted a moment later. The token is the click's: the one
// that stands for ClickMacro in the landing page's address, or the end of the address that was clicked. Repeats change nothing: recorded is then false, and so
// it is for previews. It counts once the click is known and counts itself, and if it is made within the campaign's attribution window, which begins
// with the click. Errors: INVALID for "token", where that is forged, edited, an impression's, or older than any window that it can be in.
func (s *Service) RecordConversion(ctx context.Context, text string) (recorded bool, err error) {
	t, err := s.verify(ctx, Conversion, text)
	if err != nil || t.preview() {
		return false, err
	}
	r := s.recording(&t)
	r.Kind, r.Cost, r.Days = Conversion, t.ActionCost, t.Days
	r.WaitUntil = t.ExpiresAt.Add(countingTime)
	return s.take(ctx, r)
}
