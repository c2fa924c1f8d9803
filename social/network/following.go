package network

import (
	"context"
	"errors"

	"plaza/fault"
	"plaza/social"
)

// CreateCircle creates a circle. Errors: BLANK, TOO_LONG, INVALID, TAKEN, LIMIT_REACHED.
func (s *Service) CreateCircle(ctx context.Context, viewer social.UserID, name string) (*social.Circle, error) {
	if err := social.CheckCircleName(name); err != nil {
		return nil, err
	}
	circle := &social.Circle{ID: social.CircleID{ID: s.givenID()}, Owner: viewer, Name: name}
	if err := s.store.InsertCircle(ctx, circle, social.MaxCircles, s.circleEvent(social.EventCircleCreated, viewer, circle.ID)); err != nil {
		return nil, circleError(err)
	}
	return circle, nil
}

// RenameCircle renames one of the viewer's circles. Errors: as CreateCircle, and NOT_FOUND.
func (s *Service) RenameCircle(ctx context.Context, viewer social.UserID, circle social.CircleID, name string) error {
	_, missing := s.Viewer(viewer).circle(ctx, circle)
	if err := fault.All(missing, social.CheckCircleName(name)); err != nil {
		return err
	}
	return circleError(s.store.RenameCircle(ctx, circle, name, s.circleEvent(social.EventCircleRenamed, viewer, circle)))
}

// DeleteCircle removes one of the viewer's circles, but never the built-in one. Errors: NOT_FOUND,
// NOT_ALLOWED.
func (s *Service) DeleteCircle(ctx context.Context, viewer social.UserID, circle social.CircleID) error {
	stored, err := s.Viewer(viewer).circle(ctx, circle)
	if err != nil {
		return err
	}
	if stored.IsDefault {
		return fault.Errorf(fault.CodeNotAllowed, "circleId", "The built-in circle can't be removed.")
	}
	e := s.circleEvent(social.EventCircleDeleted, viewer, circle)
	defer s.noteHiding(e)
	return circleError(s.store.DeleteCircle(ctx, circle, e))
}

// AddToCircle adds a user to one of the viewer's circles. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) AddToCircle(ctx context.Context, viewer social.UserID, circle social.CircleID, member social.UserID) error {
	v := s.Viewer(viewer)
	if err := fault.All(notOneself(viewer, member), v.checkMembership(ctx, circle, member)); err != nil {
		return err
	}
	return s.add(ctx, social.Membership{Circle: circle, Owner: viewer, Member: member})
}

func (s *Service) add(ctx context.Context, m social.Membership) error {
	_, err := s.store.AddToCircle(ctx, m, social.EdgeID{ID: s.givenID()}, s.memberEvent(social.EventMemberAdded, m))
	return memberError(err)
}

// RemoveFromCircle removes a user from one of the viewer's circles. Error: NOT_FOUND.
func (s *Service) RemoveFromCircle(ctx context.Context, viewer social.UserID, circle social.CircleID, member social.UserID) error {
	if err := s.Viewer(viewer).checkMembership(ctx, circle, member); err != nil {
		return err
	}
	m := social.Membership{Circle: circle, Owner: viewer, Member: member}
	e := s.memberEvent(social.EventMemberRemoved, m)
	defer s.noteHiding(e)
	_, err := s.store.RemoveFromCircle(ctx, m, e)
	return memberError(err)
}

// checkMembership checks that the viewer has such a circle, and that the user exists. Error:
// NOT_FOUND.
func (v *Viewer) checkMembership(ctx context.Context, circle social.CircleID, member social.UserID) error {
	_, noCircle := v.circle(ctx, circle)
	_, noUser := v.user(ctx, "userId", member)
	return fault.All(noCircle, noUser)
}

// Follow adds a user to the viewer's built-in circle. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Follow(ctx context.Context, viewer, user social.UserID) error {
	if err := s.checkOther(ctx, viewer, user); err != nil {
		return err
	}
	builtIn, err := s.Viewer(viewer).builtInCircle(ctx)
	if err != nil {
		return err
	}
	return s.add(ctx, social.Membership{Circle: builtIn, Owner: viewer, Member: user})
}

// Unfollow removes a user from all of the viewer's circles. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Unfollow(ctx context.Context, viewer, user social.UserID) error {
	if err := s.checkOther(ctx, viewer, user); err != nil {
		return err
	}
	e := s.relationEvent(social.EventUnfollowed, viewer, user)
	defer s.noteHiding(e)
	_, err := s.store.Unfollow(ctx, viewer, user, e)
	return memberError(err)
}

// Block makes the two users invisible to each other. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Block(ctx context.Context, viewer, user social.UserID) (*social.User, error) {
	u, isBlocked, err := s.blockable(ctx, viewer, user)
	if err != nil {
		return u, err
	}
	e := s.relationEvent(social.EventBlocked, viewer, user)
	defer s.noteHiding(e) // an old block, too: the request that stored it may not have counted it yet
	if isBlocked {
		return u, nil
	}
	_, err = s.store.Block(ctx, social.Edge{ID: social.EdgeID{ID: s.givenID()}, From: viewer, To: user}, e)
	return u, memberError(err)
}

// blockable reads a user who is visible to the viewer, or hidden only by the viewer's block, and
// reports whether there is that block. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) blockable(ctx context.Context, viewer, user social.UserID) (u *social.User, isBlocked bool, err error) {
	if err := notOneself(viewer, user); err != nil {
		return nil, false, err
	}
	people, err := s.people.People(ctx, viewer, []social.UserID{user})
	if err != nil {
		return nil, false, err
	}
	p := people[user]
	if p.User == nil || social.IsAway(p.User.Standing) || !p.Relation.Blocks && !p.IsSeen() {
		return nil, false, fault.NotFound("userId", "user")
	}
	return p.User, p.Relation.Blocks, nil
}

// Unblock removes a block; without one, the user must be visible to the viewer. A block of someone
// who is away stays, because the viewer can't see it. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Unblock(ctx context.Context, viewer, user social.UserID) error {
	_, isBlocked, err := s.blockable(ctx, viewer, user)
	if err != nil || !isBlocked {
		return err
	}
	_, err = s.store.Unblock(ctx, viewer, user, s.relationEvent(social.EventUnblocked, viewer, user))
	return memberError(err)
}

// Mute keeps a user's posts out of the viewer's wall, news and incoming. Errors: NOT_FOUND, INVALID
// (oneself).
func (s *Service) Mute(ctx context.Context, viewer, user social.UserID) error {
	if err := s.checkOther(ctx, viewer, user); err != nil {
		return err
	}
	e := s.relationEvent(social.EventMuted, viewer, user)
	defer s.noteHiding(e)
	_, err := s.store.Mute(ctx, social.Edge{ID: social.EdgeID{ID: s.givenID()}, From: viewer, To: user}, e)
	return memberError(err)
}

// Unmute removes a mute. Errors: NOT_FOUND, INVALID (oneself).
func (s *Service) Unmute(ctx context.Context, viewer, user social.UserID) error {
	if err := s.checkOther(ctx, viewer, user); err != nil {
		return err
	}
	_, err := s.store.Unmute(ctx, viewer, user, s.relationEvent(social.EventUnmuted, viewer, user))
	return memberError(err)
}

func (s *Service) checkOther(ctx context.Context, viewer, user social.UserID) error {
	if err := notOneself(viewer, user); err != nil {
		return err
	}
	_, err := s.Viewer(viewer).user(ctx, "userId", user)
	return err
}

func notOneself(viewer, user social.UserID) error {
	if viewer == user {
		return fault.Invalidf("userId", "This is you.")
	}
	return nil
}

func (s *Service) circleEvent(kind social.EventKind, owner social.UserID, circle social.CircleID) social.Event {
	e := s.event(kind, owner)
	e.Circle = circle
	return e
}

func (s *Service) memberEvent(kind social.EventKind, m social.Membership) social.Event {
	e := s.circleEvent(kind, m.Owner, m.Circle)
	e.Target = m.Member
	return e
}

func (s *Service) relationEvent(kind social.EventKind, actor, target social.UserID) social.Event {
	e := s.event(kind, actor)
	e.Target = target
	return e
}

func circleError(err error) error {
	switch {
	case errors.Is(err, social.ErrTaken):
		return fault.Errorf(fault.CodeTaken, "name", "You already have a circle with this name.")
	case errors.Is(err, social.ErrLimitReached):
		return fault.Errorf(fault.CodeLimitReached, "", "You already have %d circles, the maximum.", social.MaxCircles)
	case errors.Is(err, social.ErrNotFound):
		return fault.NotFound("circleId", "circle")
	default:
		return err
	}
}

// memberError treats a concurrent block as if the user did not exist.
func memberError(err error) error {
	if errors.Is(err, social.ErrBlocked) || errors.Is(err, social.ErrNotFound) {
		return fault.NotFound("userId", "user")
	}
	return err
}
