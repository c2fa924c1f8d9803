package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/social/accounts"
)

func accessTokenOf(s social.Session) *model.AccessToken {
	token := &model.AccessToken{
		ID: s.AccessTokenID().String(), Name: s.Grant.Name, Scopes: s.Grant.Scopes, CreatedAt: s.CreatedAt, ExpiresAt: s.ExpiresAt,
	}
	if !s.UsedAt.IsZero() {
		token.LastUsedAt = &s.UsedAt
	}
	return token
}

// AccessTokens resolves Viewer.accessTokens.
func (r viewerResolver) AccessTokens(ctx context.Context, obj *model.Viewer) ([]*model.AccessToken, error) {
	tokens, err := r.Social.AccessTokens(ctx, obj.UserID)
	if err != nil {
		return nil, err
	}
	found := make([]*model.AccessToken, len(tokens))
	for i, token := range tokens {
		found[i] = accessTokenOf(token)
	}
	return found, nil
}

// accessTokensByID finds the viewer's own access tokens.
func (r *Resolver) accessTokensByID(ctx context.Context, ids []social.AccessTokenID) (map[social.AccessTokenID]*model.AccessToken, error) {
	return ownByID(ctx, ids, viewerResolver{r}.AccessTokens, func(found *model.AccessToken) string { return found.ID })
}

// CreateAccessToken resolves Mutation.createAccessToken.
func (r mutationResolver) CreateAccessToken(ctx context.Context, input model.CreateAccessTokenInput) (*model.CreateAccessTokenPayload, error) {
	var created social.Session
	var token string
	mistakes, err := r.mutate(ctx, func(social.UserID) (err error) {
		created, token, err = r.Social.CreateAccessToken(ctx, gate.SessionOf(ctx), accounts.NewAccessToken{Name: input.Name, Scopes: input.Scopes, Days: input.ExpiresInDays})
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return &model.CreateAccessTokenPayload{UserErrors: mistakes}, err
	}
	return &model.CreateAccessTokenPayload{Token: &token, AccessToken: accessTokenOf(created), UserErrors: mistakes}, nil
}

// RevokeAccessToken resolves Mutation.revokeAccessToken.
func (r mutationResolver) RevokeAccessToken(ctx context.Context, input model.RevokeAccessTokenInput) (*model.RevokeAccessTokenPayload, error) {
	var viewer social.UserID
	var revoked social.Session
	mistakes, err := r.mutate(ctx, func(user social.UserID) error {
		which, err := relay.AccessTokenID("accessTokenId", input.AccessTokenID)
		if err != nil {
			return err
		}
		viewer = user
		revoked, err = r.Social.RevokeAccessToken(ctx, user, which)
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return &model.RevokeAccessTokenPayload{UserErrors: mistakes}, err
	}
	r.Hub.EndSession(revoked.TokenHash)
	was := revoked.AccessTokenID().String()
	return &model.RevokeAccessTokenPayload{RevokedAccessTokenID: &was, Viewer: &model.Viewer{UserID: viewer}, UserErrors: mistakes}, nil
}
