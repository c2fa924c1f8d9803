// Package adsmodel is an ads.Store in plain Go, for tests. It implements the contract as simply as
// possible, without durability, and passes the suite in storage/storagetest/adstest, as the engines
// do.
package adsmodel

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"plaza/ads"
)

// Store is an ads.Store in memory. Its methods may be called from any goroutine.
type Store struct {
	mu sync.Mutex
	catalogue
	recordings map[recording]event
	ledgers    map[ads.CampaignID]ads.Ledger
	leases     map[ads.LeaseID]ads.Lease
	profiles   map[ads.ProfileID]*ads.Profile
	refunds    map[ads.RefundID]ads.Refund
	tallies    []tally
	rolledUp   time.Time
	stale      map[time.Time]bool
	traffic    map[ads.TrafficID]ads.Traffic
	key        []byte
}

// catalogue is the state that Save changes.
type catalogue struct {
	advertisers map[ads.AdvertiserID]ads.Advertiser
	campaigns   map[ads.CampaignID]ads.Campaign
	zones       map[ads.ZoneID]ads.Zone
	units       map[ads.UnitID]ads.Unit
}

// recording identifies a recording: each choice has at most one of each kind.
type recording struct {
	choice ads.ChoiceID
	kind   ads.Kind
}

type event struct {
	ads.Recording
	Invalid  ads.Invalid
	Billed   ads.Micros
	day      string // the day whose budget was charged
	refunded ads.Micros
	due      time.Time // zero if it has been counted
}

func (e *event) waits() bool { return !e.due.IsZero() }

// tally is a counted recording, once on its own and once for each of its keywords.
type tally struct {
	event
	campaign ads.CampaignID
	currency ads.Currency
	keyword  string
}

var _ ads.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{
		catalogue: catalogue{
			advertisers: map[ads.AdvertiserID]ads.Advertiser{}, campaigns: map[ads.CampaignID]ads.Campaign{},
			zones: map[ads.ZoneID]ads.Zone{}, units: map[ads.UnitID]ads.Unit{},
		},
		recordings: map[recording]event{}, ledgers: map[ads.CampaignID]ads.Ledger{},
		leases: map[ads.LeaseID]ads.Lease{}, profiles: map[ads.ProfileID]*ads.Profile{},
		refunds: map[ads.RefundID]ads.Refund{}, stale: map[time.Time]bool{}, traffic: map[ads.TrafficID]ads.Traffic{},
	}
}

// SigningKey implements ads.Keys.
func (m *Store) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.key == nil {
		m.key = bytes.Clone(fresh)
	}
	return m.key, ctx.Err()
}

func lookUp[K comparable, V any](m *Store, of func() map[K]V, ids []K) (map[K]*V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := of() // read under the lock
	found := map[K]*V{}
	for _, id := range ids {
		if v, ok := from[id]; ok {
			found[id] = &v
		}
	}
	return found, nil
}

func list[K comparable, V any](m *Store, of func() map[K]V, p ads.Page, key func(*V) (string, bool)) ([]*V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]*V{}
	for _, v := range of() {
		if k, ok := key(&v); ok && k > string(p.After) && (p.Before == "" || k < string(p.Before)) {
			found[k] = &v
		}
	}
	keys := slices.Sorted(maps.Keys(found))
	if n := len(keys); n > p.Limit && p.Last {
		keys = keys[n-p.Limit:]
	} else if n > p.Limit {
		keys = keys[:p.Limit]
	}
	var items []*V
	for _, k := range keys {
		items = append(items, found[k])
	}
	return items, nil
}
