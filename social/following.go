package social

import (
	"context"
	"errors"
	"slices"

	"plaza/fault"
)

// CreateCircle creates a circle. Errors: BLANK, TOO_LONG, INVALID, TAKEN, LIMIT_REACHED.
func (s *Service) CreateCircle(ctx context.Context, viewer UserID, name string) (*Circle, error) {
	if err := CheckCircleName(name); err != nil {
		return nil, err
	}
	existing, err := s.store.CirclesOf(ctx, viewer, Page{Limit: MaxCircles})
	if err != nil {
		return nil, err
	}
	if len(existing) == 0 { // everyone starts with one
		return nil, ErrAccountGone
	}
	if len(existing) >= MaxCircles {
		return nil, fault.Errorf(fault.CodeLimitReached, "", "You have %d circles already.", MaxCircles)
	}
	circle := &Circle{ID: CircleID{s.givenID()}, Owner: viewer, Name: name}
	e := s.event(EventCircleCreated, viewer)
	e.Circle = circle.ID
	if err := s.store.InsertCircle(ctx, circle, e); err != nil {
		return nil, circleError(err)
	}
	return circle, nil
}

// CheckCircleName validates a circle's name. Errors: BLANK, TOO_LONG, INVALID.
func CheckCircleName(name string) error { return fault.CheckLine("name", name, 1, MaxCircleNameLen) }

// RenameCircle renames one of the viewer's circles. Errors: as CreateCircle, and NOT_FOUND.
func (s *Service) RenameCircle(ctx context.Context, viewer UserID, circle CircleID, name string) error {
	_, missing := s.Viewer(viewer).circle(ctx, circle)
	if err := fault.All(missing, CheckCircleName(name)); err != nil {
		return err
	}
	e := s.event(EventCircleRenamed, viewer)
	e.Circle = circle
	return circleError(s.store.RenameCircle(ctx, circle, name, e))
}

// DeleteCircle removes one of the viewer's circles, but never the built-in one. Errors: NOT_FOUND,
// NOT_ALLOWED.
func (s *Service) DeleteCircle(ctx context.Context, viewer UserID, circle CircleID) error {
	defer s.noteHiding()
	stored, err := s.Viewer(viewer).circle(ctx, circle)
	if err != nil {
		return err
	}
	if stored.IsDefault {
		return fault.Errorf(fault.CodeNotAllowed, "circleId", "The built-in circle can't be removed.")
	}
	e := s.event(EventCircleDeleted, viewer)
	e.Circle = circle
	return circleError(s.store.DeleteCircle(ctx, circle, e))
}

// AddToCircle adds a user to one of the viewer's circles. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) AddToCircle(ctx context.Context, viewer UserID, circle CircleID, member UserID) error {
	v := s.Viewer(viewer)
	if err := fault.All(notOneself(viewer, member), v.checkMembership(ctx, circle, member)); err != nil {
		return err
	}
	e := s.event(EventMemberAdded, viewer)
	e.Circle, e.Target = circle, member
	_, err := s.store.AddToCircle(ctx, Membership{circle, viewer, member}, EdgeID{s.givenID()}, e)
	return memberError(err)
}

// RemoveFromCircle removes a user from one of the viewer's circles. Error: NOT_FOUND.
func (s *Service) RemoveFromCircle(ctx context.Context, viewer UserID, circle CircleID, member UserID) error {
	defer s.noteHiding()
	if err := s.Viewer(viewer).checkMembership(ctx, circle, member); err != nil {
		return err
	}
	e := s.event(EventMemberRemoved, viewer)
	e.Circle, e.Target = circle, member
	_, err := s.store.RemoveFromCircle(ctx, Membership{circle, viewer, member}, e)
	return memberError(err)
}

// checkMembership checks that the viewer has such a circle, and that the user exists. Error:
// NOT_FOUND.
func (v *Viewer) checkMembership(ctx context.Context, circle CircleID, member UserID) error {
	_, noCircle := v.circle(ctx, circle)
	_, noUser := v.user(ctx, "userId", member)
	return fault.All(noCircle, noUser)
}

// Follow adds a user to the viewer's built-in circle. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Follow(ctx context.Context, viewer, user UserID) error {
	circles, err := s.store.CirclesOf(ctx, viewer, Page{Limit: MaxCircles})
	if err != nil {
		return err
	}
	builtIn := slices.IndexFunc(circles, func(c *Circle) bool { return c.IsDefault })
	if builtIn < 0 {
		return ErrAccountGone
	}
	return s.AddToCircle(ctx, viewer, circles[builtIn].ID, user)
}

// Unfollow removes a user from all of the viewer's circles. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Unfollow(ctx context.Context, viewer, user UserID) error {
	defer s.noteHiding()
	if err := s.checkOther(ctx, viewer, user); err != nil {
		return err
	}
	e := s.event(EventUnfollowed, viewer)
	e.Target = user
	_, err := s.store.Unfollow(ctx, viewer, user, e)
	return memberError(err)
}

// Block makes the two users invisible to each other. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Block(ctx context.Context, viewer, user UserID) (*User, error) {
	defer s.noteHiding()
	if err := notOneself(viewer, user); err != nil {
		return nil, err
	}
	v := s.Viewer(viewer)
	relations, err := v.Relations(ctx, []UserID{user})
	if err != nil {
		return nil, err
	}
	if relations[user].Blocks { // already blocked: nothing changes
		return s.blockedUser(ctx, user)
	}
	blocked, err := v.user(ctx, "userId", user)
	if err != nil {
		return nil, err
	}
	e := s.event(EventBlocked, viewer)
	e.Target = user
	_, err = s.store.Block(ctx, Edge{EdgeID{s.givenID()}, viewer, user}, e)
	return blocked, memberError(err)
}

// blockedUser reads a user whom the viewer blocks: the one case in which a block does not hide
// them.
func (s *Service) blockedUser(ctx context.Context, user UserID) (*User, error) {
	users, err := s.people.Users(ctx, []UserID{user})
	if err != nil {
		return nil, err
	}
	if users[user] == nil {
		return nil, fault.NotFound("userId", "user")
	}
	return users[user], nil
}

// Unblock removes a block; without one, the user must be visible to the viewer. Errors: NOT_FOUND,
// INVALID (oneself).
func (s *Service) Unblock(ctx context.Context, viewer, user UserID) error {
	if err := notOneself(viewer, user); err != nil {
		return err
	}
	e := s.event(EventUnblocked, viewer)
	e.Target = user
	done, err := s.store.Unblock(ctx, viewer, user, e)
	if err != nil {
		return memberError(err)
	}
	if done { // the block may have been of a user who has since deleted their account
		_, err = s.blockedUser(ctx, user)
		return err
	}
	_, err = s.Viewer(viewer).user(ctx, "userId", user)
	return err
}

// Mute keeps a user's posts out of the viewer's wall, news and incoming. Errors: NOT_FOUND, INVALID
// (oneself).
func (s *Service) Mute(ctx context.Context, viewer, user UserID) error {
	defer s.noteHiding()
	if err := s.checkOther(ctx, viewer, user); err != nil {
		return err
	}
	e := s.event(EventMuted, viewer)
	e.Target = user
	_, err := s.store.Mute(ctx, Edge{EdgeID{s.givenID()}, viewer, user}, e)
	return memberError(err)
}

// Unmute removes a mute. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Unmute(ctx context.Context, viewer, user UserID) error {
	if err := s.checkOther(ctx, viewer, user); err != nil {
		return err
	}
	e := s.event(EventUnmuted, viewer)
	e.Target = user
	_, err := s.store.Unmute(ctx, viewer, user, e)
	return memberError(err)
}

func (s *Service) checkOther(ctx context.Context, viewer, user UserID) error {
	if err := notOneself(viewer, user); err != nil {
		return err
	}
	_, err := s.Viewer(viewer).user(ctx, "userId", user)
	return err
}

func notOneself(viewer, user UserID) error {
	if viewer == user {
		return fault.Invalidf("userId", "This is you.")
	}
	return nil
}

func circleError(err error) error {
	switch {
	case errors.Is(err, ErrTaken):
		return fault.Errorf(fault.CodeTaken, "name", "You already have a circle with this name.")
	case errors.Is(err, ErrNotFound):
		return fault.NotFound("circleId", "circle")
	default:
		return err
	}
}

// memberError treats a concurrent block as if the user did not exist.
func memberError(err error) error {
	if errors.Is(err, ErrBlocked) || errors.Is(err, ErrNotFound) {
		return fault.NotFound("userId", "user")
	}
	return err
}
