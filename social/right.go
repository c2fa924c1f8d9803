package social

import (
	"context"
	"errors"
	"slices"
	"strings"

	"plaza/fault"
)

// Right is a permission beyond managing one's own account. Only the command line grants and revokes
// rights.
type Right string

// The rights. RightAdmin includes all others.
const (
	RightAdmin     Right = "admin"      // shapes the community: its profile properties
	RightManageAds Right = "ads:manage" // advertisers, campaigns, ad units and zones
)

// Rights holds all rights, in display order.
var Rights = []Right{RightAdmin, RightManageAds}

// ParseRight reads a right's name. Error: INVALID.
func ParseRight(text string) (Right, error) {
	if right := Right(text); slices.Contains(Rights, right) {
		return right, nil
	}
	names := make([]string, len(Rights))
	for i, right := range Rights {
		names[i] = string(right)
	}
	return "", fault.Invalidf("right", "The right %q does not exist: choose %s.", text, strings.Join(names, " or "))
}

// HasRight reports whether the user has the right, directly or as an admin.
func (u *User) HasRight(right Right) bool {
	return slices.Contains(u.Rights, right) || slices.Contains(u.Rights, RightAdmin)
}

// RightsInOrder returns the user's own rights, in the order of [Rights].
func (u *User) RightsInOrder() []Right {
	return slices.DeleteFunc(slices.Clone(Rights), func(right Right) bool { return !slices.Contains(u.Rights, right) })
}

// GrantRight gives the right to the user with that handle; false if they already have it. Error:
// NOT_FOUND.
func (s *Service) GrantRight(ctx context.Context, handle string, right Right) (bool, error) {
	return s.changeRight(ctx, handle, right, EventRightGranted, s.store.GrantRight)
}

// RevokeRight takes the right from the user with that handle; false if they do not have it. Error:
// NOT_FOUND.
func (s *Service) RevokeRight(ctx context.Context, handle string, right Right) (bool, error) {
	return s.changeRight(ctx, handle, right, EventRightRevoked, s.store.RevokeRight)
}

func (s *Service) changeRight(ctx context.Context, handle string, right Right, kind EventKind,
	store func(context.Context, UserID, Right, Event) (bool, error),
) (bool, error) {
	user, err := s.Viewer(UserID{}).UserByHandle(ctx, handle)
	if err != nil {
		return false, err
	}
	e := s.event(kind, UserID{})
	e.Target = user.ID
	changed, err := store(ctx, user.ID, right, e)
	if errors.Is(err, ErrNotFound) {
		return false, fault.NotFound("handle", "user")
	}
	return changed, err
}

// HadRight reports whether the user has the right, or had it up to a second ago. Do not use it for
// permissions. Rights are read once in that time, however many calls there are.
func (s *Service) HadRight(ctx context.Context, user UserID, right Right) (bool, error) {
	holder, err := s.holders.holder(ctx, user)
	return holder != nil && holder.HasRight(right), err
}

// RequireRight rejects viewers who do not have the right now. Errors: FORBIDDEN, UNAUTHENTICATED.
func (s *Service) RequireRight(ctx context.Context, viewer UserID, right Right) error {
	user, err := s.Viewer(viewer).account(ctx)
	if err != nil {
		return err
	}
	if !user.HasRight(right) {
		return fault.Errorf(fault.CodeForbidden, "", "This needs the right %q.", right)
	}
	return nil
}

// Rights reads the viewer's own rights, in the order of [Rights]. Error: UNAUTHENTICATED.
func (v *Viewer) Rights(ctx context.Context) ([]Right, error) {
	user, err := v.account(ctx)
	if err != nil {
		return nil, err
	}
	return user.RightsInOrder(), nil
}

// account reads the viewer's current account. Error: UNAUTHENTICATED.
func (v *Viewer) account(ctx context.Context) (*User, error) {
	users, err := v.s.people.Users(ctx, []UserID{v.ID})
	if err != nil {
		return nil, err
	}
	if users[v.ID] == nil {
		return nil, ErrAccountGone
	}
	return users[v.ID], nil
}
