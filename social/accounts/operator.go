package accounts

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
	"plaza/social/passwords"
)

// AddUser creates an account for an operator, without a session and without limits. The handle may
// be a reserved one, or that of a deleted account. Errors: INVALID, BLANK, TOO_LONG, TAKEN.
func (s *Service) AddUser(ctx context.Context, in SignUpInput) (*social.User, error) {
	user := social.UserID{ID: s.newID()}
	account, err := s.NewAccount(ctx, in, user)
	if err != nil {
		return nil, err
	}
	err = s.store.InsertUser(ctx, account, s.event(social.EventUserSignedUp, user))
	if errors.Is(err, social.ErrTaken) {
		return nil, errTaken()
	}
	if err == nil {
		s.record(ctx, Act{Kind: ActAccountCreated, User: user, Handle: account.User.Handle, Operator: true, How: ByPassword})
	}
	return &account.User, err
}

// ReplacePassword sets the password of the user with that handle, without the old one, and ends all
// their sessions. Errors: NOT_FOUND, BLANK, TOO_LONG, INVALID; CONFLICT: it has just been changed.
func (s *Service) ReplacePassword(ctx context.Context, handle, password string) (*social.User, error) {
	if err := checkPassword("password", password); err != nil {
		return nil, err
	}
	user, err := s.UserNamed(ctx, handle)
	if err != nil {
		return nil, err
	}
	_, old, err := s.store.PasswordHash(ctx, user.Handle)
	if errors.Is(err, social.ErrNotFound) {
		return nil, errNoUser()
	}
	if err != nil {
		return nil, err
	}
	hash, err := s.hashes.Hash(ctx, passwords.Candidate{Password: password, Rank: 0})
	if err != nil {
		return nil, err
	}
	err = s.store.SetPassword(ctx, social.PasswordChange{User: user.ID, Handle: user.Handle, From: old, To: hash})
	if errors.Is(err, social.ErrNotFound) {
		return nil, fault.Errorf(fault.CodeConflict, "password", "The password was changed concurrently; try again.")
	}
	if err != nil {
		return nil, err
	}
	s.record(ctx, Act{Kind: ActPasswordReplaced, User: user.ID, Handle: user.Handle, Operator: true})
	return user, s.endEverything(ctx, user.ID) // as ChangePassword does
}

// EndAllSessions signs the user with that handle out everywhere: it ends their sessions, and the
// tokens that other sites have issued so far. Error: NOT_FOUND.
func (s *Service) EndAllSessions(ctx context.Context, handle string) (*social.User, error) {
	user, err := s.UserNamed(ctx, handle)
	if err != nil {
		return nil, err
	}
	err = s.endEverything(ctx, user.ID)
	if err == nil {
		s.record(ctx, Act{Kind: ActAllRevoked, User: user.ID, Handle: user.Handle, Operator: true})
	}
	return user, err
}

// AllUsers lists all users by name, for an operator: a page of at most p.Limit, and the cursor of
// its last user.
func (s *Service) AllUsers(ctx context.Context, p social.Page) ([]*social.User, social.Key, error) {
	users, err := s.store.UsersNamed(ctx, "", p)
	if err != nil || len(users) == 0 {
		return nil, "", err
	}
	last := users[len(users)-1]
	return users, social.Key(social.NameOrder(last.Name, last.ID)), nil
}
