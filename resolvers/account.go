package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/loaders"
	"plaza/resolvers/gate"
	"plaza/resolvers/presenter"
	"plaza/social"
	"plaza/social/accounts"
)

// Registration resolves Query.registration.
func (r queryResolver) Registration(context.Context) (model.Registration, error) {
	switch r.Social.Registration() {
	case accounts.RegistrationByInvitation:
		return model.RegistrationInvitation, nil
	case accounts.RegistrationClosed:
		return model.RegistrationClosed, nil
	default:
		return model.RegistrationOpen, nil
	}
}

// SignUp resolves Mutation.signUp.
func (r mutationResolver) SignUp(ctx context.Context, input model.SignUpInput) (*model.SignUpPayload, error) {
	if err := gate.OnePassword(ctx); err != nil {
		return nil, err
	}
	session, token, err := r.Social.SignUp(ctx, accounts.SignUpInput{
		Handle: input.Handle, Name: input.Name, Password: input.Password, Invitation: value(input.Invitation), From: r.ClientOf(ctx),
	})
	payload, err := r.enter(ctx, session, token, err)
	return (*model.SignUpPayload)(payload), err
}

// SignIn resolves Mutation.signIn.
func (r mutationResolver) SignIn(ctx context.Context, input model.SignInInput) (*model.SignInPayload, error) {
	if err := gate.OnePassword(ctx); err != nil {
		return nil, err
	}
	session, token, err := r.Social.SignIn(ctx, accounts.Credentials{Handle: input.Handle, Password: input.Password, From: r.ClientOf(ctx)})
	return r.enter(ctx, session, token, err)
}

// enter returns the payload of a new session, as its user sees it.
func (r mutationResolver) enter(ctx context.Context, session social.Session, token string, err error) (*model.SignInPayload, error) {
	mistakes, err := presenter.UserErrors(ctx, err)
	if err != nil || len(mistakes) > 0 {
		return &model.SignInPayload{UserErrors: mistakes}, err
	}
	loaders.Renew(ctx, r.newLoaders(ctx, session.User))
	viewer := &model.Viewer{UserID: session.User, NewHash: session.TokenHash}
	return &model.SignInPayload{Token: &token, ExpiresAt: &session.ExpiresAt, Viewer: viewer, UserErrors: mistakes}, nil
}

// SignOut resolves Mutation.signOut.
func (r mutationResolver) SignOut(ctx context.Context) (*model.SignOutPayload, error) {
	session := gate.SessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(social.UserID) error { return r.Social.SignOut(ctx, session) })
	if err == nil && len(mistakes) == 0 {
		r.leave(ctx, session)
	}
	return &model.SignOutPayload{UserErrors: mistakes}, err
}

// leave signs the rest of an operation out after its session was ended.
func (r mutationResolver) leave(ctx context.Context, session social.Session) {
	r.Hub.EndSession(session.TokenHash)
	gate.ForgetSession(ctx)
	loaders.Renew(ctx, r.newLoaders(ctx, social.UserID{}))
}

// ChangePassword resolves Mutation.changePassword.
func (r mutationResolver) ChangePassword(ctx context.Context, input model.ChangePasswordInput) (*model.ChangePasswordPayload, error) {
	if err := gate.OnePassword(ctx); err != nil {
		return nil, err
	}
	session := gate.SessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(social.UserID) error {
		return r.Social.ChangePassword(ctx, session, input.CurrentPassword, input.NewPassword)
	})
	if err == nil && len(mistakes) == 0 {
		r.Hub.EndOldSessions(ctx, session.User)
	}
	return &model.ChangePasswordPayload{Viewer: presenter.Unless(mistakes, model.Viewer{UserID: session.User}), UserErrors: mistakes}, err
}

// DeactivateAccount resolves Mutation.deactivateAccount.
func (r mutationResolver) DeactivateAccount(ctx context.Context, input model.DeactivateAccountInput) (*model.DeactivateAccountPayload, error) {
	if err := gate.OnePassword(ctx); err != nil {
		return nil, err
	}
	session := gate.SessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		return r.Social.DeactivateAccount(ctx, viewer, input.Password)
	})
	if err != nil || len(mistakes) > 0 {
		return &model.DeactivateAccountPayload{UserErrors: mistakes}, err
	}
	r.Hub.EndOldSessions(ctx, session.User)
	r.leave(ctx, session)
	return &model.DeactivateAccountPayload{DeactivatedUserID: presenter.Unless(mistakes, session.User.String()), UserErrors: mistakes}, nil
}

// DeleteAccount resolves Mutation.deleteAccount.
func (r mutationResolver) DeleteAccount(ctx context.Context, input model.DeleteAccountInput) (*model.DeleteAccountPayload, error) {
	if err := gate.OnePassword(ctx); err != nil {
		return nil, err
	}
	session := gate.SessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		return r.Social.DeleteAccount(ctx, viewer, input.Password)
	})
	if err != nil || len(mistakes) > 0 {
		return &model.DeleteAccountPayload{UserErrors: mistakes}, err
	}
	if err := r.Advertising.Server.Forget(ctx, session.User.String()); err != nil {
		r.Logger.WarnContext(ctx, "what is remembered of the ads that a deleted user has seen will be removed in the background", "error", err)
	}
	r.Hub.EndOldSessions(ctx, session.User)
	r.leave(ctx, session)
	return &model.DeleteAccountPayload{DeletedUserID: presenter.Unless(mistakes, session.User.String()), UserErrors: mistakes}, nil
}
