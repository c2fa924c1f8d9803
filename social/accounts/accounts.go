package accounts

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
	"plaza/social/passwords"
)

// SignUpInput describes a new account.
type SignUpInput struct {
	Handle, Name, Password string

	Invitation string // its code, where registration is by invitation

	From string // the client, for passwords.Limits: its address
}

// NewAccount checks the input and builds the user and circle that InsertUser and ImportUsers store.
// Its ids carry the user's creation time. The handle may be reserved: only operators call this.
func (s *Service) NewAccount(ctx context.Context, in SignUpInput, user social.UserID) (social.NewUser, error) {
	if err := in.check(); err != nil {
		return social.NewUser{}, err
	}
	return s.newAccount(ctx, in, user, 0)
}

// newAccount is NewAccount for valid input, with a rank in the queue for hashes.
func (s *Service) newAccount(ctx context.Context, in SignUpInput, user social.UserID, rank int) (social.NewUser, error) {
	handle, _ := social.NormalHandle(in.Handle)
	hash, err := s.hashes.Hash(ctx, passwords.Candidate{Password: in.Password, Rank: rank})
	if err != nil {
		return social.NewUser{}, err
	}
	return social.NewUser{
		User:         social.User{ID: user, Handle: handle, Name: in.Name, WallPolicy: social.WallEveryone},
		PasswordHash: hash,
		Following:    social.NewBuiltInCircle(user),
	}, nil
}

func (in *SignUpInput) check() error {
	var malformed error
	if _, ok := social.NormalHandle(in.Handle); !ok {
		malformed = fault.Invalidf("handle", "A handle has 1 to %d letters (a–z), digits or underscores.", social.MaxHandleLen)
	}
	return fault.All(
		malformed,
		fault.CheckLine("name", in.Name, 1, social.MaxNameLen),
		checkPassword("password", in.Password),
	)
}

// checkHandle reports an unavailable handle together with the other errors of the input.
// Errors: RESERVED, TAKEN.
func (s *Service) checkHandle(ctx context.Context, handle string) error {
	if err := checkReserved(handle); err != nil {
		return err
	}
	normal, _ := social.NormalHandle(handle)
	users, err := s.store.UsersByHandle(ctx, []string{normal})
	if err != nil {
		return err
	}
	kept, err := s.store.IsHandleKept(ctx, normal, s.now())
	if err == nil && (kept || users[normal] != nil) {
		err = errTaken()
	}
	return err
}

func errTaken() error { return fault.Errorf(fault.CodeTaken, "handle", "This handle is taken.") }

// SignUp creates an account and signs in. The token is returned only here. Errors: INVALID, BLANK,
// TOO_LONG, RESERVED, TAKEN, RATE_LIMITED; alone, whatever else is wrong, NOT_ALLOWED: registration
// is closed, or the invitation is not valid.
func (s *Service) SignUp(ctx context.Context, in SignUpInput) (session social.Session, token string, err error) {
	invitation, err := s.mayRegister(ctx, in.Invitation)
	if err != nil {
		return social.Session{}, "", err
	}
	if err := in.check(); err != nil {
		return social.Session{}, "", fault.All(err, s.checkHandle(ctx, in.Handle))
	}
	if err := checkReserved(in.Handle); err != nil {
		return social.Session{}, "", err
	}
	rank, err := s.limits.SignUp(in.From)
	if err != nil {
		return social.Session{}, "", err
	}
	user := social.UserID{ID: s.newID()}
	account, err := s.newAccount(ctx, in, user, rank)
	if err != nil {
		return social.Session{}, "", err
	}
	account.At, account.Invitation = s.now(), invitation
	err = s.store.InsertUser(ctx, account, s.event(social.EventUserSignedUp, user))
	switch {
	case errors.Is(err, social.ErrTaken):
		return social.Session{}, "", errTaken()
	case errors.Is(err, social.ErrInvitationOver):
		return social.Session{}, "", errInvitationOver()
	case err != nil:
		return social.Session{}, "", err
	}
	s.record(ctx, Act{Kind: ActAccountCreated, User: user, Handle: account.User.Handle, How: ByPassword, Invitation: invitation})
	session, token, err = s.newSession(ctx, user)
	s.recordSignIn(ctx, Act{How: ByPassword, Handle: account.User.Handle}, session, err)
	return session, token, err
}

// Credentials are what someone signs in with.
type Credentials struct {
	Handle, Password string

	From string // the client, for passwords.Limits: its address
}

// SignIn creates a session. The token is returned only here. Errors: BAD_CREDENTIALS, which takes
// as long for an unknown handle as for a wrong password; BANNED, only with the right password;
// RATE_LIMITED.
func (s *Service) SignIn(ctx context.Context, in Credentials) (session social.Session, token string, err error) {
	act := Act{How: ByPassword}
	defer func() { s.recordSignIn(ctx, act, session, err) }()
	attempt, err := s.limits.Attempt(in.From, in.Handle)
	if err != nil {
		return social.Session{}, "", err
	}
	defer func() { attempt.Over(err) }()
	var hash string
	if normal, ok := social.NormalHandle(in.Handle); ok {
		act.User, hash, err = s.store.PasswordHash(ctx, normal)
		if err != nil && !errors.Is(err, social.ErrNotFound) {
			return social.Session{}, "", err
		}
		if err == nil { // the text that someone else has typed may be a password
			act.Handle = normal
		}
	}
	matches, err := s.passwordMatches(ctx, passwords.Candidate{Password: in.Password, Rank: attempt.Rank}, hash)
	if err != nil {
		return social.Session{}, "", err
	}
	if !matches {
		return social.Session{}, "", errBadCredentials()
	}
	if session, token, err = s.newSession(ctx, act.User); err != nil {
		return social.Session{}, "", err
	}
	return session, token, s.mustStillMatch(ctx, in.Handle, hash, session)
}

// mustStillMatch ends a new session if the password has been changed since it was compared:
// ChangePassword ends the sessions that it finds, and this one may have been stored later.
func (s *Service) mustStillMatch(ctx context.Context, handle, hash string, session social.Session) error {
	normal, _ := social.NormalHandle(handle)
	_, now, err := s.store.PasswordHash(ctx, normal)
	if err == nil && now == hash {
		return nil
	}
	if err != nil && !errors.Is(err, social.ErrNotFound) {
		return err
	}
	if err := s.endSession(ctx, session); err != nil {
		return err
	}
	return errBadCredentials()
}

func errBadCredentials() error {
	return fault.Errorf(fault.CodeBadCredentials, "", "The handle is unknown or the password is wrong.")
}

// passwordMatches compares a password with its hash. A password above the length limit takes as
// long as any other.
func (s *Service) passwordMatches(ctx context.Context, c passwords.Candidate, hash string) (bool, error) {
	const longest = 4 * social.MaxPasswordLen // bytes
	tooLong := len(c.Password) > longest
	c.Password = c.Password[:min(len(c.Password), longest)]
	matches, err := s.hashes.Matches(ctx, c, hash)
	return matches && !tooLong, err
}

// WaitingPasswords returns how many passwords are waiting to be hashed.
func (s *Service) WaitingPasswords() int { return s.hashes.Waiting() }

func checkPassword(argument, password string) error {
	return fault.CheckText(argument, password, social.MinPasswordLen, social.MaxPasswordLen)
}
