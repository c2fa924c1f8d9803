package accounts

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
)

// IDToken is what a user of a provider signs in with.
type IDToken struct {
	// Verify returns what the provider says. Errors: refusals; social.ErrIssuerUnavailable.
	Verify func(context.Context) (social.Assertion, error)

	Invitation string // its code, for the first sign-in where registration is by invitation

	From string // the client, for passwords.Limits: its address
}

// SignInWith creates a session for a user of a provider. The token is returned only here. The first
// sign-in of a user creates the account, where registration is open, the provider may create
// accounts, or the user is invited. Errors: those of Verify; BAD_CREDENTIALS: an operator has signed
// the user out since the provider has; NOT_ALLOWED: there is no account and none is created, or it
// is deleted; BLANK (invitation); BANNED; RATE_LIMITED.
func (s *Service) SignInWith(ctx context.Context, in IDToken) (session social.Session, token string, err error) {
	act := Act{How: ByIDToken}
	defer func() { s.recordSignIn(ctx, act, session, err) }()
	attempt, err := s.limits.Token(in.From)
	if err != nil {
		return social.Session{}, "", err
	}
	defer func() { attempt.Over(err) }()
	a, err := in.Verify(ctx)
	if err != nil {
		return social.Session{}, "", err
	}
	act.Issuer = a.Issuer
	invitation, err := s.mayEnter(ctx, in, a)
	if err != nil {
		return social.Session{}, "", err
	}
	identity, err := s.identityOf(ctx, a, entrance{how: ByIDToken, invitation: invitation})
	if err != nil {
		return social.Session{}, "", asSignIn(err)
	}
	if session, token, err = s.newSession(ctx, identity.User); err != nil {
		return social.Session{}, "", asSignIn(err)
	}
	return session, token, s.mustStillAccept(ctx, identity.Key, a, session)
}

// mayEnter refuses a user without an account if none may be created, and returns the invitation that
// the account uses; zero: none. Errors: NOT_ALLOWED, BLANK (invitation), RATE_LIMITED.
func (s *Service) mayEnter(ctx context.Context, in IDToken, a social.Assertion) (invitation social.InvitationID, err error) {
	_, err = s.knownIdentity(ctx, social.KeyOfIdentity(a.Issuer, a.Subject))
	if !errors.Is(err, social.ErrNotFound) {
		return social.InvitationID{}, err
	}
	if !a.CreatesAccount {
		if invitation, err = s.mayRegister(ctx, in.Invitation); err != nil {
			return social.InvitationID{}, err
		}
	}
	_, err = s.limits.SignUp(in.From)
	return invitation, err
}

// asSignIn turns refusals of a token that a request brings along into those of a sign-in: front ends
// take UNAUTHENTICATED for the end of a session. What is wrong with the account keeps its message.
func asSignIn(err error) error {
	refused, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || refused.Code != fault.CodeUnauthenticated:
		return err
	case refused.Message == invalidToken:
		return social.ErrBadIDToken
	}
	return fault.Errorf(fault.CodeNotAllowed, "", "%s", refused.Message)
}

// mustStillAccept ends a new session if an operator has signed the user out meanwhile, who ends the
// sessions that are there: this one may have come later.
func (s *Service) mustStillAccept(ctx context.Context, key [32]byte, a social.Assertion, session social.Session) error {
	found, err := s.store.Identities(ctx, [][32]byte{key})
	if err != nil || found[key].Accepts(a.IssuedAt) {
		return err
	}
	if err := s.endSession(ctx, session); err != nil {
		return err
	}
	return social.ErrBadIDToken
}
