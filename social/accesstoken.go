package social

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"plaza/fault"
)

// Scope is what a program may do with an access token, besides reading what its owner may read.
type Scope string

// The scopes.
const (
	ScopeWritePosts   Scope = "WRITE_POSTS"   // posts, comments, reactions, votes
	ScopeWriteGraph   Scope = "WRITE_GRAPH"   // follows, circles, blocks, mutes
	ScopeWriteProfile Scope = "WRITE_PROFILE" // the profile, and which notifications are read
	ScopeManageAds    Scope = "MANAGE_ADS"    // with the right of the same name
	ScopeAdmin        Scope = "ADMIN"         // the same
)

// AccessTokenStart is how access tokens begin, so that people and secret scanners recognise them.
const AccessTokenStart = "plaza_"

const (
	maxAccessTokens    = 50 // per user
	maxAccessTokenName = 100
	maxAccessTokenDays = 365
)

// Grant is what makes a session that of an access token, by which a program acts for its owner.
type Grant struct {
	Name   string
	Scopes []Scope
}

// May reports whether a session has a scope. A sign-in has all of them.
func (s Session) May(scope Scope) bool {
	return s.Grant == nil || slices.Contains(s.Grant.Scopes, scope)
}

// AccessTokenID identifies the session of an access token to its owner.
func (s Session) AccessTokenID() AccessTokenID {
	return AccessTokenID{s.ID().ID}
}

// hashAccessToken differs from HashToken, because servers of versions without access tokens would
// take the session for a sign-in, which may do everything.
func hashAccessToken(token string) [32]byte { return sha256.Sum256([]byte("access token " + token)) }

// NewAccessToken describes an access token.
type NewAccessToken struct {
	Name   string
	Scopes []Scope
	Days   int // until it expires
}

func (n *NewAccessToken) check() error {
	var twice, days error
	if len(n.Scopes) != len(slices.Compact(slices.Sorted(slices.Values(n.Scopes)))) {
		twice = fault.Invalidf("scopes", "A scope is there twice.")
	}
	if n.Days < 1 || n.Days > maxAccessTokenDays {
		days = fault.Invalidf("expiresInDays", "An access token lasts for 1 to %d days.", maxAccessTokenDays)
	}
	return fault.All(fault.CheckLine("name", n.Name, 1, maxAccessTokenName), twice, days)
}

// CreateAccessToken creates an access token for the user of a session. The token is returned only
// here. Errors: INVALID, BLANK, TOO_LONG, LIMIT_REACHED; UNAUTHENTICATED: the session has ended.
func (s *Service) CreateAccessToken(ctx context.Context, by Session, n NewAccessToken) (created Session, token string, err error) {
	if err := n.check(); err != nil {
		return Session{}, "", err
	}
	existing, err := s.AccessTokens(ctx, by.User)
	if err != nil {
		return Session{}, "", err
	}
	if len(existing) >= maxAccessTokens {
		return Session{}, "", fault.Errorf(fault.CodeLimitReached, "", "You have %d access tokens, the maximum: revoke one first.", maxAccessTokens)
	}
	token = AccessTokenStart + randomToken()
	now := s.moment()
	created = Session{
		TokenHash: HashToken(token), User: by.User, ExpiresAt: now.AddDate(0, 0, n.Days), CreatedAt: now,
		Grant: &Grant{Name: n.Name, Scopes: n.Scopes},
	}
	if err := s.store.InsertSession(ctx, created); err != nil {
		return Session{}, "", err
	}
	return created, token, s.mustStillBeValid(ctx, by, created)
}

// mustStillBeValid ends a new access token if the session that created it has ended since:
// ChangePassword ends the tokens that it finds, and this one may have come later.
func (s *Service) mustStillBeValid(ctx context.Context, by, created Session) error {
	_, err := s.store.Session(ctx, by.TokenHash, s.now())
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := s.SignOut(ctx, created); err != nil {
		return err
	}
	return errInvalidToken()
}

// AccessTokens returns the sessions of a user's access tokens that have not expired, the newest first.
func (s *Service) AccessTokens(ctx context.Context, user UserID) ([]Session, error) {
	sessions, err := s.store.SessionsOf(ctx, user, s.now())
	tokens := slices.DeleteFunc(sessions, func(session Session) bool { return session.Grant == nil })
	slices.SortFunc(tokens, func(a, b Session) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return tokens, err
}

// RevokeAccessToken ends an access token of a user, and returns its session. Error: NOT_FOUND, also
// for a token of another user, and one that has expired.
func (s *Service) RevokeAccessToken(ctx context.Context, user UserID, which AccessTokenID) (Session, error) {
	tokens, err := s.AccessTokens(ctx, user)
	if err != nil {
		return Session{}, err
	}
	i := slices.IndexFunc(tokens, func(token Session) bool { return token.AccessTokenID() == which })
	if i < 0 {
		return Session{}, fault.NotFound("accessTokenId", "access token")
	}
	return tokens[i], s.SignOut(ctx, tokens[i])
}
