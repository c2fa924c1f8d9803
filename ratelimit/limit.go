// Package ratelimit counts what clients use, in buckets that refill over time. It does not know
// what requests or people are: a limit has a bucket for each key, whatever the key represents.
package ratelimit

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// MaxKeys is how many buckets a limit keeps, at about 150 bytes each. Beyond that it forgets the
// bucket that was used least recently, which is then full again.
const MaxKeys = 32_768

// Policy defines how much each key of a limit may use.
type Policy struct {
	Name   string
	Burst  int           // the size of a full bucket: how much may be used in one burst
	Window time.Duration // how long an empty bucket takes to fill, at a constant pace
}

// Limit has a bucket for each key. It is safe for concurrent use. A nil Limit admits everything.
//
// A bucket is stored as the time at which it will be full: the generic cell rate algorithm of
// ATM (ITU-T I.371, annex A), with costs.
type Limit struct {
	policy  Policy
	now     func() time.Time
	start   time.Time
	seed    maphash.Seed // attackers cannot choose keys that share a bucket
	refused atomic.Uint64

	mu   sync.Mutex
	full *simplelru.LRU[uint64, time.Duration] // since start, by the hash of the key
}

// New creates a limit whose buckets are full.
func New(policy Policy) *Limit { return newLimit(policy, time.Now) }

func newLimit(policy Policy, now func() time.Time) *Limit {
	full, err := simplelru.NewLRU[uint64, time.Duration](MaxKeys, nil)
	if err != nil {
		panic(err) // the size is a constant
	}
	return &Limit{policy: policy, now: now, start: now(), seed: maphash.MakeSeed(), full: full}
}

// State is the state of a bucket after a call of Take.
type State struct {
	Policy

	Remaining  int           // how much may be used now
	Reset      time.Duration // until the bucket is full
	RetryAfter time.Duration // until the refused amount can be taken; 0 if it was taken
}

// Used returns how much is missing from the bucket.
func (s State) Used() int { return s.Burst - s.Remaining }

// Take takes n from the bucket of a key, or nothing if the bucket contains less. An n above Burst
// counts as Burst: it is refused until the bucket is full.
func (l *Limit) Take(key string, n int) State {
	if l == nil {
		return State{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now().Sub(l.start)
	hash, full := l.bucket(key, now)
	next := full + l.timeFor(min(n, l.policy.Burst))
	if wait := next - now - l.policy.Window; wait > 0 {
		l.refused.Add(1)
		return l.state(full-now, wait)
	}
	l.full.Add(hash, next)
	return l.state(next-now, 0)
}

// Give returns n to the bucket that was taken and not used.
func (l *Limit) Give(key string, n int) { l.Owe(key, -n) }

// Owe takes n from the bucket of a key even if it contains less. Then it is empty until what is
// owed has refilled, which can take longer than its Window.
func (l *Limit) Owe(key string, n int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	hash, full := l.bucket(key, l.now().Sub(l.start))
	l.full.Add(hash, full+l.timeFor(n))
}

// Refused returns how many calls of Take were refused.
func (l *Limit) Refused() uint64 { return l.refused.Load() }

// Name returns the name of the limit's policy.
func (l *Limit) Name() string { return l.policy.Name }

// bucket returns when the bucket of a key will be full, which is now if it is full.
func (l *Limit) bucket(key string, now time.Duration) (hash uint64, full time.Duration) {
	hash = maphash.String(l.seed, key)
	full, _ = l.full.Get(hash)
	return hash, max(full, now)
}

func (l *Limit) state(missing, wait time.Duration) State {
	used := (int64(missing)*int64(l.policy.Burst) + int64(l.policy.Window) - 1) / int64(l.policy.Window)
	return State{Policy: l.policy, Remaining: max(0, l.policy.Burst-int(used)), Reset: missing, RetryAfter: wait}
}

// timeFor returns how long a bucket takes to refill by n.
func (l *Limit) timeFor(n int) time.Duration {
	return time.Duration(int64(n) * int64(l.policy.Window) / int64(l.policy.Burst))
}
