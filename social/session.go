package social

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"plaza/id"
)

// Session is one sign-in, or the use of an access token. Only the SHA-256 of its token is stored.
type Session struct {
	TokenHash [32]byte
	User      UserID
	ExpiresAt time.Time
	CreatedAt time.Time // zero: created by a version that did not store it, SessionLifetime before it expires
	UsedAt    time.Time // to within an hour; zero: never, or by such a version
	Grant     *Grant    // nil: a sign-in

	// Identity is the key of the identity whose issuer has issued the token; zero: Plaza has. Such
	// a session is not stored: it lasts until the token expires, as long as the Identity accepts
	// the token, and CreatedAt is when that was issued.
	Identity [32]byte
}

// IsIssued reports whether another site has issued the session's token.
func (s Session) IsIssued() bool { return s.Identity != [32]byte{} }

// ID is derived from the token's hash, and does not reveal it.
func (s Session) ID() SessionID {
	return SessionID{hashedID("session id ", s.TokenHash[:])}
}

// Began returns when the user signed in.
func (s Session) Began() time.Time {
	if s.CreatedAt.IsZero() {
		return s.ExpiresAt.Add(-SessionLifetime)
	}
	return s.CreatedAt
}

// LastUse returns when the session was last used.
func (s Session) LastUse() time.Time {
	if s.UsedAt.IsZero() {
		return s.Began()
	}
	return s.UsedAt
}

// Sessions stores sign-ins. Those that have expired are removed in the background, without an
// event.
type Sessions interface {
	// InsertSession stores a sign-in.
	InsertSession(ctx context.Context, s Session) error
	// InsertAccessToken stores an access token. ErrLimitReached: its user already has
	// maximum access tokens that have not expired by t.CreatedAt.
	InsertAccessToken(ctx context.Context, t Session, maximum int) error
	// Session reads by the token's hash. ErrNotFound: unknown, deleted, or expired by
	// now: a session is valid until ExpiresAt, and not at that time.
	Session(ctx context.Context, tokenHash [32]byte, now time.Time) (Session, error)
	// LiveSessions returns the hashes of the sessions that exist and have not expired by now, in
	// any order.
	LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error)
	// SessionsOf returns a user's sessions that have not expired by now, in any order.
	SessionsOf(ctx context.Context, user UserID, now time.Time) ([]Session, error)
	// DeleteSession removes it and appends the event; no error if it is already deleted.
	DeleteSession(ctx context.Context, tokenHash [32]byte, e Event) error
	// EndSessions deletes a user's sessions except the one to keep (zero: all of them), each with
	// its own event (one that expired before may have none). ErrNotFound: the one to keep has been
	// deleted; then the others remain as well.
	EndSessions(ctx context.Context, user UserID, keep [32]byte, which SessionKinds) error
	// UseSession stores when a session was last used, and when it will expire; no error if it is
	// deleted.
	UseSession(ctx context.Context, tokenHash [32]byte, at, expires time.Time) error
}

// SessionKinds are kinds of sessions.
type SessionKinds int

// The kinds of sessions that EndSessions ends.
const (
	AllSessions SessionKinds = iota
	SignIns                  // access tokens remain
)

// NewSessionEnded returns the event of a session that has ended, or of an identity, by its key,
// whose tokens have.
func NewSessionEnded(user UserID, session [32]byte) Event {
	return Event{ID: EventID{id.New()}, Kind: EventSessionEnded, Actor: user, Session: session}
}

// HashToken returns the stored form of a bearer token. Tokens have 256 random bits, so a plain
// SHA-256 is enough.
func HashToken(token string) [32]byte {
	if strings.HasPrefix(token, AccessTokenStart) {
		return hashAccessToken(token)
	}
	return sha256.Sum256([]byte(token))
}

// May reports whether a session has a scope. A sign-in has all of them.
func (s Session) May(scope Scope) bool {
	return s.Grant == nil || s.Grant.has(scope)
}

// AccessTokenID identifies the session of an access token to its owner.
func (s Session) AccessTokenID() AccessTokenID {
	return AccessTokenID{s.ID().ID}
}

// hashAccessToken differs from HashToken, because servers of versions without access tokens would
// mistake the session for a sign-in, which may do everything.
func hashAccessToken(token string) [32]byte { return sha256.Sum256([]byte("access token " + token)) }
