package social

import (
	"context"
	"errors"

	"plaza/fault"
)

// DeleteAccount deletes the viewer's account: from its return on, the viewer exists for nobody, and everything of theirs is removed in
// the background. It cannot be undone. Errors: BAD_CREDENTIALS (the password), UNAUTHENTICATED (it is gone already).
func (s *Service) DeleteAccount(ctx context.Context, viewer UserID, password string) error {
	user, err := s.Viewer(viewer).account(ctx)
	if err != nil {
		return err
	}
	owner, hash, err := s.store.PasswordHash(ctx, user.Handle)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	matches, err := s.passwordMatches(ctx, password, hash)
	if err != nil {
		return err
	}
	if !matches || owner != viewer {
		return fault.Errorf(fault.CodeBadCredentials, "password", "The password is wrong.")
	}
	err = s.deleteUser(ctx, viewer, viewer)
	if errors.Is(err, ErrNotFound) {
		return ErrAccountGone
	}
	return err
}

// DeleteUser deletes the account of the user with that handle, as an operator does, and returns who it was. Error: NOT_FOUND.
func (s *Service) DeleteUser(ctx context.Context, handle string) (UserID, error) {
	user, err := s.Viewer(UserID{}).UserByHandle(ctx, handle)
	if err != nil {
		return UserID{}, err
	}
	err = s.deleteUser(ctx, user.ID, UserID{})
	if errors.Is(err, ErrNotFound) {
		return UserID{}, fault.NotFound("handle", "user")
	}
	return user.ID, err
}

func (s *Service) deleteUser(ctx context.Context, user, actor UserID) error {
	defer s.noteHiding()
	e := s.event(EventUserDeleted, actor)
	e.Target = user
	return s.store.DeleteUser(ctx, user, e)
}
