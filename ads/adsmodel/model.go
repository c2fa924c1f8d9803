// Package adsmodel is ads.Store in plain Go, for tests: what the contract says, in the shortest way to say it, and
// without durability. It passes the suite in storage/storagetest/adstest, as the engines do.
package adsmodel

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"plaza/ads"
)

// Store is an ads.Store in memory. Its methods may be called from any goroutine.
type Store struct {
	mu          sync.Mutex
	advertisers map[ads.AdvertiserID]ads.Advertiser
	campaigns   map[ads.CampaignID]ads.Campaign
	zones       map[ads.ZoneID]ads.Currency
	units       map[ads.UnitID]ads.Unit
	recordings  map[recording]bool
	key         []byte
}

// recording is what there is at most one of.
type recording struct {
	choice ads.ChoiceID
	kind   ads.Kind
}

var _ ads.Store = (*Store)(nil)

// New makes an empty store.
func New() *Store {
	return &Store{
		advertisers: map[ads.AdvertiserID]ads.Advertiser{},
		campaigns:   map[ads.CampaignID]ads.Campaign{},
		zones:       map[ads.ZoneID]ads.Currency{},
		units:       map[ads.UnitID]ads.Unit{},
		recordings:  map[recording]bool{},
	}
}

// Add implements ads.Catalogue.
func (m *Store) Add(ctx context.Context, b ads.Batch) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := &Store{
		advertisers: maps.Clone(m.advertisers), campaigns: maps.Clone(m.campaigns),
		zones: maps.Clone(m.zones), units: maps.Clone(m.units),
	}
	added, err := after.add(b)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return 0, err
	}
	m.advertisers, m.campaigns, m.zones, m.units = after.advertisers, after.campaigns, after.zones, after.units
	return added, nil
}

func (m *Store) add(b ads.Batch) (added int, err error) {
	for _, a := range b.Advertisers {
		added += putNew(m.advertisers, a.ID, a)
	}
	for _, c := range b.Campaigns {
		if _, ok := m.advertisers[c.Advertiser]; !ok && !has(m.campaigns, c.ID) {
			return 0, ads.ErrNotFound
		}
		added += putNew(m.campaigns, c.ID, c)
	}
	for _, z := range b.Zones {
		added += putNew(m.zones, z.ID, z.Currency)
		if m.zones[z.ID] != z.Currency {
			return 0, ads.ErrCurrency
		}
	}
	for _, u := range b.Units {
		if has(m.units, u.ID) {
			continue
		}
		if err := m.fits(u); err != nil {
			return 0, err
		}
		u.Zones = slices.Clone(u.Zones)
		added += putNew(m.units, u.ID, u)
	}
	return added, nil
}

func (m *Store) fits(u ads.Unit) error {
	if !has(m.campaigns, u.Campaign) {
		return ads.ErrNotFound
	}
	for _, zone := range u.Zones {
		if !has(m.zones, zone) {
			return ads.ErrNotFound
		}
		if m.zones[zone] != u.Bid.Currency {
			return ads.ErrCurrency
		}
		placed := 0
		for _, other := range m.units {
			if slices.Contains(other.Zones, zone) {
				placed++
			}
		}
		if placed >= ads.MaxZoneUnits {
			return ads.ErrFull
		}
	}
	return nil
}

func has[K comparable, V any](m map[K]V, key K) bool {
	_, ok := m[key]
	return ok
}

func putNew[K comparable, V any](m map[K]V, key K, value V) int {
	if has(m, key) {
		return 0
	}
	m[key] = value
	return 1
}

// PauseCampaign implements ads.Catalogue.
func (m *Store) PauseCampaign(ctx context.Context, id ads.CampaignID) (bool, error) {
	return m.setPaused(ctx, id, true)
}

// ResumeCampaign implements ads.Catalogue.
func (m *Store) ResumeCampaign(ctx context.Context, id ads.CampaignID) (bool, error) {
	return m.setPaused(ctx, id, false)
}

func (m *Store) setPaused(ctx context.Context, id ads.CampaignID, paused bool) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.campaigns[id]
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !ok {
		return false, ads.ErrNotFound
	}
	changed := c.Paused != paused
	c.Paused = paused
	m.campaigns[id] = c
	return changed, nil
}

// Advertisers implements ads.Catalogue.
func (m *Store) Advertisers(_ context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	return lookUp(m, m.advertisers, ids)
}

// Campaigns implements ads.Catalogue.
func (m *Store) Campaigns(_ context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	return lookUp(m, m.campaigns, ids)
}

// Units implements ads.Catalogue.
func (m *Store) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return lookUp(m, m.units, ids)
}

func lookUp[K comparable, V any](m *Store, from map[K]V, ids []K) (map[K]*V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[K]*V{}
	for _, id := range ids {
		if v, ok := from[id]; ok {
			found[id] = &v
		}
	}
	return found, nil
}

// Zone implements ads.Zones.
func (m *Store) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !has(m.zones, id) {
		return nil, ads.ErrNotFound
	}
	zone := &ads.Zone{ID: id, Currency: m.zones[id]}
	for _, u := range m.units {
		c := m.campaigns[u.Campaign]
		if slices.Contains(u.Zones, id) && !c.Paused {
			zone.Units = append(zone.Units, ads.RunningUnit{
				Unit: u.ID, Campaign: c.ID, Advertiser: m.advertisers[c.Advertiser].Name, Creative: u.Creative, ECPM: u.ECPM(),
			})
		}
	}
	slices.SortFunc(zone.Units, func(a, b ads.RunningUnit) int { return a.Compare(&b) })
	return zone, nil
}

// Record implements ads.Recorder.
func (m *Store) Record(ctx context.Context, r ads.Recording) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u, ok := m.units[r.Unit]
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !ok {
		return false, ads.ErrNotFound
	}
	once := recording{r.Choice, r.Kind}
	if m.recordings[once] {
		return false, nil
	}
	m.recordings[once] = true
	if r.Kind == ads.Click {
		u.Clicks++
	} else {
		u.Impressions++
	}
	m.units[u.ID] = u
	return true, nil
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
