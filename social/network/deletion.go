package network

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
)

// DeleteAccount deletes the viewer's account. When it returns, the viewer is invisible to everyone;
// their data is removed in the background. It can't be undone. Errors: BAD_CREDENTIALS (the
// password), UNAUTHENTICATED (already deleted), RATE_LIMITED.
func (s *Service) DeleteAccount(ctx context.Context, viewer social.UserID, password string) error {
	if _, err := s.confirm(ctx, viewer, "password", password); err != nil {
		return err
	}
	err := s.deleteUser(ctx, viewer, viewer)
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrAccountGone
	}
	return err
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
	defer s.noteHiding()
	e := s.event(social.EventUserDeleted, actor)
	e.Target = user
	return s.store.DeleteUser(ctx, user, e)
}
