package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/resolvers/gate"
	"plaza/resolvers/presenter"
	"plaza/social"
	"plaza/social/accounts"
)

// Email resolves Viewer.email.
func (r viewerResolver) Email(ctx context.Context, obj *model.Viewer) (*string, error) {
	email, err := r.Social.Email(ctx, obj.UserID)
	return orNull(email.Address), err
}

// UnconfirmedEmail resolves Viewer.unconfirmedEmail.
func (r viewerResolver) UnconfirmedEmail(ctx context.Context, obj *model.Viewer) (*string, error) {
	email, err := r.Social.Email(ctx, obj.UserID)
	return orNull(email.Pending), err
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// SetEmail resolves Mutation.setEmail.
func (r mutationResolver) SetEmail(ctx context.Context, input model.SetEmailInput) (*model.SetEmailPayload, error) {
	if err := gate.OnePassword(ctx); err != nil {
		return nil, err
	}
	viewer := gate.UserOf(ctx)
	mistakes, err := r.mutate(ctx, func(user social.UserID) error {
		return r.Social.SetEmail(ctx, user, input.Email, input.CurrentPassword)
	})
	return &model.SetEmailPayload{Viewer: presenter.Unless(mistakes, model.Viewer{UserID: viewer}), UserErrors: mistakes}, err
}

// ConfirmEmail resolves Mutation.confirmEmail.
func (r mutationResolver) ConfirmEmail(ctx context.Context, input model.ConfirmEmailInput) (*model.ConfirmEmailPayload, error) {
	email, err := r.Social.ConfirmEmail(ctx, input.Token)
	mistakes, err := presenter.UserErrors(ctx, err)
	return &model.ConfirmEmailPayload{Email: orNull(email), UserErrors: mistakes}, err
}

// RequestPasswordReset resolves Mutation.requestPasswordReset.
func (r mutationResolver) RequestPasswordReset(ctx context.Context, input model.RequestPasswordResetInput) (*model.RequestPasswordResetPayload, error) {
	mistakes, err := presenter.UserErrors(ctx, r.Social.RequestPasswordReset(ctx, accounts.ResetRequest{Account: input.Account, From: r.ClientOf(ctx)}))
	return &model.RequestPasswordResetPayload{UserErrors: mistakes}, err
}

// ResetPassword resolves Mutation.resetPassword.
func (r mutationResolver) ResetPassword(ctx context.Context, input model.ResetPasswordInput) (*model.ResetPasswordPayload, error) {
	if err := gate.OnePassword(ctx); err != nil {
		return nil, err
	}
	handle, err := r.Social.ResetPassword(ctx, input.Token, input.NewPassword)
	mistakes, err := presenter.UserErrors(ctx, err)
	return &model.ResetPasswordPayload{Handle: orNull(handle), UserErrors: mistakes}, err
}
