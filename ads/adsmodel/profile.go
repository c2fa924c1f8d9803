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

// ForgetUser implements ads.Profiles.
func (m *Store) ForgetUser(_ context.Context, user string) (left bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	person := ads.UserProfile(m.key, user)
	delete(m.profiles, person)
	forgotten := map[ads.Kind]int{}
	for key, e := range m.recordings {
		switch {
		case e.Profile != person || e.Kind == ads.Impression:
		case forgotten[e.Kind] == ads.MaxForgotten:
			left = true
		default:
			forgotten[e.Kind]++
			e.Profile = ads.ProfileID{}
			m.recordings[key] = e
		}
	}
	return left, nil
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
