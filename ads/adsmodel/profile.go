package adsmodel

import (
	"context"
	"slices"

	"plaza/ads"
)

// Reserve implements ads.Profiles.
func (m *Store) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := m.profiles[r.Profile]
	if p == nil {
		p = &ads.Profile{ID: r.Profile}
		m.profiles[r.Profile] = p
	}
	return p.Reserve(r), nil
}

// ForgetProfile implements ads.Profiles.
func (m *Store) ForgetProfile(_ context.Context, id ads.ProfileID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.profiles, id)
	return nil
}

// Profile implements ads.Profiles.
func (m *Store) Profile(_ context.Context, id ads.ProfileID) (*ads.Profile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := &ads.Profile{ID: id}
	if p := m.profiles[id]; p != nil {
		found.Seen = slices.Clone(p.Seen)
	}
	return found, nil
}
