package social

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"plaza/fault"
	"plaza/id"
)

// SignUpInput describes a new account.
type SignUpInput struct {
	Handle, Name, Password string

	From string // the client, for SignInLimits: its address
}

// NewAccount checks the input and builds the user and circle that InsertUser and ImportUsers store.
// Its ids carry the user's creation time. The handle may be a reserved one: operators decide here.
func (s *Service) NewAccount(ctx context.Context, in SignUpInput, user UserID) (NewUser, error) {
	if err := in.check(); err != nil {
		return NewUser{}, err
	}
	return s.newAccount(ctx, in, user, 0)
}

// newAccount is NewAccount with correct input, and a rank in the queue for hashes.
func (s *Service) newAccount(ctx context.Context, in SignUpInput, user UserID, rank int) (NewUser, error) {
	handle, _ := normalHandle(in.Handle)
	hash, err := s.hashes.hash(ctx, candidate{in.Password, rank})
	if err != nil {
		return NewUser{}, err
	}
	return NewUser{
		User:         User{ID: user, Handle: handle, Name: in.Name, WallPolicy: WallEveryone},
		PasswordHash: hash,
		Following:    Circle{ID: CircleID{id.At(user.Time())}, Owner: user, Name: DefaultCircleName, IsDefault: true},
	}, nil
}

func (in *SignUpInput) check() error {
	var malformed error
	if _, ok := normalHandle(in.Handle); !ok {
		malformed = fault.Invalidf("handle", "A handle has 1 to %d letters (a–z), digits or underscores.", MaxHandleLen)
	}
	return fault.All(
		malformed,
		fault.CheckLine("name", in.Name, 1, MaxNameLen),
		checkPassword("password", in.Password),
	)
}

// checkHandle reports a handle that is not available together with the other errors of the input.
// Errors: RESERVED, TAKEN.
func (s *Service) checkHandle(ctx context.Context, handle string) error {
	if err := checkReserved(handle); err != nil {
		return err
	}
	normal, _ := normalHandle(handle)
	users, err := s.store.UsersByHandle(ctx, []string{normal})
	if err == nil && users[normal] != nil {
		err = errTaken()
	}
	return err
}

// AcceptsSignUps reports whether registration is open.
func (s *Service) AcceptsSignUps() bool { return !s.noSignUp }

func errTaken() error { return fault.Errorf(fault.CodeTaken, "handle", "This handle is taken.") }

// SignUp creates an account and signs in. The token is returned only here. Errors: INVALID, BLANK,
// TOO_LONG, RESERVED, TAKEN, RATE_LIMITED; NOT_ALLOWED: registration is closed.
func (s *Service) SignUp(ctx context.Context, in SignUpInput) (session Session, token string, err error) {
	if s.noSignUp {
		return Session{}, "", fault.Errorf(fault.CodeNotAllowed, "", "Registration is closed: ask those who run this site for an account.")
	}
	if err := in.check(); err != nil {
		return Session{}, "", fault.All(err, s.checkHandle(ctx, in.Handle))
	}
	if err := checkReserved(in.Handle); err != nil {
		return Session{}, "", err
	}
	rank, err := s.limits.signUp(in.From)
	if err != nil {
		return Session{}, "", err
	}
	user := UserID{s.newID()}
	account, err := s.newAccount(ctx, in, user, rank)
	if err != nil {
		return Session{}, "", err
	}
	err = s.store.InsertUser(ctx, account, s.event(EventUserSignedUp, user))
	if errors.Is(err, ErrTaken) {
		return Session{}, "", errTaken()
	}
	if err != nil {
		return Session{}, "", err
	}
	return s.newSession(ctx, user)
}

// Credentials are what someone signs in with.
type Credentials struct {
	Handle, Password string

	From string // the client, for SignInLimits: its address
}

// SignIn creates a session. The token is returned only here. Errors: BAD_CREDENTIALS, which takes as
// long for an unknown handle as for a wrong password; RATE_LIMITED.
func (s *Service) SignIn(ctx context.Context, in Credentials) (session Session, token string, err error) {
	attempt, err := s.limits.attempt(in.From, in.Handle)
	if err != nil {
		return Session{}, "", err
	}
	var user UserID
	var hash string
	if normal, ok := normalHandle(in.Handle); ok {
		user, hash, err = s.store.PasswordHash(ctx, normal)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return Session{}, "", err
		}
	}
	matches, err := s.passwordMatches(ctx, candidate{in.Password, attempt.rank}, hash)
	if err != nil {
		return Session{}, "", err
	}
	if !matches {
		return Session{}, "", errBadCredentials()
	}
	attempt.succeeded()
	if session, token, err = s.newSession(ctx, user); err != nil {
		return Session{}, "", err
	}
	return session, token, s.mustStillMatch(ctx, in.Handle, hash, session)
}

// mustStillMatch ends a new session if the password has been changed since it was compared:
// ChangePassword ends the sessions that it finds, and this one may have come later.
func (s *Service) mustStillMatch(ctx context.Context, handle, hash string, session Session) error {
	normal, _ := normalHandle(handle)
	_, now, err := s.store.PasswordHash(ctx, normal)
	if err == nil && now == hash {
		return nil
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := s.SignOut(ctx, session); err != nil {
		return err
	}
	return errBadCredentials()
}

func errBadCredentials() error {
	return fault.Errorf(fault.CodeBadCredentials, "", "The handle is unknown or the password is wrong.")
}

// passwordMatches compares a password with its hash. A password above the length limit takes as
// long as any other.
func (s *Service) passwordMatches(ctx context.Context, c candidate, hash string) (bool, error) {
	const longest = 4 * MaxPasswordLen // bytes
	tooLong := len(c.password) > longest
	c.password = c.password[:min(len(c.password), longest)]
	matches, err := s.hashes.matches(ctx, c, hash)
	return matches && !tooLong, err
}

// WaitingPasswords is how many passwords wait for their hash.
func (s *Service) WaitingPasswords() int { return s.hashes.waiting() }

var handlePattern = regexp.MustCompile(`^[A-Za-z0-9_]{1,30}$`)

// normalHandle returns the stored form of a handle, and false if it is not valid.
func normalHandle(text string) (string, bool) {
	return strings.ToLower(text), handlePattern.MatchString(text)
}

// ProfileChange holds the changes of a profile; nil fields are not changed.
type ProfileChange struct {
	Name, Bio, AvatarURL *string
	WallPolicy           *WallPolicy
}

// UpdateProfile changes the viewer's profile. Errors: INVALID, BLANK, TOO_LONG.
func (s *Service) UpdateProfile(ctx context.Context, viewer UserID, change ProfileChange) error {
	if err := change.check(); err != nil {
		return err
	}
	err := s.store.UpdateProfile(ctx, viewer, change, s.event(EventProfileUpdated, viewer))
	if errors.Is(err, ErrNotFound) {
		return ErrAccountGone
	}
	return err
}

func (c ProfileChange) check() error {
	var name, bio, avatar error
	if c.Name != nil {
		name = fault.CheckLine("name", *c.Name, 1, MaxNameLen)
	}
	if c.Bio != nil {
		bio = fault.CheckText("bio", *c.Bio, 0, MaxBioLen)
	}
	if c.AvatarURL != nil && *c.AvatarURL != "" {
		avatar = fault.CheckURL("avatarUrl", *c.AvatarURL)
	}
	return fault.All(name, bio, avatar)
}
