package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/social"
)

func invitationOf(i social.Invitation) *model.Invitation {
	return &model.Invitation{ID: i.ID.String(), CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, IsUsed: i.IsUsedUp()}
}

// Invitations resolves Viewer.invitations.
func (r viewerResolver) Invitations(ctx context.Context, obj *model.Viewer) ([]*model.Invitation, error) {
	invitations, err := r.Social.Invitations(ctx, obj.UserID)
	if err != nil {
		return nil, err
	}
	found := make([]*model.Invitation, len(invitations))
	for i, invitation := range invitations {
		found[i] = invitationOf(invitation)
	}
	return found, nil
}

// InvitationsLeft resolves Viewer.invitationsLeft.
func (r viewerResolver) InvitationsLeft(ctx context.Context, obj *model.Viewer) (*int, error) {
	left, err := r.Social.InvitationsLeft(ctx, obj.UserID)
	if err != nil {
		return nil, err
	}
	return &left, nil
}

// invitationsByID finds the viewer's own invitations.
func (r *Resolver) invitationsByID(ctx context.Context, ids []social.InvitationID) (map[social.InvitationID]*model.Invitation, error) {
	return ownByID(ctx, ids, viewerResolver{r}.Invitations, func(found *model.Invitation) string { return found.ID })
}

// CreateInvitation resolves Mutation.createInvitation.
func (r mutationResolver) CreateInvitation(ctx context.Context, input model.CreateInvitationInput) (*model.CreateInvitationPayload, error) {
	var viewer social.UserID
	var created social.Invitation
	var code string
	mistakes, err := r.mutate(ctx, func(user social.UserID) (err error) {
		viewer = user
		created, code, err = r.Social.CreateInvitation(ctx, user, input.ExpiresInDays)
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return &model.CreateInvitationPayload{UserErrors: mistakes}, err
	}
	return &model.CreateInvitationPayload{Code: &code, Invitation: invitationOf(created), Viewer: &model.Viewer{UserID: viewer}, UserErrors: mistakes}, nil
}

// RevokeInvitation resolves Mutation.revokeInvitation.
func (r mutationResolver) RevokeInvitation(ctx context.Context, input model.RevokeInvitationInput) (*model.RevokeInvitationPayload, error) {
	var viewer social.UserID
	mistakes, err := r.mutate(ctx, func(user social.UserID) error {
		which, err := relay.InvitationID("invitationId", input.InvitationID)
		if err != nil {
			return err
		}
		viewer = user
		return r.Social.RevokeInvitation(ctx, user, which)
	})
	if err != nil || len(mistakes) > 0 {
		return &model.RevokeInvitationPayload{UserErrors: mistakes}, err
	}
	return &model.RevokeInvitationPayload{RevokedInvitationID: &input.InvitationID, Viewer: &model.Viewer{UserID: viewer}, UserErrors: mistakes}, nil
}
