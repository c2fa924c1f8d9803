package network

import (
	"context"

	"plaza/social"
)

// DeleteAccount is [accounts.Service.DeleteAccount]; it also hides what the user wrote.
func (s *Service) DeleteAccount(ctx context.Context, viewer social.UserID, password *string) error {
	defer s.MayHaveHidden()
	return s.Service.DeleteAccount(ctx, viewer, password)
}

// DeactivateAccount is [accounts.Service.DeactivateAccount]; it also hides what the user wrote.
func (s *Service) DeactivateAccount(ctx context.Context, viewer social.UserID, password *string) error {
	defer s.MayHaveHidden()
	return s.Service.DeactivateAccount(ctx, viewer, password)
}

// DeleteUser is [accounts.Service.DeleteUser]; it also hides what the user wrote.
func (s *Service) DeleteUser(ctx context.Context, user social.UserID) error {
	defer s.MayHaveHidden()
	return s.Service.DeleteUser(ctx, user)
}

// Sanction is [accounts.Service.Sanction]; it also hides what a banned user wrote.
func (s *Service) Sanction(ctx context.Context, handle string, d social.Decision) (*social.User, error) {
	defer s.MayHaveHidden()
	return s.Service.Sanction(ctx, handle, d)
}
