package demo

import (
	"context"
	"errors"
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

// Seed fills an empty database with the community, and returns the account to look at it with. Where that was done before,
// whatever became of the community since, nothing is changed; where it was interrupted, Seed goes on from there. It
// refuses any other database that has users: the password of the demo's accounts is published.
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
	users, err := st.UsersByHandle(ctx, []string{handle})
	if err != nil {
		return time.Time{}, err
	}
	if ada := users[handle]; ada != nil && ada.ID == cast[0].id(ada.CreatedAt(), 0) {
		return ada.CreatedAt(), nil
	}
	occupied, err := st.HasUsers(ctx)
	if err == nil && occupied {
		err = errOccupied
	}
	return now.UTC().Truncate(24 * time.Hour).Add(opening - history), err
}

// errOccupied refuses a database that the demo did not begin.
var errOccupied = errors.New("--demo (PLAZA_DEMO) needs a database of its own: this one already has users, and the demo would add accounts " +
	"whose password is published; choose another data folder or database, or start without the demo")

// taken says that others have signed up under the community's handles just now.
func taken(err error) error {
	if errors.Is(err, social.ErrTaken) {
		return errOccupied
	}
	return err
}
