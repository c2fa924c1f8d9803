package ads

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"
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
	// Go runs what need not be waited for. Default: in a goroutine.
	Go func(func())
	// Patience is how long to wait for the database where a budget needs a balance from it. Default: 5 s.
	Patience time.Duration
}

// Service chooses ads, and counts what was shown and clicked. Its methods may be called from any goroutine, and by
// anybody, signed in or not. Errors that are no *fault.Error are internal.
type Service struct {
	store   Store
	now     func() time.Time
	random  *mathrand.Rand
	wallet  *wallet
	counter *counter
	recent  *zoneCache
	key     atomic.Pointer[[]byte]

	counting *counting
	clicks   *clickKeeper
	toldLost atomic.Int64 // of the clicks that were lost, how many have been logged
}

// New makes a service on a store. It does not use the store yet.
func New(store Store, o Options) *Service {
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
	s.counting = newCounting(store, o.Now, s.told, o.Go)
	s.clicks = newClickKeeper(store, s.counting.add, o.Go)
	return s
}

// processSource is the process's random source, which any goroutine may use.
type processSource struct{}

func (processSource) Uint64() uint64 { return mathrand.Uint64() } //nolint:gosec // as in New

// Add checks a batch and stores what of it does not exist, by id. A batch has at most MaxBatch entries of
// each kind. Errors name the entry and its part: "units.3.landingUrl".
func (s *Service) Add(ctx context.Context, b Batch) (added int, err error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	added, err = s.put(ctx, b)
	return added, present(err)
}

// put stores a batch. This server shows what it has changed at once, others within zoneLife.
func (s *Service) put(ctx context.Context, b Batch) (saved int, err error) {
	defer s.recent.forget()
	return s.store.Save(ctx, b)
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
