package social

import (
	"context"
	"time"

	"plaza/fault"
)

// Action is what moderators decide about a case.
type Action string

// The actions.
const (
	ActionDismiss Action = "DISMISS" // nothing is wrong
	ActionHide    Action = "HIDE"    // a post disappears for everyone except its author
	ActionRestore Action = "RESTORE" // a hidden post is visible again
	ActionRemove  Action = "REMOVE"  // a post or comment is deleted
)

// Decision is an entry of the audit log, which is never changed or removed.
type Decision struct {
	ID        DecisionID // greater than those of all earlier decisions; set by the store
	Subject   Subject
	Author    UserID // who wrote the subject, or the user
	Moderator UserID
	Action    Action
	Reason    string
	At        time.Time
}

// IsTold reports whether the author learns of the decision, with its reason. A dismissal would say
// that someone made a report.
func (d *Decision) IsTold() bool { return d.Action != ActionDismiss }

// MaxReasonLen is the maximum length of Decision.Reason, in characters.
const MaxReasonLen = 2_000

// Ruling is a decision and the changes that it makes.
type Ruling struct {
	Decision

	Case    *Case // as it is from now on; Case.Decisions is one more than before
	Post    *Post // with its new audience and revision; nil: it stays as it is
	Removes bool  // the subject is deleted
}

// Rule returns the ruling of a decision on the case. post is the subject, if it is an existing
// post. Errors: INVALID (the action does not apply to the subject), CONFLICT (the case is already
// decided); NOT_FOUND: there is no such post.
func (c *Case) Rule(d Decision, post *Post) (Ruling, error) {
	if err := c.check(d.Action, c.IsHidden(post)); err != nil {
		return Ruling{}, err
	}
	after := *c
	after.State = CaseDecided
	after.Decisions++
	r := Ruling{Decision: d, Case: &after, Removes: d.Action == ActionRemove}
	if d.Action == ActionDismiss {
		return r, nil
	}
	if post == nil && d.Action != ActionRemove {
		return r, fault.NotFound("caseId", "post")
	}
	after.Held = nil
	switch d.Action {
	case ActionHide:
		after.Held = &post.Audience
		r.Post = post.withAudience(Audience{Kind: AudienceHidden})
	case ActionRestore:
		r.Post = post.withAudience(*c.Held)
	case ActionRemove, ActionDismiss:
	}
	return r, nil
}

func (p *Post) withAudience(a Audience) *Post {
	changed := *p
	changed.Audience = a
	changed.Revision++
	return &changed
}

func (c *Case) check(a Action, isHidden bool) error {
	kind, isOpen := c.Subject.Kind(), c.State == CaseOpen
	decided := fault.Errorf(fault.CodeConflict, "caseId", "This case is already decided.")
	switch {
	case a == ActionHide && kind != SubjectPost:
		return fault.Invalidf("decision", "Only posts can be hidden.")
	case a == ActionHide && isHidden:
		return fault.Errorf(fault.CodeConflict, "caseId", "This post is already hidden.")
	case a == ActionRestore && !isHidden:
		return fault.Errorf(fault.CodeConflict, "caseId", "This is not hidden.")
	case a == ActionRemove && kind == SubjectUser:
		return fault.Invalidf("decision", "A user can't be removed.")
	case a == ActionRestore, a == ActionRemove && isHidden:
		return nil
	case a != ActionDismiss && a != ActionHide && a != ActionRemove:
		return fault.Invalidf("decision", "This decision does not exist.")
	case !isOpen:
		return decided
	}
	return nil
}

// Decisions stores the decisions of moderators: the audit log.
type Decisions interface {
	// Decide stores a decision under a new id, its case, and the change of its subject, as
	// UpdatePost, DeletePost or DeleteComment would, in one transaction with the event (zero: none).
	// ErrConflict: the case has been decided or reopened, or the post has been changed, since they
	// were read. ErrNotFound: the subject to change is absent.
	Decide(ctx context.Context, r Ruling, e Event) error
	// Decisions lists all decisions, newest first; keys are Decision.ID.
	Decisions(ctx context.Context, p Page) ([]*Decision, error)
	// DecisionsTold lists the decisions that an author may read (IsTold), newest first.
	DecisionsTold(ctx context.Context, author UserID, p Page) ([]*Decision, error)
}
