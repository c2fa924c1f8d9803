package accounts

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
)

// GrantRight gives the right to the user with that handle; false if they already have it. Error:
// NOT_FOUND.
func (s *Service) GrantRight(ctx context.Context, handle string, right social.Right) (bool, error) {
	return s.changeRight(ctx, handle, right, rightChange{ActRightGranted, social.EventRightGranted, s.store.GrantRight})
}

// RevokeRight takes the right from the user with that handle; false if they do not have it. Error:
// NOT_FOUND.
func (s *Service) RevokeRight(ctx context.Context, handle string, right social.Right) (bool, error) {
	return s.changeRight(ctx, handle, right, rightChange{ActRightRevoked, social.EventRightRevoked, s.store.RevokeRight})
}

// rightChange is the granting or revoking of a right.
type rightChange struct {
	act   ActKind
	event social.EventKind
	store func(context.Context, social.UserID, social.Right, social.Event) (bool, error)
}

func (s *Service) changeRight(ctx context.Context, handle string, right social.Right, change rightChange) (bool, error) {
	user, err := s.UserNamed(ctx, handle)
	if err != nil {
		return false, err
	}
	e := s.event(change.event, social.UserID{})
	e.Target = user.ID
	changed, err := change.store(ctx, user.ID, right, e)
	if errors.Is(err, social.ErrNotFound) {
		return false, errNoUser()
	}
	if err == nil && changed {
		s.record(ctx, Act{Kind: change.act, User: user.ID, Handle: user.Handle, Operator: true, Right: right})
	}
	return changed, err
}

// HadRight reports whether the user has the right, or had it up to a second ago. Do not use it for
// permissions. Rights are read once in that time, however many calls there are.
func (s *Service) HadRight(ctx context.Context, user social.UserID, right social.Right) (bool, error) {
	holder, err := s.holders.holder(ctx, user)
	return holder != nil && holder.HasRight(right), err
}

// RequireRight rejects viewers who do not have the right now. Errors: FORBIDDEN,
// UNAUTHENTICATED; SUSPENDED.
func (s *Service) RequireRight(ctx context.Context, viewer social.UserID, right social.Right) error {
	user, err := s.account(ctx, viewer)
	if err != nil {
		return err
	}
	if !user.HasRight(right) {
		return fault.Errorf(fault.CodeForbidden, "", "This needs the right %q.", right)
	}
	return s.mayChange(user)
}

// Rights reads the viewer's own rights, in the order of [social.Rights]. Error: UNAUTHENTICATED.
func (s *Service) Rights(ctx context.Context, viewer social.UserID) ([]social.Right, error) {
	user, err := s.account(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return user.RightsInOrder(), nil
}
