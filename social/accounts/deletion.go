package accounts

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
)

// DeleteAccount deletes the viewer's account. When it returns, the viewer is invisible to everyone;
// their data is removed in the background. It can't be undone. An account that has no password is
// deleted without one (nil). Errors: BAD_CREDENTIALS, BLANK and NOT_ALLOWED (the password),
// UNAUTHENTICATED (already deleted), RATE_LIMITED.
func (s *Service) DeleteAccount(ctx context.Context, viewer social.UserID, password *string) error {
	if err := s.confirmOwner(ctx, viewer, password); err != nil {
		return err
	}
	err := s.deleteUser(ctx, viewer, viewer)
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrAccountGone
	}
	return err
}

// confirmOwner checks the password of a user who leaves; nil: the account has none.
func (s *Service) confirmOwner(ctx context.Context, viewer social.UserID, password *string) error {
	if password != nil {
		_, err := s.confirm(ctx, viewer, "password", *password)
		return err
	}
	has, err := s.HasPassword(ctx, viewer)
	if err == nil && has {
		err = fault.Errorf(fault.CodeBlank, "password", "Your account has a password: send it as confirmation.")
	}
	return err
}

// DeactivateAccount hides the viewer's account from everyone else, as a deletion does, and ends all
// its sessions, until the viewer signs in again. Errors: as those of DeleteAccount.
func (s *Service) DeactivateAccount(ctx context.Context, viewer social.UserID, password *string) error {
	if err := s.confirmOwner(ctx, viewer, password); err != nil {
		return err
	}
	e := s.event(social.EventStandingChanged, viewer)
	e.Target = viewer
	err := s.store.Leave(ctx, viewer, s.Moment(), e)
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrAccountGone
	}
	if err != nil {
		return err
	}
	s.record(ctx, Act{Kind: ActAccountDeactivated, User: viewer})
	return s.endSessionsOf(ctx, viewer)
}

// DeleteUser deletes a user's account on behalf of an operator. Error: NOT_FOUND.
func (s *Service) DeleteUser(ctx context.Context, user social.UserID) error {
	err := s.deleteUser(ctx, user, social.UserID{})
	if errors.Is(err, social.ErrNotFound) {
		return fault.NotFound("", "user")
	}
	return err
}

func (s *Service) deleteUser(ctx context.Context, user, actor social.UserID) error {
	e := s.event(social.EventUserDeleted, actor)
	e.Target = user
	act := Act{Kind: ActAccountDeleted, User: user, Handle: s.handleFor(ctx, user), Operator: actor.IsZero()}
	err := s.store.DeleteUser(ctx, user, e)
	if err == nil {
		s.record(ctx, act)
	}
	return err
}
