package adsmodel

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"plaza/ads"
	"plaza/id"
)

// Save implements ads.Catalogue.
func (m *Store) Save(ctx context.Context, b ads.Batch) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := catalogue{maps.Clone(m.advertisers), maps.Clone(m.campaigns), maps.Clone(m.zones), maps.Clone(m.units)}
	saved, err := after.save(b)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return 0, err
	}
	m.catalogue = after
	return saved, nil
}

func (m *catalogue) save(b ads.Batch) (saved int, err error) {
	for _, a := range b.Advertisers {
		a.CreatedAt = created(a.CreatedAt, m.advertisers[a.ID].CreatedAt, a.ID.ID)
		n, err := put(m.advertisers, a.ID, a, func(a *ads.Advertiser) *int { return &a.Revision })
		if err != nil {
			return 0, err
		}
		saved += n
	}
	for _, c := range b.Campaigns {
		if was, ok := m.campaigns[c.ID]; ok {
			c.Advertiser = was.Advertiser
		}
		if !has(m.advertisers, c.Advertiser) {
			return 0, ads.ErrNotFound
		}
		c.CreatedAt = created(c.CreatedAt, m.campaigns[c.ID].CreatedAt, c.ID.ID)
		n, err := put(m.campaigns, c.ID, c, func(c *ads.Campaign) *int { return &c.Revision })
		if err != nil {
			return 0, err
		}
		saved += n
	}
	for _, z := range b.Zones {
		z.Units = nil
		n, err := put(m.zones, z.ID, z, func(z *ads.Zone) *int { return &z.Revision })
		if err != nil {
			return 0, err
		}
		if m.zones[z.ID].Currency != z.Currency {
			return 0, ads.ErrCurrency
		}
		saved += n
	}
	before := maps.Clone(m.units)
	for _, u := range b.Units {
		if was, ok := m.units[u.ID]; ok {
			u.Campaign, u.Impressions, u.Clicks, u.Conversions = was.Campaign, was.Impressions, was.Clicks, was.Conversions
		}
		u.Zones = slices.Clone(u.Zones)
		u.CreatedAt = created(u.CreatedAt, m.units[u.ID].CreatedAt, u.ID.ID)
		n, err := put(m.units, u.ID, u, func(u *ads.Unit) *int { return &u.Revision })
		if err != nil {
			return 0, err
		}
		saved += n
	}
	return saved, cmp.Or(m.check(), checkMates(before, b.Units))
}

// checkMates checks that new units have the currency of one of their campaign's units, if it has any.
func checkMates(before map[ads.UnitID]ads.Unit, units []ads.Unit) error {
	of := map[ads.CampaignID]map[ads.Currency]bool{}
	add := func(u *ads.Unit) {
		if of[u.Campaign] == nil {
			of[u.Campaign] = map[ads.Currency]bool{}
		}
		of[u.Campaign][u.Bid.Currency] = true
	}
	for _, u := range before {
		add(&u)
	}
	for _, u := range units {
		if has(before, u.ID) {
			continue
		}
		if of[u.Campaign] != nil && !of[u.Campaign][u.Bid.Currency] {
			return ads.ErrCurrency
		}
		add(&u)
	}
	return nil
}

// created returns the time of creation of an entry that is saved; stored is zero if none is stored.
func created(given, stored time.Time, of id.ID) time.Time {
	if ads.OwnCreation(given, of).IsZero() && !stored.IsZero() {
		return stored
	}
	return ads.Creation(given, of)
}

// put stores an entry with the next revision, or leaves the stored one unchanged.
func put[K comparable, V any](m map[K]V, key K, value V, revision func(*V) *int) (int, error) {
	stored, ok := m[key]
	switch given := *revision(&value); {
	case given == 0 && ok:
		return 0, nil
	case given != 0 && (!ok || *revision(&stored) != given):
		return 0, ads.ErrConflict
	}
	*revision(&value)++
	m[key] = value
	return 1, nil
}

// check returns an error if an entry refers to something that does not exist.
func (m *catalogue) check() error {
	placed := map[ads.ZoneID]int{}
	for _, u := range m.units {
		c, ok := m.campaigns[u.Campaign]
		if !ok {
			return ads.ErrNotFound
		}
		if c.Budget.Limited() && c.Budget.Currency != u.Bid.Currency {
			return ads.ErrCurrency
		}
		for _, zone := range u.Zones {
			if !has(m.zones, zone) {
				return ads.ErrNotFound
			}
			if m.zones[zone].Currency != u.Bid.Currency {
				return ads.ErrCurrency
			}
			if u.State != ads.Archived {
				placed[zone]++
			}
			if placed[zone] > ads.MaxZoneUnits {
				return ads.ErrFull
			}
		}
	}
	return nil
}

func has[K comparable, V any](m map[K]V, key K) bool {
	_, ok := m[key]
	return ok
}

// Advertisers implements ads.Catalogue.
func (m *Store) Advertisers(_ context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	return lookUp(m, func() map[ads.AdvertiserID]ads.Advertiser { return m.advertisers }, ids)
}

// Campaigns implements ads.Catalogue.
func (m *Store) Campaigns(_ context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	return lookUp(m, func() map[ads.CampaignID]ads.Campaign { return m.campaigns }, ids)
}

// Units implements ads.Catalogue.
func (m *Store) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return lookUp(m, func() map[ads.UnitID]ads.Unit { return m.units }, ids)
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

// ListAdvertisers implements ads.Catalogue.
func (m *Store) ListAdvertisers(_ context.Context, p ads.Page) ([]*ads.Advertiser, error) {
	return list(m, func() map[ads.AdvertiserID]ads.Advertiser { return m.advertisers }, p, func(a *ads.Advertiser) (string, bool) { return string(a.ID.Bytes()), true })
}

// ListCampaigns implements ads.Catalogue.
func (m *Store) ListCampaigns(_ context.Context, of ads.AdvertiserID, p ads.Page) ([]*ads.Campaign, error) {
	return list(m, func() map[ads.CampaignID]ads.Campaign { return m.campaigns }, p, func(c *ads.Campaign) (string, bool) { return string(c.ID.Bytes()), c.Advertiser == of })
}

// ListUnits implements ads.Catalogue.
func (m *Store) ListUnits(_ context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Unit, error) {
	return list(m, func() map[ads.UnitID]ads.Unit { return m.units }, p, func(u *ads.Unit) (string, bool) { return string(u.ID.Bytes()), u.Campaign == of })
}

// ListZones implements ads.Catalogue.
func (m *Store) ListZones(_ context.Context, p ads.Page) ([]*ads.Zone, error) {
	return list(m, func() map[ads.ZoneID]ads.Zone { return m.zones }, p, func(z *ads.Zone) (string, bool) { return z.ID.String(), true })
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

// Zone implements ads.Zones.
func (m *Store) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	zone, ok := m.zones[id]
	if !ok {
		return nil, ads.ErrNotFound
	}
	for _, u := range m.units {
		c := m.campaigns[u.Campaign]
		if slices.Contains(u.Zones, id) && c.State == ads.Active && u.State == ads.Active {
			a := m.advertisers[c.Advertiser]
			zone.Units = append(zone.Units, ads.Running(&u, &c, &a))
		}
	}
	slices.SortFunc(zone.Units, func(a, b ads.RunningUnit) int { return a.Compare(&b) })
	return &zone, nil
}
