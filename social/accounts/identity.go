package accounts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"plaza/fault"
	"plaza/social"
)

// AuthenticateAs returns the session of a token that the issuer of an assertion has issued. The
// first token of an identity creates the account, also where registration is closed: operators have
// chosen the issuer. Errors: UNAUTHENTICATED: the token's user is signed out since it was issued, or
// has deleted the account, or is banned. A token that was issued after the account was deactivated
// reactivates it.
func (s *Service) AuthenticateAs(ctx context.Context, token string, a social.Assertion) (social.Session, error) {
	identity, err := s.identityOf(ctx, a, entrance{how: ByIssuedToken})
	if err != nil {
		return social.Session{}, asInvalid(err)
	}
	session := social.Session{
		TokenHash: social.HashToken(token), User: identity.User, ExpiresAt: a.ExpiresAt, CreatedAt: a.IssuedAt, Identity: identity.Key,
	}
	if s.audit != nil && s.seen.add(session.TokenHash) {
		s.record(ctx, Act{Kind: ActSignedIn, User: identity.User, How: ByIssuedToken, Issuer: a.Issuer})
	}
	return session, nil
}

// entrance says how a user of another site arrives, possibly for the first time.
type entrance struct {
	how        string              // ByIDToken, …
	invitation social.InvitationID // that creates the account; zero: it needs none
}

// identityOf returns the identity of an assertion, which accepts its token. Errors: UNAUTHENTICATED,
// BANNED, NOT_ALLOWED (invitation).
func (s *Service) identityOf(ctx context.Context, a social.Assertion, by entrance) (identity social.Identity, err error) {
	defer func() { s.logRefusal(ctx, a, err) }()
	key := social.KeyOfIdentity(a.Issuer, a.Subject)
	identity, err = s.knownIdentity(ctx, key)
	if errors.Is(err, social.ErrNotFound) {
		_, err, _ = s.sighting.Do(string(key[:]), func() (any, error) { // requests that come together try once
			return nil, s.addIdentity(context.WithoutCancel(ctx), key, a, by)
		})
		if err != nil {
			return social.Identity{}, err
		}
		identity, err = s.knownIdentity(ctx, key)
	}
	switch {
	case err != nil:
		return social.Identity{}, err
	case identity.User.IsZero():
		return social.Identity{}, social.ErrAccountGone
	case identity.Away:
		return s.comeBack(ctx, identity, a)
	case !identity.Accepts(a.IssuedAt):
		return social.Identity{}, errInvalidToken()
	}
	return identity, nil
}

// logRefusal logs why a token is refused that its issuer vouches for, as the package issuer does for
// all others. The record names neither the user nor anything of the token.
func (s *Service) logRefusal(ctx context.Context, a social.Assertion, err error) {
	refused, ok := errors.AsType[*fault.Error](err)
	var reason string
	switch {
	case !ok:
		return
	case errors.Is(err, social.ErrAccountGone):
		reason = "of a deleted account"
	case refused.Code == fault.CodeBanned:
		reason = "of a banned account"
	case refused.Message == invalidToken:
		reason = "issued before the user was signed out or left, or at an unknown time"
	default:
		return
	}
	s.logger.DebugContext(ctx, "a token of the issuer was refused", "issuer", a.Issuer, "reason", reason)
}

// comeBack returns the identity of an account that is away, after the token has reactivated it.
func (s *Service) comeBack(ctx context.Context, identity social.Identity, a social.Assertion) (social.Identity, error) {
	if err := s.refuseBanned(ctx, identity.User); err != nil {
		return social.Identity{}, err
	}
	if !identity.IsCurrent(a.IssuedAt) {
		return social.Identity{}, errInvalidToken()
	}
	if err := s.admit(ctx, identity.User); err != nil {
		return social.Identity{}, err
	}
	back, err := s.knownIdentity(ctx, identity.Key)
	if err == nil && !back.Accepts(a.IssuedAt) {
		err = errInvalidToken()
	}
	return back, err
}

// asInvalid makes the error of a banned user that of a token that is not valid, with its message.
func asInvalid(err error) error {
	if banned, ok := errors.AsType[*fault.Error](err); ok && banned.Code == fault.CodeBanned {
		return fault.Errorf(fault.CodeUnauthenticated, "", "%s", banned.Message)
	}
	return err
}

func (s *Service) knownIdentity(ctx context.Context, key [32]byte) (social.Identity, error) {
	found, err := s.people.Identities(ctx, [][32]byte{key})
	if err != nil {
		return social.Identity{}, err
	}
	identity, ok := found[key]
	if !ok {
		return social.Identity{}, social.ErrNotFound
	}
	return identity, nil
}

// addIdentity creates the account of an identity that is seen for the first time, if no concurrent
// call does.
func (s *Service) addIdentity(ctx context.Context, key [32]byte, a social.Assertion, by entrance) error {
	handles := handlesFor(a.Handle, key)
	for _, handle := range handles {
		user := social.UserID{ID: s.newID()}
		err := s.store.InsertUser(ctx, social.NewUser{
			User: social.User{
				ID: user, Handle: handle, Name: nameFor(a.Name, handle), AvatarURL: avatarFor(a.AvatarURL), WallPolicy: social.WallEveryone,
			},
			Following:  social.NewBuiltInCircle(user),
			Identity:   key,
			Invitation: by.invitation,
			At:         s.now(),
		}, s.event(social.EventUserSignedUp, user))
		switch {
		case err == nil:
			s.record(ctx, Act{Kind: ActAccountCreated, User: user, Handle: handle, How: by.how, Issuer: a.Issuer, Invitation: by.invitation})
			return nil
		case errors.Is(err, social.ErrIdentityKnown):
			return nil
		case errors.Is(err, social.ErrInvitationOver):
			return errInvitationOver()
		case !errors.Is(err, social.ErrTaken):
			return err
		}
	}
	return fmt.Errorf("all %d handles for a new user are taken", len(handles))
}

// LiveTokens returns the hashes of the tokens of other sites that are still valid, in any order.
func (s *Service) LiveTokens(ctx context.Context, sessions []social.Session) ([][32]byte, error) {
	keys := map[[32]byte]struct{}{}
	for i := range sessions {
		keys[sessions[i].Identity] = struct{}{}
	}
	identities, err := s.store.Identities(ctx, slices.Collect(maps.Keys(keys)))
	var live [][32]byte
	for _, session := range sessions {
		if identities[session.Identity].Accepts(session.CreatedAt) && session.ExpiresAt.After(s.now()) {
			live = append(live, session.TokenHash)
		}
	}
	return live, err
}

// isLive reports whether a session, of any kind of token, is still valid.
func (s *Service) isLive(ctx context.Context, session social.Session) (bool, error) {
	if session.IsIssued() {
		live, err := s.LiveTokens(ctx, []social.Session{session})
		return len(live) > 0, err
	}
	_, err := s.store.Session(ctx, session.TokenHash, s.now())
	if errors.Is(err, social.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// endEverything ends all tokens of a user that other sites have issued up to now, and all sessions.
// The clock of a site may be ahead, so a token may have been issued although its time has not come:
// tokens of the next ClockLeeway end, too.
//
// The tokens come first: an access token that one of them is creating is either among the sessions
// by then, or its creation finds that the token has ended (mustStillBeValid).
func (s *Service) endEverything(ctx context.Context, user social.UserID) error {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	return errors.Join(
		s.store.EndIdentities(ctx, user, s.Moment().Truncate(time.Second).Add(social.ClockLeeway)),
		s.store.EndSessions(ctx, user, [32]byte{}, social.AllSessions),
	)
}

// ReadmitIdentity readmits a user of an issuer whose account here was deleted: the next token
// creates another one. Error: NOT_FOUND: no account of this user was deleted.
func (s *Service) ReadmitIdentity(ctx context.Context, issuer, subject string) error {
	err := s.store.ReadmitIdentity(ctx, social.KeyOfIdentity(issuer, subject))
	if errors.Is(err, social.ErrNotFound) {
		return fault.Errorf(fault.CodeNotFound, "", "No account of this user of %s was deleted here.", issuer)
	}
	if err == nil {
		s.record(ctx, Act{Kind: ActUserReadmitted, Operator: true, Issuer: issuer})
	}
	return err
}
