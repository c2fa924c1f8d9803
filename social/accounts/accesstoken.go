package accounts

import (
	"context"
	"errors"
	"slices"

	"plaza/fault"
	"plaza/social"
)

const (
	maxAccessTokens    = 50 // per user
	maxAccessTokenName = 100
	maxAccessTokenDays = 365
)

// NewAccessToken describes an access token.
type NewAccessToken struct {
	Name   string
	Scopes []social.Scope
	Days   int // until it expires
}

func (n *NewAccessToken) check() error {
	var scopes error
	switch {
	case len(n.Scopes) == 0:
		scopes = fault.Invalidf("scopes", "A token without scopes may do nothing: choose at least one, such as %s.", social.ScopeReadPublic)
	case len(n.Scopes) != len(slices.Compact(slices.Sorted(slices.Values(n.Scopes)))):
		scopes = fault.Invalidf("scopes", "A scope is listed twice.")
	}
	return fault.All(fault.CheckLine("name", n.Name, 1, maxAccessTokenName), scopes, checkDays("An access token", n.Days, maxAccessTokenDays))
}

// CreateAccessToken creates an access token for the user of a session. The token is returned only
// here. Errors: INVALID, BLANK, TOO_LONG, LIMIT_REACHED; UNAUTHENTICATED: the session has ended.
func (s *Service) CreateAccessToken(ctx context.Context, by social.Session, n NewAccessToken) (created social.Session, token string, err error) {
	if err := n.check(); err != nil {
		return social.Session{}, "", err
	}
	token = social.AccessTokenStart + randomToken()
	now := s.Moment()
	created = social.Session{
		TokenHash: social.HashToken(token), User: by.User, ExpiresAt: now.AddDate(0, 0, n.Days), CreatedAt: now,
		Grant: &social.Grant{Name: n.Name, Scopes: n.Scopes},
	}
	err = s.store.InsertAccessToken(ctx, created, maxAccessTokens)
	if errors.Is(err, social.ErrLimitReached) {
		err = fault.Errorf(fault.CodeLimitReached, "", "You have %d access tokens, the maximum: revoke one first.", maxAccessTokens)
	}
	if err != nil {
		return social.Session{}, "", err
	}
	if err := s.mustStillBeValid(ctx, by, created); err != nil {
		return social.Session{}, "", err
	}
	s.record(ctx, Act{Kind: ActAccessTokenCreated, User: by.User, AccessToken: created.AccessTokenID()})
	return created, token, nil
}

// mustStillBeValid ends a new access token if the session that created it has ended since:
// ChangePassword ends the tokens that it finds, and this one may have been stored later.
func (s *Service) mustStillBeValid(ctx context.Context, by, created social.Session) error {
	isLive, err := s.isLive(ctx, by)
	if err != nil || isLive {
		return err
	}
	if err := s.endSession(ctx, created); err != nil {
		return err
	}
	return errInvalidToken()
}

// AccessTokens returns the sessions of a user's access tokens that have not expired, the newest
// first.
func (s *Service) AccessTokens(ctx context.Context, user social.UserID) ([]social.Session, error) {
	sessions, err := s.store.SessionsOf(ctx, user, s.now())
	tokens := slices.DeleteFunc(sessions, func(session social.Session) bool { return session.Grant == nil })
	slices.SortFunc(tokens, func(a, b social.Session) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return tokens, err
}

// RevokeAccessToken ends an access token of a user, and returns its session. Error: NOT_FOUND, also
// for a token of another user, and one that has expired.
func (s *Service) RevokeAccessToken(ctx context.Context, user social.UserID, which social.AccessTokenID) (social.Session, error) {
	tokens, err := s.AccessTokens(ctx, user)
	if err != nil {
		return social.Session{}, err
	}
	i := slices.IndexFunc(tokens, func(token social.Session) bool { return token.AccessTokenID() == which })
	if i < 0 {
		return social.Session{}, fault.NotFound("accessTokenId", "access token")
	}
	return tokens[i], s.revoke(ctx, tokens[i])
}
