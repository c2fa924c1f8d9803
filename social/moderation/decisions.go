package moderation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// NewDecision describes a decision.
type NewDecision struct {
	Case   social.CaseID
	Action social.Action
	Until  time.Time // of social.ActionSuspend
	Reason string    // for the author and the audit log
}

// Decide decides a case that the viewer sees as a moderator. Errors: BLANK, TOO_LONG, INVALID (also
// an action that does not fit the subject); NOT_FOUND: the case, or the subject, which the action
// needs; CONFLICT: the case is decided already, another moderator has just decided, or the account
// has that standing; NOT_ALLOWED: operators alone may decide about the user, or comments can't be
// hidden until the operator has finished an upgrade; FORBIDDEN, UNAUTHENTICATED.
func (s *Service) Decide(ctx context.Context, viewer social.UserID, in NewDecision) error {
	seen, err := s.Case(ctx, viewer, caseField, in.Case)
	if err := fault.All(err, s.CheckDecision(in)); err != nil {
		return err
	}
	c := seen.Case
	ruling, err := rulingOn(seen, social.Decision{
		Subject: c.Subject, Author: c.Author, Moderator: viewer, Action: in.Action, Reason: in.Reason, At: s.network.Moment(), Until: in.Until,
	})
	if err != nil {
		return err
	}
	e, err := eventOf(&ruling, seen)
	if err != nil {
		return err
	}
	defer s.network.MayHaveHidden()
	err = s.network.CarryOut(ctx, ruling, e)
	switch {
	case errors.Is(err, social.ErrConflict):
		return fault.Errorf(fault.CodeConflict, caseField, "Another moderator has just decided, or the post was just changed: look again.")
	case errors.Is(err, social.ErrTooEarly):
		return fault.Errorf(fault.CodeNotAllowed, "decision", "Comments can be hidden once this site has finished its upgrade. Until then, they can be removed.")
	case errors.Is(err, social.ErrNotFound):
		return subjectGone(c)
	}
	return err
}

// CheckDecision validates what does not depend on the case. Errors: BLANK, TOO_LONG (reason);
// INVALID (until).
func (s *Service) CheckDecision(in NewDecision) error {
	d := social.Decision{Action: in.Action, At: s.network.Moment(), Until: in.Until}
	return fault.All(fault.CheckText("reason", in.Reason, 1, social.MaxReasonLen), d.CheckUntil())
}

// rulingOn makes the ruling of a decision on a case, about its subject or the author.
func rulingOn(c *CaseSeen, d social.Decision) (social.Ruling, error) {
	switch {
	case !d.Action.IsSanction():
		return c.Rule(d, c.Post, c.Comment)
	case c.Author == nil:
		return social.Ruling{}, fault.NotFound(caseField, "user")
	}
	r, err := c.Author.Sanction(d, c.Case)
	if err == nil && !social.CanSanction(c.Author) {
		err = fault.Errorf(fault.CodeNotAllowed, caseField, "This user has the right to moderate or administer: ask an operator.")
	}
	return r, err
}

// caseField is the argument that names a case.
const caseField = "caseId"

// subjectGone reports that the subject of a decision is deleted.
func subjectGone(c *social.Case) error {
	return fault.NotFound(caseField, strings.ToLower(string(c.Subject.Kind())))
}

// eventOf is the event of what a ruling changes; zero: it changes nothing.
func eventOf(r *social.Ruling, seen *CaseSeen) (social.Event, error) {
	switch {
	case r.Sanctions:
		return event(social.EventStandingChanged, social.PostID{}, r.Author), nil
	case r.Post != nil:
		return event(social.EventAudienceChanged, r.Post.ID, r.Post.WallOwner), nil
	case r.Comment != nil && r.Comment.Hidden:
		return commentEvent(social.EventCommentDeleted, r.Comment), nil
	case r.Comment != nil:
		return commentEvent(social.EventCommentEdited, r.Comment), nil
	case !r.Removes:
		return social.Event{}, nil
	case seen.Post != nil:
		return event(social.EventPostDeleted, seen.Post.ID, seen.Post.WallOwner), nil
	case seen.Comment != nil:
		return commentEvent(social.EventCommentDeleted, seen.Comment), nil
	default:
		return social.Event{}, subjectGone(r.Case)
	}
}

// commentEvent is an event about a comment. For everyone but the author, hiding one deletes it, and
// restoring it changes it.
func commentEvent(kind social.EventKind, c *social.Comment) social.Event {
	e := event(kind, c.Post, c.Author)
	e.Comment = c.ID
	return e
}

// DecisionSeen is a decision, and the people it names; those whose accounts are deleted are nil.
type DecisionSeen struct {
	*social.Decision

	Author, Moderator *social.User
}

// AuditLog lists all decisions, newest first. Errors: FORBIDDEN, UNAUTHENTICATED: only those with
// the right to administer read it.
func (s *Service) AuditLog(ctx context.Context, viewer social.UserID, p social.Page) (social.Slice[*DecisionSeen], error) {
	if err := s.network.RequireRight(ctx, viewer, social.RightAdmin); err != nil {
		return social.Slice[*DecisionSeen]{}, err
	}
	found, err := s.store.Decisions(ctx, p.Beyond())
	if err != nil {
		return social.Slice[*DecisionSeen]{}, err
	}
	people := map[social.UserID]bool{}
	for _, d := range found {
		people[d.Author], people[d.Moderator] = true, true
	}
	users, err := s.store.Users(ctx, slices.Collect(maps.Keys(people)))
	seen := make([]*DecisionSeen, len(found))
	for i, d := range found {
		seen[i] = &DecisionSeen{Decision: d, Author: users[d.Author], Moderator: users[d.Moderator]}
	}
	return paging.Cut(seen, p, func(d *DecisionSeen) social.Key { return social.Key(d.ID.Bytes()) }), err
}

// Decisions lists what moderators decided about the viewer, and about what the viewer wrote, newest
// first, without dismissed reports.
func (s *Service) Decisions(ctx context.Context, viewer social.UserID, p social.Page) (social.Slice[*social.Decision], error) {
	found, err := s.store.DecisionsForAuthor(ctx, viewer, p.Beyond())
	return paging.Cut(found, p, func(d *social.Decision) social.Key { return social.Key(d.ID.Bytes()) }), err
}
