package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plaza/social"
	"plaza/storage"
)

// Account is one that everybody may know the password of.
type Account struct {
	Handle, Password string
}

// The account to sign in with. Everybody in the demo has the same password.
const (
	handle   = "ada"
	password = "plaza-demo" // published: it guards nothing
)

// history is how far back the community goes.
const history = 14 * 24 * time.Hour

// Seed fills the database with the community, and returns the account to look at it with. Where that was done before,
// whatever became of the community since, nothing is changed; where it was interrupted, Seed goes on from there. It
// refuses where one of the community's handles belongs to somebody else.
func Seed(ctx context.Context, st storage.Store) (Account, error) {
	return Account{handle, password}, seed(ctx, st, time.Now())
}

// seed is Seed at a certain time.
func seed(ctx context.Context, st storage.Store, now time.Time) error {
	began, err := beginning(ctx, st, now)
	if err != nil {
		return err
	}
	s := newStage(st, began)
	if done, err := s.hasAds(ctx); done || err != nil { // they come last
		return err
	}
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

// beginning is when the community began: what ada's account says, or else the morning two weeks ago.
func beginning(ctx context.Context, st storage.Store, now time.Time) (time.Time, error) {
	users, err := st.UsersByHandle(ctx, handles())
	if err != nil {
		return time.Time{}, err
	}
	ada := users[handle]
	if ada == nil {
		return now.UTC().Truncate(24 * time.Hour).Add(opening - history), strangers(users, time.Time{})
	}
	return ada.CreatedAt(), strangers(users, ada.CreatedAt())
}

// strangers is an error where a handle of the community belongs to somebody who is not of it.
func strangers(users map[string]*social.User, began time.Time) error {
	for i, p := range cast {
		if user := users[p.handle]; user != nil && user.ID != p.id(began, i) {
			return fmt.Errorf("the demo needs a database of its own: %q is somebody else in this one; "+
				"choose another data folder or database, or start without the demo", p.handle)
		}
	}
	return nil
}

// taken says that others have signed up under the community's handles just now.
func taken(err error) error {
	if errors.Is(err, social.ErrTaken) {
		return errors.New("the demo needs a database of its own: others are using this one")
	}
	return err
}
