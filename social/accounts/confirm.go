package accounts

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
	"plaza/social/passwords"
)

// confirmed is a user who has confirmed their password.
type confirmed struct {
	user *social.User
	hash string // of the password
	rank int    // in the queue for hashes
}

// confirm checks the password of a signed-in user, which the argument has. Errors: BAD_CREDENTIALS,
// NOT_ALLOWED (the account has no password), UNAUTHENTICATED (the account is deleted), RATE_LIMITED.
func (s *Service) confirm(ctx context.Context, viewer social.UserID, argument, password string) (_ confirmed, err error) {
	user, err := s.account(ctx, viewer)
	if err != nil {
		return confirmed{}, err
	}
	attempt, err := s.limits.Confirmation(viewer.String())
	if err != nil {
		return confirmed{}, err
	}
	defer func() { attempt.Over(err) }()
	owner, hash, err := s.store.PasswordHash(ctx, user.Handle)
	if err != nil && !errors.Is(err, social.ErrNotFound) {
		return confirmed{}, err
	}
	if err == nil && hash == "" && owner == viewer {
		return confirmed{}, errNoPassword(argument)
	}
	matches, err := s.passwordMatches(ctx, passwords.Candidate{Password: password, Rank: attempt.Rank}, hash)
	if err != nil {
		return confirmed{}, err
	}
	if !matches || owner != viewer {
		s.record(ctx, Act{Kind: ActPasswordRefused, User: viewer, Handle: user.Handle, Code: fault.CodeBadCredentials})
		return confirmed{}, errWrongPassword(argument)
	}
	return confirmed{user, hash, attempt.Rank}, nil
}

// HasPassword reports whether a user's account has a password; otherwise another site, or an OpenID
// provider, signs them in. Error: UNAUTHENTICATED (the account is deleted).
func (s *Service) HasPassword(ctx context.Context, viewer social.UserID) (bool, error) {
	user, err := s.account(ctx, viewer)
	if err != nil {
		return false, err
	}
	owner, hash, err := s.store.PasswordHash(ctx, user.Handle)
	if errors.Is(err, social.ErrNotFound) || err == nil && owner != viewer {
		err = social.ErrAccountGone
	}
	return hash != "", err
}

// SlowFingerprint converts the fingerprint of a user's operation that may contain a password to one
// that is as hard to guess as a stored password. The user and the idempotency key are its salt.
// While it is computed, it counts like the confirmation of a password. Errors: RATE_LIMITED; ctx's.
func (s *Service) SlowFingerprint(ctx context.Context, user social.UserID, key string, fast [32]byte) (slow [32]byte, err error) {
	attempt, err := s.limits.Confirmation(user.String())
	if err != nil {
		return [32]byte{}, err
	}
	defer func() { attempt.Over(err) }()
	text := passwords.Candidate{Password: string(fast[:]), Rank: attempt.Rank}
	return s.hashes.Fingerprint(ctx, text, []byte(user.String()+" "+key))
}

func errNoPassword(argument string) error {
	return fault.Errorf(fault.CodeNotAllowed, argument, "Your account has no password: another site signs you in.")
}

func errWrongPassword(argument string) error {
	return fault.Errorf(fault.CodeBadCredentials, argument, "The password is wrong.")
}

// ChangePassword replaces the password of a session's user, and ends the user's other sessions and
// access tokens.
// Errors: BAD_CREDENTIALS and NOT_ALLOWED (currentPassword), INVALID and TOO_LONG (newPassword),
// UNAUTHENTICATED (the account is deleted), RATE_LIMITED.
func (s *Service) ChangePassword(ctx context.Context, session social.Session, current, replacement string) error {
	c, err := s.confirm(ctx, session.User, "currentPassword", current)
	if err := fault.All(err, checkPassword("newPassword", replacement)); err != nil {
		return err
	}
	hash, err := s.hashes.Hash(ctx, passwords.Candidate{Password: replacement, Rank: c.rank})
	if err != nil {
		return err
	}
	err = s.store.SetPassword(ctx, social.PasswordChange{
		User: session.User, Handle: c.user.Handle, From: c.hash, To: hash, Keep: storedHash(session),
	})
	if errors.Is(err, social.ErrNotFound) { // another session has just changed it
		return errWrongPassword("currentPassword")
	}
	if err != nil {
		return err
	}
	s.record(ctx, Act{Kind: ActPasswordChanged, User: session.User, Handle: c.user.Handle})
	// A sign-in that compared the old password may have stored its session meanwhile. Either it is
	// here by now, or the sign-in finds the new hash (mustStillMatch).
	ctx, cancel := afterwards(ctx)
	defer cancel()
	err = s.store.EndSessions(ctx, session.User, storedHash(session), social.AllSessions)
	if errors.Is(err, social.ErrNotFound) { // this session has ended meanwhile
		return s.store.EndSessions(ctx, session.User, [32]byte{}, social.AllSessions)
	}
	return err
}
