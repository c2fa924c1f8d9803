package demo

import (
	"context"
	"time"

	"plaza/storage"
)

// Account is an account with a published password.
type Account struct {
	Handle, Password string
}

// history is how far the community's past reaches back.
const history = 14 * 24 * time.Hour

// Community represents the people of the demo in a database.
type Community struct {
	Account Account // to look at it with
	stage   *stage
}

// Seed fills an empty database with the community, whose pictures a server at the public URL
// serves. If the database is already seeded, it only updates the addresses of pictures, if the
// public URL has changed; if the seeding was interrupted, it resumes. It rejects any other database
// that has users: the password of the demo's accounts is published.
func Seed(ctx context.Context, st storage.Store, publicURL string) (*Community, error) {
	s, err := seed(ctx, st, time.Now(), publicURL)
	if err != nil {
		return nil, err
	}
	return &Community{Account{handle, password}, s}, nil
}

// seed does the same as Seed, at a certain time.
func seed(ctx context.Context, st storage.Store, now time.Time, publicURL string) (*stage, error) {
	began, err := beginning(ctx, st, now)
	if err != nil {
		return nil, err
	}
	s := newStage(st, began, publicURL)
	done, err := s.hasAds(ctx) // they are stored last
	switch {
	case err != nil:
	case done:
		err = s.rehang(ctx)
	default:
		err = s.perform(ctx)
	}
	return s, err
}

// perform runs the script from where it stopped.
func (s *stage) perform(ctx context.Context) error {
	steps := script()
	first, err := s.firstLeft(ctx, steps)
	if err != nil {
		return err
	}
	if first == 0 {
		if err := s.gather(ctx); err != nil {
			return err
		}
	}
	if err := s.play(ctx, steps[first:]); err != nil {
		return err
	}
	return s.advertise(ctx)
}

// beginning returns when the community began: the time of its people's accounts, or, without
// accounts, the morning two weeks ago.
func beginning(ctx context.Context, st storage.Store, now time.Time) (time.Time, error) {
	users, err := st.UsersByHandle(ctx, castHandles())
	if err != nil {
		return time.Time{}, err
	}
	for i, p := range cast { // any of them, because visitors may have deleted others
		if u := users[p.handle]; u != nil {
			began := u.CreatedAt().Add(-joinedAfter(i))
			if u.ID == p.id(began, i) {
				return began, nil
			}
		}
	}
	occupied, err := st.HasUsers(ctx)
	if err == nil && occupied {
		err = ErrOccupied
	}
	return now.UTC().Truncate(24 * time.Hour).Add(opening - history), err
}
