package accounts

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
	"plaza/social/passwords"
)

// ResetRequest asks for a link to set a new password.
type ResetRequest struct {
	Account string // a handle or an e-mail address
	From    string // the client, for passwords.Limits: its address
}

// RequestPasswordReset stores that a mail is to be sent. Whether there is such an account is found
// out later (SendMails), so that the answer and the work are the same. Errors: BLANK, TOO_LONG,
// INVALID (account); RATE_LIMITED.
func (s *Service) RequestPasswordReset(ctx context.Context, r ResetRequest) error {
	if err := fault.CheckLine("account", r.Account, 1, social.MaxEmailLen); err != nil {
		return err
	}
	if err := s.limits.Mail(r.From); err != nil {
		return err
	}
	m := social.Mail{ID: social.MailID{ID: s.newID()}, Kind: social.MailReset, Account: r.Account, ExpiresAt: s.Moment().Add(resetLifetime)}
	if err := s.store.QueueMail(ctx, m); err != nil {
		return err
	}
	s.mailQueued()
	return nil
}

// ResetPassword sets the password of the account that a token was sent for, ends all its sessions
// and access tokens, and returns its handle. Errors: INVALID (token); INVALID, BLANK and TOO_LONG
// (newPassword); RATE_LIMITED.
func (s *Service) ResetPassword(ctx context.Context, token, password string) (handle string, err error) {
	t, err := s.store.MailToken(ctx, social.HashMailToken(token), social.MailReset, s.now())
	if errors.Is(err, social.ErrNotFound) {
		err = errBadMailToken()
	}
	if err := fault.All(err, checkPassword("newPassword", password)); err != nil {
		return "", err
	}
	user, err := s.holder(ctx, t)
	if err != nil {
		return "", err
	}
	_, old, err := s.store.PasswordHash(ctx, user.Handle)
	if errors.Is(err, social.ErrNotFound) {
		err = errBadMailToken()
	}
	if err != nil {
		return "", err
	}
	hash, err := s.hashes.Hash(ctx, passwords.Candidate{Password: password, Rank: 0})
	if err != nil {
		return "", err
	}
	err = s.store.SetPassword(ctx, social.PasswordChange{User: t.User, Handle: user.Handle, From: old, To: hash, Reset: t.Hash, At: s.now()})
	if errors.Is(err, social.ErrNotFound) { // used, or the password changed, meanwhile
		return "", errBadMailToken()
	}
	if err != nil {
		return "", err
	}
	s.record(ctx, Act{Kind: ActPasswordReset, User: t.User, Handle: user.Handle})
	return user.Handle, s.endEverything(ctx, t.User) // as ChangePassword does
}
