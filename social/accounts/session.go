package accounts

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"plaza/fault"
	"plaza/social"
)

// newSession signs a user in, which reactivates an account that its owner has deactivated. Error:
// BANNED.
func (s *Service) newSession(ctx context.Context, user social.UserID) (session social.Session, token string, err error) {
	token = randomToken()
	now := s.Moment()
	session = social.Session{TokenHash: social.HashToken(token), User: user, ExpiresAt: now.Add(social.SessionLifetime), CreatedAt: now, UsedAt: now}
	if err := s.admit(ctx, user); err != nil {
		return social.Session{}, "", err
	}
	if err := s.store.InsertSession(ctx, session); err != nil {
		return social.Session{}, "", err
	}
	return session, token, s.mustStillBeActive(ctx, session)
}

func randomToken() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand.Read
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// useInterval is the precision of a session's last use.
const useInterval = time.Hour

// noteUse records that a session is in use, at most once in useInterval, and extends a sign-in to
// SessionLifetime from now, up to MaxSessionLifetime altogether.
func (s *Service) noteUse(ctx context.Context, session social.Session) error {
	now := s.Moment()
	if now.Sub(session.UsedAt) < useInterval {
		return nil
	}
	expires := session.ExpiresAt
	if session.Grant == nil && !session.CreatedAt.IsZero() {
		expires = now.Add(social.SessionLifetime)
		if latest := session.CreatedAt.Add(social.MaxSessionLifetime); expires.After(latest) {
			expires = latest
		}
	}
	_, err, _ := s.using.Do(string(session.TokenHash[:]), func() (any, error) { // requests that come together write once
		return nil, s.store.UseSession(ctx, session.TokenHash, now, expires)
	})
	return err
}

// Authenticate returns the session of a token. Error: UNAUTHENTICATED.
func (s *Service) Authenticate(ctx context.Context, token string) (social.Session, error) {
	session, err := s.people.Session(ctx, social.HashToken(token), s.now())
	if errors.Is(err, social.ErrNotFound) {
		return social.Session{}, errInvalidToken()
	}
	if err == nil {
		_ = s.noteUse(ctx, session) // requests still work if the database is full
	}
	return session, err
}

const invalidToken = "The token is not valid: sign in again."

func errInvalidToken() error {
	return fault.Errorf(fault.CodeUnauthenticated, "", "%s", invalidToken)
}

// LiveSessions returns those of the sessions that are still valid, in any order.
func (s *Service) LiveSessions(ctx context.Context, tokenHashes [][32]byte) ([][32]byte, error) {
	return s.store.LiveSessions(ctx, tokenHashes, s.now())
}

// SignOut invalidates a session's token. Error: NOT_ALLOWED: another site has issued it.
func (s *Service) SignOut(ctx context.Context, session social.Session) error {
	if session.IsIssued() {
		return fault.Errorf(fault.CodeNotAllowed, "", "Another site has signed you in: sign out there.")
	}
	err := s.endSession(ctx, session)
	if err == nil {
		s.record(ctx, endOf(ActSignedOut, session))
	}
	return err
}

// endOf is the end of a session, or of an access token.
func endOf(kind ActKind, session social.Session) Act {
	if session.Grant != nil {
		return Act{Kind: ActAccessTokenRevoked, User: session.User, AccessToken: session.AccessTokenID()}
	}
	return Act{Kind: kind, User: session.User, Session: session.ID()}
}

// endSession invalidates the token of a stored session.
func (s *Service) endSession(ctx context.Context, session social.Session) error {
	e := s.event(social.EventSessionEnded, session.User)
	e.Session = session.TokenHash
	return s.store.DeleteSession(ctx, session.TokenHash, e)
}

// maxSessions is how many sessions a user sees.
const maxSessions = 100

// Sessions returns a user's sessions, the newest first, at most 100.
func (s *Service) Sessions(ctx context.Context, user social.UserID) ([]social.Session, error) {
	sessions, err := s.signIns(ctx, user)
	slices.SortFunc(sessions, func(a, b social.Session) int { return b.Began().Compare(a.Began()) })
	return sessions[:min(len(sessions), maxSessions)], err
}

// storedHash is a session's hash, as EndSessions keeps it: zero if the session is not stored.
func storedHash(session social.Session) [32]byte {
	if session.IsIssued() {
		return [32]byte{}
	}
	return session.TokenHash
}

func (s *Service) signIns(ctx context.Context, user social.UserID) ([]social.Session, error) {
	sessions, err := s.store.SessionsOf(ctx, user, s.now())
	return slices.DeleteFunc(sessions, func(session social.Session) bool { return session.Grant != nil }), err
}

// RevokeSession ends a session of a user, and returns it. Error: NOT_FOUND, also for a session of
// another user, and one that has ended.
func (s *Service) RevokeSession(ctx context.Context, user social.UserID, which social.SessionID) (social.Session, error) {
	sessions, err := s.signIns(ctx, user)
	if err != nil {
		return social.Session{}, err
	}
	i := slices.IndexFunc(sessions, func(session social.Session) bool { return session.ID() == which })
	if i < 0 {
		return social.Session{}, fault.NotFound("sessionId", "session")
	}
	return sessions[i], s.revoke(ctx, sessions[i])
}

// revoke ends a session or an access token of its user.
func (s *Service) revoke(ctx context.Context, session social.Session) error {
	err := s.endSession(ctx, session)
	if err == nil {
		s.record(ctx, endOf(ActSessionRevoked, session))
	}
	return err
}

// RevokeOtherSessions ends all sign-ins of a session's user but this one. Error: UNAUTHENTICATED if
// this one has just ended: it may have been stolen, and must not end the session that ended it.
// Tokens of other sites are not sessions here, and remain valid.
func (s *Service) RevokeOtherSessions(ctx context.Context, session social.Session) error {
	err := s.store.EndSessions(ctx, session.User, storedHash(session), social.SignIns)
	if errors.Is(err, social.ErrNotFound) {
		return errInvalidToken()
	}
	if err == nil {
		s.record(ctx, Act{Kind: ActOthersRevoked, User: session.User})
	}
	return err
}
