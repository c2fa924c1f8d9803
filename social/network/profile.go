package network

import (
	"context"
	"errors"

	"plaza/social"
)

// UpdateProfile changes the viewer's profile. Errors: INVALID, BLANK, TOO_LONG.
func (s *Service) UpdateProfile(ctx context.Context, viewer social.UserID, change social.ProfileChange) error {
	if err := change.Check(); err != nil {
		return err
	}
	err := s.store.UpdateProfile(ctx, viewer, change, s.event(social.EventProfileUpdated, viewer))
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrAccountGone
	}
	return err
}
