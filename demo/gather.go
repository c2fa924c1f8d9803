package demo

import (
	"context"
	"errors"

	"plaza/social"
	"plaza/social/accounts"
)

// gather creates the people and their circles. Each part is one transaction that may be run again.
func (s *stage) gather(ctx context.Context) error {
	if there, err := s.store.Users(ctx, []social.UserID{s.user(handle)}); err != nil {
		return err
	} else if len(there) == 0 {
		accounts, err := s.accounts(ctx)
		if err != nil {
			return err
		}
		if _, err := s.store.ImportUsers(ctx, accounts); err != nil {
			return taken(err)
		}
	}
	if _, err := s.store.ImportCircles(ctx, s.circles()); err != nil {
		return err
	}
	memberships, edges := s.memberships()
	_, err := s.store.ImportMemberships(ctx, memberships, edges)
	return err
}

// accounts creates everyone's account, all with the same password.
func (s *stage) accounts(ctx context.Context) ([]social.NewUser, error) {
	created := make([]social.NewUser, len(cast))
	for i, p := range cast {
		in := accounts.SignUpInput{Handle: p.handle, Name: p.name, Password: password}
		account, err := s.social.NewAccount(ctx, in, p.id(s.began, i))
		if err != nil {
			return nil, err
		}
		account.User.Bio, account.User.AvatarURL = p.bio, address(s.publicURL, avatarName(p.handle))
		if p.wall != "" {
			account.User.WallPolicy = p.wall
		}
		created[i] = account
	}
	return created, nil
}

// ErrOccupied rejects a database that was not created by the demo.
var ErrOccupied = errors.New("the demo needs its own database: this one already has users, and the demo would add accounts whose password is published")

// taken returns ErrOccupied if others have just signed up with the community's handles.
func taken(err error) error {
	if errors.Is(err, social.ErrTaken) {
		return ErrOccupied
	}
	return err
}
