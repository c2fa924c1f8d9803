package adserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/fault"
)

const (
	// MaxCount is the most ads that one request can ask for.
	MaxCount = 10

	keySize = 32 // bytes; that of HMAC-SHA256's output (RFC 2104, section 3)
)

// Options configures a Service. The zero value is valid.
type Options struct {
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Random breaks ties between units. It is used without a lock. Default: the source of
	// math/rand/v2.
	Random mathrand.Source
	// Go runs work that no caller waits for. Default: in a goroutine.
	Go func(func())
	// Patience is how long to wait for a balance from the database. Default: 5 s.
	Patience time.Duration
}

// Service chooses ads, and counts what was shown and clicked. Its methods are safe for concurrent
// use, and do not check who is signed in. Errors that are not a *fault.Error are internal.
type Service struct {
	store   ads.Store
	now     func() time.Time
	random  *mathrand.Rand
	wallet  *wallet
	counter *counter
	recent  *zoneCache
	key     atomic.Pointer[[]byte]

	counting     *counting
	clicks       *clickKeeper
	reportedLost atomic.Int64 // how many of the lost clicks have been reported
}

// New returns a service on a store. It does not access the store yet.
func New(store ads.Store, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = processSource{}
	}
	if o.Go == nil {
		o.Go = func(do func()) { go do() }
	}
	random := mathrand.New(o.Random) //nolint:gosec // which of several equal ads is shown is no secret
	s := &Service{
		store: store, now: o.Now, random: random,
		wallet: newWallet(store, o), counter: newCounter(store, o.Now), recent: newZoneCache(store, o.Now),
	}
	s.counting = newCounting(store, o.Now, s.handleReceipts, o.Go)
	s.clicks = newClickKeeper(store, s.counting.add, o.Go)
	return s
}

// Now returns the time by which the service serves ads, so that what it says about today, or about
// the current hour, agrees with that.
func (s *Service) Now() time.Time { return s.now() }

// processSource is the random source of the process, which is safe for concurrent use.
type processSource struct{}

func (processSource) Uint64() uint64 { return mathrand.Uint64() } //nolint:gosec // as in New

// Add checks a batch and stores those of its entries whose ids do not exist yet. A batch has at
// most MaxBatch entries of each kind. Errors name the entry and its part: "units.3.landingUrl".
func (s *Service) Add(ctx context.Context, b ads.Batch) (added int, err error) {
	if err := checkBatch(&b); err != nil {
		return 0, err
	}
	added, err = s.put(ctx, b)
	return added, present(err)
}

// checkBatch returns the first fault only: programs write batches, so one error is enough for them.
func checkBatch(b *ads.Batch) error {
	err := b.Check(ads.MaxBatch)
	if mistake, ok := errors.AsType[*fault.Error](err); ok {
		mistake.Code = fault.CodeInvalid
	}
	return err
}

// put stores a batch. This server shows the change immediately, others within zoneLife.
func (s *Service) put(ctx context.Context, b ads.Batch) (saved int, err error) {
	defer s.recent.forget()
	return s.store.Save(ctx, b.Dated(s.now()))
}

// signingKey returns the secret that all servers on this database share. It is read once.
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
