package advertising

import (
	"context"

	"plaza/graph/model"
	"plaza/resolvers/gate"
	"plaza/social"
)

// mustManageAds returns an error unless the viewer has the right. Errors: UNAUTHENTICATED,
// FORBIDDEN.
func (r *Resolver) mustManageAds(ctx context.Context) error {
	viewer, err := gate.SignedIn(ctx)
	if err != nil {
		return err
	}
	return r.Social.RequireRight(ctx, viewer, social.RightManageAds)
}

// AdManager resolves Query.adManager.
func (r Query) AdManager(ctx context.Context) (*model.AdManager, error) {
	if err := r.mustManageAds(ctx); err != nil {
		return nil, err
	}
	return &model.AdManager{}, nil
}
