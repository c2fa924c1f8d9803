package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/social"
	"plaza/social/accounts"
)

// IdentityProviders resolves Query.identityProviders.
func (r queryResolver) IdentityProviders(context.Context) ([]*model.IdentityProvider, error) {
	return r.Providers.Clients(), nil
}

// SignInWithIDToken resolves Mutation.signInWithIdToken.
func (r mutationResolver) SignInWithIDToken(ctx context.Context, input model.SignInWithIDTokenInput) (*model.SignInWithIDTokenPayload, error) {
	session, token, err := r.Social.SignInWith(ctx, accounts.IDToken{
		Verify: func(ctx context.Context) (social.Assertion, error) {
			return r.Providers.Verify(ctx, input.IDToken, input.Nonce)
		},
		Invitation: value(input.Invitation), From: r.ClientOf(ctx),
	})
	payload, err := r.enter(ctx, session, token, err)
	return (*model.SignInWithIDTokenPayload)(payload), err
}
