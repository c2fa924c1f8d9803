package accounts

import (
	"context"
	"errors"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// Email returns the viewer's own e-mail addresses; zero if there are none.
func (s *Service) Email(ctx context.Context, viewer social.UserID) (social.Email, error) {
	return s.store.Email(ctx, viewer)
}

// SetEmail stores an e-mail address for the viewer, and sends a mail there that confirms it; nil
// removes the addresses. Errors: INVALID (email); BAD_CREDENTIALS and NOT_ALLOWED
// (currentPassword); UNAUTHENTICATED (the account is deleted); RATE_LIMITED.
func (s *Service) SetEmail(ctx context.Context, viewer social.UserID, address *string, password string) error {
	if address != nil {
		if err := social.CheckEmail("email", *address); err != nil {
			return err
		}
	}
	if _, err := s.confirm(ctx, viewer, "currentPassword", password); err != nil {
		return err
	}
	if address == nil {
		err := s.store.RemoveEmail(ctx, viewer)
		if err == nil {
			s.record(ctx, Act{Kind: ActEmailRemoved, User: viewer})
		}
		return err
	}
	if err := s.limits.Mail(viewer.String()); err != nil {
		return err
	}
	m := social.Mail{ID: social.MailID{ID: s.newID()}, Kind: social.MailConfirm, User: viewer, ExpiresAt: s.Moment().Add(confirmLifetime)}
	if err := s.store.SetEmail(ctx, viewer, *address, m); err != nil {
		return err
	}
	s.mailQueued()
	return nil
}

// ConfirmEmail confirms the address that a token was sent to, and returns it. Errors: INVALID
// (token); LIMIT_REACHED: five accounts have the address.
func (s *Service) ConfirmEmail(ctx context.Context, token string) (string, error) {
	hash := social.HashMailToken(token)
	t, err := s.store.MailToken(ctx, hash, social.MailConfirm, s.now())
	if errors.Is(err, social.ErrNotFound) {
		return "", errBadMailToken()
	}
	if err != nil {
		return "", err
	}
	if _, err := s.holder(ctx, t); err != nil {
		return "", err
	}
	sharers, err := s.store.UsersWithEmail(ctx, social.EmailKey(t.Address), maxSharers)
	if err != nil {
		return "", err
	}
	if len(sharers) >= maxSharers && !slices.Contains(sharers, t.User) {
		return "", fault.Errorf(fault.CodeLimitReached, "token", "%d accounts have this address, the maximum: remove it from one of them first.", maxSharers)
	}
	_, err = s.store.ConfirmEmail(ctx, hash, s.now())
	if errors.Is(err, social.ErrNotFound) {
		return "", errBadMailToken()
	}
	if err == nil {
		s.record(ctx, Act{Kind: ActEmailConfirmed, User: t.User})
	}
	return t.Address, err
}

// holder returns the user that a token was sent to. It refuses tokens of users who are gone, and of
// those who are banned, because they may change nothing.
func (s *Service) holder(ctx context.Context, t social.MailToken) (*social.User, error) {
	users, err := s.store.Users(ctx, []social.UserID{t.User})
	if err != nil {
		return nil, err
	}
	user := users[t.User]
	if user == nil || !social.CanSignIn(user.Standing) {
		return nil, errBadMailToken()
	}
	return user, nil
}

// errBadMailToken is the same for tokens that never were, were used, are replaced, or have expired.
func errBadMailToken() error {
	return fault.Invalidf("token", "This link is invalid, used or expired. Each link works once, and only the newest one works: request a new one.")
}
