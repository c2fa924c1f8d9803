package adserver

import (
	"context"

	"plaza/ads"
)

// RecordConversion stores that, after a click, a visitor has done what the advertiser wants. It is
// counted a moment later. text is the click's token: the one that replaced ClickMacro in the
// landing page's address, or the last part of the address that was clicked. Repeats and previews
// change nothing: recorded is then false. The conversion counts once its click is known and valid,
// and if it happens within the campaign's attribution window, which begins with the click. Errors:
// INVALID for "token", if the token is forged, edited, an impression's, or older than any
// attribution window.
func (s *Service) RecordConversion(ctx context.Context, text string) (recorded bool, err error) {
	t, err := s.verify(ctx, ads.Conversion, text)
	if err != nil || t.preview() {
		return false, err
	}
	r := s.recording(&t)
	r.Kind, r.Cost, r.Days = ads.Conversion, t.ActionCost, t.Days
	r.WaitUntil = t.ExpiresAt.Add(ads.CountingTime)
	return s.take(ctx, r)
}
