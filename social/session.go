package social

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"plaza/fault"
	"plaza/id"
)

// Session is one sign-in, or the use of an access token. Only the SHA-256 of its token is stored.
type Session struct {
	TokenHash [32]byte
	User      UserID
	ExpiresAt time.Time
	CreatedAt time.Time // zero: by a version that did not store it, SessionLifetime before it expires
	UsedAt    time.Time // to within an hour; zero: never, or by such a version
	Grant     *Grant    // nil: a sign-in
}

// ID is derived from the token's hash, and does not reveal it.
func (s Session) ID() SessionID {
	sum := sha256.Sum256(append([]byte("session id "), s.TokenHash[:]...))
	return SessionID{id.ID(sum[:len(id.ID{})])}
}

// Began is when the user signed in.
func (s Session) Began() time.Time {
	if s.CreatedAt.IsZero() {
		return s.ExpiresAt.Add(-SessionLifetime)
	}
	return s.CreatedAt
}

// LastUse is when the session was used last.
func (s Session) LastUse() time.Time {
	if s.UsedAt.IsZero() {
		return s.Began()
	}
	return s.UsedAt
}

// Sessions stores sign-ins.
type Sessions interface {
	// InsertSession stores s.
	InsertSession(ctx context.Context, s Session) error
	// Session reads by the token's hash. ErrNotFound: unknown, deleted, or expired by
	// now: a session is valid until ExpiresAt, and not at that time.
	Session(ctx context.Context, tokenHash [32]byte, now time.Time) (Session, error)
	// LiveSessions returns the hashes of the sessions that exist and have not expired by now, in any
	// order.
	LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error)
	// SessionsOf returns a user's sessions that have not expired by now, in any order.
	SessionsOf(ctx context.Context, user UserID, now time.Time) ([]Session, error)
	// DeleteSession removes it and appends the event; no error if it is already deleted.
	DeleteSession(ctx context.Context, tokenHash [32]byte, e Event) error
	// EndSessions deletes a user's sessions except the one to keep (zero: all of them), each with
	// its own event. ErrNotFound: the one to keep has been deleted; then the others stay, too.
	EndSessions(ctx context.Context, user UserID, keep [32]byte, which SessionKinds) error
	// UseSession stores when a session was used last, and when it will expire; no error if it is
	// deleted.
	UseSession(ctx context.Context, tokenHash [32]byte, at, expires time.Time) error
}

// SessionKinds are kinds of sessions.
type SessionKinds int

// The kinds of sessions that EndSessions ends.
const (
	AllSessions SessionKinds = iota
	SignIns                  // access tokens stay
)

func (s *Service) newSession(ctx context.Context, user UserID) (session Session, token string, err error) {
	token = randomToken()
	now := s.moment()
	session = Session{TokenHash: HashToken(token), User: user, ExpiresAt: now.Add(SessionLifetime), CreatedAt: now, UsedAt: now}
	if err := s.store.InsertSession(ctx, session); err != nil {
		return Session{}, "", err
	}
	return session, token, nil
}

func randomToken() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand.Read
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// useInterval is how precisely the last use of a session is known.
const useInterval = time.Hour

// noteUse stores that a session is in use, at most once in useInterval, and lets a sign-in last
// SessionLifetime from now, at most MaxSessionLifetime altogether.
func (s *Service) noteUse(ctx context.Context, session Session) error {
	now := s.moment()
	if now.Sub(session.UsedAt) < useInterval {
		return nil
	}
	expires := session.ExpiresAt
	if session.Grant == nil && !session.CreatedAt.IsZero() {
		expires = now.Add(SessionLifetime)
		if latest := session.CreatedAt.Add(MaxSessionLifetime); expires.After(latest) {
			expires = latest
		}
	}
	_, err, _ := s.using.Do(string(session.TokenHash[:]), func() (any, error) { // requests that come together write once
		return nil, s.store.UseSession(ctx, session.TokenHash, now, expires)
	})
	return err
}

// HashToken returns the stored form of a bearer token. Tokens have 256 random bits, so a plain
// SHA-256 is enough.
func HashToken(token string) [32]byte {
	if strings.HasPrefix(token, AccessTokenStart) {
		return hashAccessToken(token)
	}
	return sha256.Sum256([]byte(token))
}

// Authenticate returns the session of a token. Error: UNAUTHENTICATED.
func (s *Service) Authenticate(ctx context.Context, token string) (Session, error) {
	session, err := s.people.Session(ctx, HashToken(token), s.now())
	if errors.Is(err, ErrNotFound) {
		return Session{}, errInvalidToken()
	}
	if err == nil {
		_ = s.noteUse(ctx, session) // where the database is full, requests go on
	}
	return session, err
}

func errInvalidToken() error {
	return fault.Errorf(fault.CodeUnauthenticated, "", "The token is not valid: sign in again.")
}

// LiveSessions returns those of the sessions that are still valid, in any order.
func (s *Service) LiveSessions(ctx context.Context, tokenHashes [][32]byte) ([][32]byte, error) {
	return s.store.LiveSessions(ctx, tokenHashes, s.now())
}

// SignOut invalidates a session's token.
func (s *Service) SignOut(ctx context.Context, session Session) error {
	e := s.event(EventSessionEnded, session.User)
	e.Session = session.TokenHash
	return s.store.DeleteSession(ctx, session.TokenHash, e)
}

// maxSessions is how many sessions a user sees.
const maxSessions = 100

// Sessions returns a user's sessions, the newest first, at most 100.
func (s *Service) Sessions(ctx context.Context, user UserID) ([]Session, error) {
	sessions, err := s.signIns(ctx, user)
	slices.SortFunc(sessions, func(a, b Session) int { return b.Began().Compare(a.Began()) })
	return sessions[:min(len(sessions), maxSessions)], err
}

func (s *Service) signIns(ctx context.Context, user UserID) ([]Session, error) {
	sessions, err := s.store.SessionsOf(ctx, user, s.now())
	return slices.DeleteFunc(sessions, func(session Session) bool { return session.Grant != nil }), err
}

// RevokeSession ends a session of a user, and returns it. Error: NOT_FOUND, also for a session of
// another user, and one that has ended.
func (s *Service) RevokeSession(ctx context.Context, user UserID, which SessionID) (Session, error) {
	sessions, err := s.signIns(ctx, user)
	if err != nil {
		return Session{}, err
	}
	i := slices.IndexFunc(sessions, func(session Session) bool { return session.ID() == which })
	if i < 0 {
		return Session{}, fault.NotFound("sessionId", "session")
	}
	return sessions[i], s.SignOut(ctx, sessions[i])
}

// RevokeOtherSessions ends all sign-ins of a session's user but this one. Error: UNAUTHENTICATED if
// this one has just ended: it may have been stolen, and must not end the session that ended it.
func (s *Service) RevokeOtherSessions(ctx context.Context, session Session) error {
	err := s.store.EndSessions(ctx, session.User, session.TokenHash, SignIns)
	if errors.Is(err, ErrNotFound) {
		return errInvalidToken()
	}
	return err
}
