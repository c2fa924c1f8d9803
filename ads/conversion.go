package ads

import (
	"context"
	"strings"
	"time"

	"plaza/fault"
)

const (
	// DefaultAttribution is how many days after its click a conversion counts, unless the campaign
	// says otherwise.
	DefaultAttribution = 30
	// MaxAttribution is the longest attribution window of a campaign. Recordings are kept for
	// longer than that plus the life of a token, so that each counts once.
	MaxAttribution = 60

	// ClickMacro is the placeholder in landing pages that is replaced by the click's token. The
	// page uses the token to report a conversion.
	ClickMacro = "{click_token}"
	// escapedMacro is ClickMacro as some programs escape it.
	escapedMacro = "%7Bclick_token%7D"
)

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// CheckAttribution checks a given number of days. A campaign without one has 0.
func CheckAttribution(field string, days int) error {
	if days < 1 || days > MaxAttribution {
		return fault.Invalidf(field, "Conversions count for 1 to %d days after the click.", MaxAttribution)
	}
	return nil
}

// AttributionDays returns how many days after its click a conversion counts.
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

// checkLanding checks the page that a click leads to. ClickMacro may appear once, in the path, the
// query or the fragment. A token has hundreds of characters, and browsers and proxies limit the
// length of addresses.
func checkLanding(field, text string) error {
	if strings.Count(strings.ToLower(strings.ReplaceAll(text, ClickMacro, escapedMacro)), strings.ToLower(escapedMacro)) > 1 {
		return fault.Invalidf(field, "A landing page contains %s at most once.", ClickMacro)
	}
	return fault.CheckURL(field, strings.ReplaceAll(text, ClickMacro, escapedMacro))
}

// page returns where a click leads, with its token in place of ClickMacro. The token needs no
// escaping: all characters of base64url are unreserved in addresses (RFC 3986, section 2.3).
func (t *token) page(key []byte, landing string) string {
	if !strings.Contains(landing, "click_token") {
		return landing
	}
	short := *t
	short.Landing = "" // the token must not contain the page that contains it: it would grow with each click
	text := short.sign(key)
	return strings.NewReplacer(ClickMacro, text, escapedMacro, text, strings.ToLower(escapedMacro), text).Replace(landing)
}

// RecordConversion stores that, after a click, a visitor has done what the advertiser wants. It is
// counted a moment later. text is the click's token: the one that replaced ClickMacro in the
// landing page's address, or the last part of the address that was clicked. Repeats and previews
// change nothing: recorded is then false. The conversion counts once its click is known and valid,
// and if it happens within the campaign's attribution window, which begins with the click. Errors:
// INVALID for "token", if the token is forged, edited, an impression's, or older than any
// attribution window.
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
