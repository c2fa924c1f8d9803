package social

import (
	"context"
	"errors"

	"plaza/fault"
)

// confirmed is a user who has confirmed their password.
type confirmed struct {
	user *User
	hash string // of the password
	rank int    // in the queue for hashes
}

// confirm checks the password of a signed-in user, which the argument has. Errors: BAD_CREDENTIALS,
// UNAUTHENTICATED (the account is deleted), RATE_LIMITED.
func (s *Service) confirm(ctx context.Context, viewer UserID, argument, password string) (confirmed, error) {
	user, err := s.Viewer(viewer).account(ctx)
	if err != nil {
		return confirmed{}, err
	}
	attempt, err := s.limits.confirmation(viewer.String())
	if err != nil {
		return confirmed{}, err
	}
	owner, hash, err := s.store.PasswordHash(ctx, user.Handle)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return confirmed{}, err
	}
	matches, err := s.passwordMatches(ctx, candidate{password, attempt.rank}, hash)
	if err != nil {
		return confirmed{}, err
	}
	if !matches || owner != viewer {
		return confirmed{}, errWrongPassword(argument)
	}
	attempt.succeeded()
	return confirmed{user, hash, attempt.rank}, nil
}

func errWrongPassword(argument string) error {
	return fault.Errorf(fault.CodeBadCredentials, argument, "The password is wrong.")
}

// ChangePassword replaces the password of a session's user, and ends the user's other sessions and
// access tokens.
// Errors: BAD_CREDENTIALS (currentPassword), INVALID and TOO_LONG (newPassword),
// UNAUTHENTICATED (the account is deleted), RATE_LIMITED.
func (s *Service) ChangePassword(ctx context.Context, session Session, current, replacement string) error {
	c, err := s.confirm(ctx, session.User, "currentPassword", current)
	if err := fault.All(err, checkPassword("newPassword", replacement)); err != nil {
		return err
	}
	hash, err := s.hashes.hash(ctx, candidate{replacement, c.rank})
	if err != nil {
		return err
	}
	err = s.store.SetPassword(ctx, PasswordChange{
		User: session.User, Handle: c.user.Handle, From: c.hash, To: hash, Keep: session.TokenHash,
	})
	if errors.Is(err, ErrNotFound) { // another session has just changed it
		return errWrongPassword("currentPassword")
	}
	if err != nil {
		return err
	}
	// A sign-in that compared the old password may have stored its session meanwhile. Either it is here
	// by now, or the sign-in finds the new hash (mustStillMatch).
	err = s.store.EndSessions(ctx, session.User, session.TokenHash, AllSessions)
	if errors.Is(err, ErrNotFound) { // this session has ended meanwhile
		return s.store.EndSessions(ctx, session.User, [32]byte{}, AllSessions)
	}
	return err
}

func checkPassword(argument, password string) error {
	return fault.CheckText(argument, password, MinPasswordLen, MaxPasswordLen)
}
