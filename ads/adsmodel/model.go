// Package adsmodel is an ads.Store in plain Go, for tests. It implements the contract as simply as
// possible, without durability, and passes the suite in storage/storagetest/adstest, as the engines
// do.
package adsmodel

import (
	"bytes"
	"context"
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
