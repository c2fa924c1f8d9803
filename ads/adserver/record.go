package adserver

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"plaza/ads"
	"plaza/fault"
)

// RecordImpression stores that the ad of an impression token was shown. It is counted a moment
// later. Repeats and previews change nothing: recorded is then false. A token that is forged,
// edited, older than ImpressionLife, or a click's is an Error INVALID for "token".
func (s *Service) RecordImpression(ctx context.Context, text string) (recorded bool, err error) {
	t, err := s.verify(ctx, ads.Impression, text)
	if err != nil || t.preview() {
		return false, err
	}
	return s.take(ctx, s.recording(&t))
}

// take stores a recording and schedules it to be counted.
func (s *Service) take(ctx context.Context, r ads.Recording) (recorded bool, err error) {
	recorded, err = s.store.Record(ctx, r)
	if err == nil {
		s.counting.add(&r)
	}
	return recorded, present(err)
}

// RecordClick stores a click on the ad of a click token, and returns the page that the ad leads to,
// with the token if the page asks for it: see ClickMacro. Repeats change nothing, and still return
// the page. address is the client's IP address, for click rates; it is empty if unknown.
// RecordClick waits a moment for the database, and never fails because of it: see clickKeeper.
// Errors are those of RecordImpression, once the token is older than ClickLife.
func (s *Service) RecordClick(ctx context.Context, text, address string) (landingURL string, err error) {
	t, landingURL, err := s.follow(ctx, text)
	if err != nil || t.preview() {
		return landingURL, err
	}
	r := s.recording(&t)
	r.WaitUntil = t.ExpiresAt.Add(ads.ImpressionLife - ads.ClickLife).Add(ads.CountingTime)
	if r.Address, err = s.origin(ctx, address); err != nil {
		return "", err
	}
	select {
	case <-s.clicks.keep(r):
	case <-time.After(clickWait):
	case <-ctx.Done():
	}
	return landingURL, nil
}

// Landing returns the page that the ad of a click token leads to, without counting anything. Errors
// are those of RecordClick.
func (s *Service) Landing(ctx context.Context, text string) (string, error) {
	_, landingURL, err := s.follow(ctx, text)
	return landingURL, err
}

// verify reads a token and checks that it is still valid for a recording of the kind.
func (s *Service) verify(ctx context.Context, kind ads.Kind, text string) (token, error) {
	key, err := s.signingKey(ctx)
	if err != nil {
		return token{}, err
	}
	t, ok := readToken(key, text)
	if !ok || t.Kind != signedKind(kind) {
		return token{}, fault.Invalidf("token", "The token is of another kind, or was changed.")
	}
	if !s.now().Before(t.until(kind)) {
		expired := fault.Invalidf("token", "The token has expired.")
		expired.Cause = ErrExpired
		return token{}, expired
	}
	return t, nil
}

// follow reads a click token and returns the page that it leads to.
func (s *Service) follow(ctx context.Context, text string) (token, string, error) {
	t, err := s.verify(ctx, ads.Click, text)
	if err != nil {
		return t, "", err
	}
	landing := t.Landing
	if landing == "" {
		units, err := s.store.Units(ctx, []ads.UnitID{t.Unit})
		if err != nil {
			return token{}, "", present(err)
		}
		if units[t.Unit] == nil {
			return token{}, "", present(ads.ErrNotFound)
		}
		landing = units[t.Unit].LandingURL
	}
	key, err := s.signingKey(ctx)
	if err != nil {
		return token{}, "", err
	}
	page := t.page(key, landing)
	return t, page, nil
}

// recording returns what a token is good for, recorded now.
func (s *Service) recording(t *token) ads.Recording {
	now := s.now().Truncate(time.Millisecond)
	r := ads.Recording{
		Kind: t.Kind, Choice: t.Choice, Unit: t.Unit, Campaign: t.Campaign, Zone: t.Zone, At: now, KeepUntil: now.Add(ads.EventLife),
		Cost: t.Cost, Lease: t.Lease, Profile: t.Profile, Staff: t.Flags&flagStaff != 0,
	}
	if t.Matched != "" {
		r.Keywords = strings.Split(t.Matched, ",")
	}
	return r
}

// origin returns the address in the form that recordings store; zero for an empty address.
func (s *Service) origin(ctx context.Context, address string) (ads.ProfileID, error) {
	if address == "" {
		return ads.ProfileID{}, nil
	}
	key, err := s.signingKey(ctx)
	if err != nil {
		return ads.ProfileID{}, err
	}
	if origin, err := originOf(address); err == nil {
		address = origin
	}
	return ads.Hashed(key, "address", address), nil
}

// originOf identifies a client by its IP address: the whole address in IPv4, but only the first 64
// bits in IPv6, since one client can use as many addresses below these as it likes.
func originOf(address string) (string, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "", err
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String(), nil
	}
	network, err := ip.Prefix(64)
	return network.String(), err
}
