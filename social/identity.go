package social

import (
	"context"
	"crypto/sha256"
	"time"
)

// MaxSubjectLen is the maximum length, in characters, of an issuer's identifier of a user (the
// claim sub).
const MaxSubjectLen = 255

// ClockLeeway is how far the clocks of an issuer and of a server may differ.
const ClockLeeway = 30 * time.Second

// Assertion is what an issuer says of one of its users, in a token that has been verified.
type Assertion struct {
	Issuer, Subject string    // together they identify the user permanently
	IssuedAt        time.Time // zero: not given
	ExpiresAt       time.Time

	// Handle, Name and AvatarURL are the user's there; "": not given.
	Handle, Name, AvatarURL string
	Nonce                   string // of the sign-in that the token is for; "": none

	// CreatesAccount lets a first sign-in create an account where registration is closed.
	CreatesAccount bool
}

// Identity is a user of an issuer: the account here that belongs to it.
type Identity struct {
	Key     [32]byte  // see KeyOfIdentity
	User    UserID    // zero: the account is deleted
	EndedAt time.Time // tokens that were issued up to then are refused; zero: none are
	Away    bool      // the account is away: all tokens are refused
}

// KeyOfIdentity returns the stored form of an identity: a hash of the issuer and the subject. It
// does not reveal the subject, except by comparison with the hashes of all subjects of the issuer.
// The subject must not contain control characters.
func KeyOfIdentity(issuer, subject string) [32]byte {
	return sha256.Sum256([]byte("identity " + issuer + "\x00" + subject))
}

// Accepts reports whether a token of the identity that was issued at that time (zero: unknown) is
// still valid. Issuers give times in seconds, so a token of the second of EndedAt is not.
func (i Identity) Accepts(issuedAt time.Time) bool {
	return !i.Away && i.IsCurrent(issuedAt)
}

// IsCurrent is Accepts of an account that is not away.
func (i Identity) IsCurrent(issuedAt time.Time) bool {
	return !i.User.IsZero() && (i.EndedAt.IsZero() || issuedAt.Unix() > i.EndedAt.Unix())
}

// Identities stores which accounts belong to the users of other sites. Users.InsertUser adds them;
// Users.DeleteUser keeps their keys alone, so that the deleted account is not created again.
type Identities interface {
	// Identities reads by key; absent identities are missing in the map.
	Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]Identity, error)
	// EndIdentities ends the tokens of a user's identities that were issued up to a time: it sets
	// EndedAt, unless that is already later, and appends an EventSessionEnded for each identity,
	// with its key. No error if the user has none.
	EndIdentities(ctx context.Context, user UserID, issuedUpTo time.Time) error
	// ReadmitIdentity removes the key of a deleted account: the next token of the identity creates
	// another account. ErrNotFound: there is no such key, or its account is not deleted.
	ReadmitIdentity(ctx context.Context, key [32]byte) error
}
