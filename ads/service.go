package ads

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"plaza/fault"
)

const (
	// MaxCount is how many ads one choice may ask for.
	MaxCount = 10
	// MaxBatch is how many entries of each kind Service.Add takes at once.
	MaxBatch = 1000

	keySize = 32 // bytes; that of HMAC-SHA256's output (RFC 2104, section 3)
)

// Options changes a Service. The zero value is good.
type Options struct {
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Random decides between units that tie. It is used without a lock. Default: math/rand/v2's own source.
	Random mathrand.Source
}

// Service chooses ads, and counts what was shown and clicked. Its methods may be called from any goroutine, and by
// anybody, signed in or not. Errors that are no *fault.Error are internal.
type Service struct {
	store  Store
	now    func() time.Time
	random *mathrand.Rand
	key    atomic.Pointer[[]byte]
}

// New makes a service on a store. It does not use the store yet.
func New(store Store, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = processSource{}
	}
	random := mathrand.New(o.Random) //nolint:gosec // which of several equal ads is shown is no secret
	return &Service{store: store, now: o.Now, random: random}
}

// processSource is the process's random source, which any goroutine may use.
type processSource struct{}

func (processSource) Uint64() uint64 { return mathrand.Uint64() } //nolint:gosec // as in New

// Choose takes up to count ads (1 to MaxCount) that run in a site's zone: those with the highest ECPM, best first;
// those that tie come in random order, and which of them come at all is random too. Fewer come where
// fewer run, and none where there is no such site or zone. A name that no zone can have, and another count, are an
// Error INVALID for "site", "zone" or "count". It costs one read of the store, and nothing is written.
func (s *Service) Choose(ctx context.Context, site, zone string, count int) ([]Choice, error) {
	place := ZoneID{Site: site, Name: zone}
	if err := place.check("site", "zone"); err != nil {
		return nil, err
	}
	if count < 1 || count > MaxCount {
		return nil, fault.Invalidf("count", "At least 1 and at most %d ads can be asked for.", MaxCount)
	}
	key, err := s.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.store.Zone(ctx, place)
	if errors.Is(err, ErrNotFound) {
		return []Choice{}, nil
	}
	if err != nil {
		return nil, present(err)
	}
	return s.choices(place, pick(found.Units, count, s.random), key), nil
}

// RecordImpression counts that the ad of an impression token was shown. Repeats change nothing: recorded is then
// false. A token that is forged, edited, older than TokenLife, or a click's is an Error INVALID for "token".
func (s *Service) RecordImpression(ctx context.Context, text string) (recorded bool, err error) {
	t, err := s.verify(ctx, Impression, text)
	if err != nil {
		return false, err
	}
	return s.record(ctx, t)
}

// RecordClick counts a click on the ad of a click token, and returns the page that the ad leads to. Repeats change
// nothing, and still lead there. Errors are those of RecordImpression.
func (s *Service) RecordClick(ctx context.Context, text string) (landingURL string, recorded bool, err error) {
	t, landingURL, err := s.follow(ctx, text)
	if err != nil {
		return "", false, err
	}
	recorded, err = s.record(ctx, t)
	if err != nil {
		return "", false, err
	}
	return landingURL, recorded, nil
}

// Landing returns the page that the ad of a click token leads to, without counting anything. Errors are those of RecordClick.
func (s *Service) Landing(ctx context.Context, text string) (string, error) {
	_, landingURL, err := s.follow(ctx, text)
	return landingURL, err
}

// Add checks a batch and stores what of it does not exist, as Catalogue.Add has it. A batch has at most MaxBatch entries of
// each kind. Errors name the entry and its part: "units.3.landingUrl".
func (s *Service) Add(ctx context.Context, b Batch) (added int, err error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	added, err = s.store.Add(ctx, b)
	return added, present(err)
}

// PauseCampaign takes a campaign's units out of all zones at once; paused is false where they were out already.
// There being no such campaign is an Error NOT_FOUND.
func (s *Service) PauseCampaign(ctx context.Context, id CampaignID) (paused bool, err error) {
	paused, err = s.store.PauseCampaign(ctx, id)
	return paused, present(err)
}

// ResumeCampaign puts a campaign's units back into their zones; resumed is false where they were there already.
// There being no such campaign is an Error NOT_FOUND.
func (s *Service) ResumeCampaign(ctx context.Context, id CampaignID) (resumed bool, err error) {
	resumed, err = s.store.ResumeCampaign(ctx, id)
	return resumed, present(err)
}

// verify reads a token of the kind that is still good.
func (s *Service) verify(ctx context.Context, kind Kind, text string) (token, error) {
	key, err := s.signingKey(ctx)
	if err != nil {
		return token{}, err
	}
	t, ok := readToken(key, text)
	if !ok || t.Kind != kind {
		return token{}, fault.Invalidf("token", "This is not such a token, or it was changed.")
	}
	if !s.now().Before(t.ExpiresAt) {
		expired := fault.Invalidf("token", "The token has expired.")
		expired.Cause = ErrExpired
		return token{}, expired
	}
	return t, nil
}

// follow reads a click token, and the landing page of its unit as it is now.
func (s *Service) follow(ctx context.Context, text string) (token, string, error) {
	t, err := s.verify(ctx, Click, text)
	if err != nil {
		return token{}, "", err
	}
	units, err := s.store.Units(ctx, []UnitID{t.Unit})
	if err != nil {
		return token{}, "", present(err)
	}
	unit := units[t.Unit]
	if unit == nil {
		return token{}, "", present(ErrNotFound)
	}
	return t, unit.LandingURL, nil
}

func (s *Service) record(ctx context.Context, t token) (bool, error) {
	recorded, err := s.store.Record(ctx, Recording{
		Kind: t.Kind, Choice: t.Choice, Unit: t.Unit, Zone: t.Zone, At: s.now(),
		// Servers' clocks may differ: one may still take the token when it has expired for another.
		KeepUntil: t.ExpiresAt.Add(TokenLife),
	})
	return recorded, present(err)
}

// signingKey is the secret that all servers on this database share, read once.
func (s *Service) signingKey(ctx context.Context) ([]byte, error) {
	if known := s.key.Load(); known != nil {
		return *known, nil
	}
	fresh := make([]byte, keySize)
	_, _ = rand.Read(fresh) // never fails: it ends the process instead
	key, err := s.store.SigningKey(ctx, fresh)
	if err != nil {
		return nil, present(err)
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("the stored signing key has %d bytes, not %d", len(key), keySize)
	}
	s.key.Store(&key)
	return key, nil
}
