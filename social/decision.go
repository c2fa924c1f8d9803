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
	ActionHide    Action = "HIDE"    // a post or comment disappears for everyone but its author
	ActionRestore Action = "RESTORE" // the opposite
	ActionRemove  Action = "REMOVE"  // a post or comment is deleted

	ActionSuspend   Action = "SUSPEND"   // the author, or the user, changes nothing until a time
	ActionBan       Action = "BAN"       // they cannot sign in, and are hidden from everyone
	ActionReinstate Action = "REINSTATE" // the opposite of both
)

// Decision is an entry of the audit log, which is never changed or removed.
type Decision struct {
	ID        DecisionID // greater than those of all earlier decisions; set by the store
	Subject   Subject
	Author    UserID // who wrote the subject, or the user
	Moderator UserID // zero: an operator
	Action    Action
	Reason    string
	At        time.Time
	Until     time.Time // of ActionSuspend
}

// IsSanction reports whether an action changes the standing of an account.
func (a Action) IsSanction() bool {
	return a == ActionSuspend || a == ActionBan || a == ActionReinstate
}

// ReachesAuthor reports whether the author learns of the decision, with its reason. A dismissal would say
// that someone made a report.
func (d *Decision) ReachesAuthor() bool { return d.Action != ActionDismiss }

// MaxReasonLen is the maximum length of Decision.Reason, in characters.
const MaxReasonLen = 2_000

// Ruling is a decision and the changes that it makes.
type Ruling struct {
	Decision

	Case    *Case    // as it is from now on; Case.Decisions is one more than before; nil: an operator decides without one
	Post    *Post    // with its new audience and revision; nil: it stays as it is
	Comment *Comment // hidden, or not any more; nil: it stays as it is
	Removes bool     // the subject is deleted

	// Sanctions says that the standing of the author changes, as Standing.Sanctioned says.
	Sanctions bool
}

// Rule makes the ruling of a decision on the case. post or comment is the subject, if it is there.
// Errors: INVALID (the action does not fit the subject), CONFLICT (it was decided already);
// NOT_FOUND: the subject is not there.
func (c *Case) Rule(d Decision, post *Post, comment *Comment) (Ruling, error) {
	if err := c.check(d.Action, c.IsHidden(post, comment)); err != nil {
		return Ruling{}, err
	}
	after := *c
	after.State = CaseDecided
	after.Decisions++
	r := Ruling{Decision: d, Case: &after, Removes: d.Action == ActionRemove}
	r.Sanctions = d.Action.IsSanction()
	switch {
	case r.Sanctions, d.Action == ActionDismiss:
		return r, nil
	case d.Action == ActionRemove:
		after.Held = nil
		return r, nil
	case c.Subject.Kind() == SubjectComment:
		err := r.hideComment(comment, d.Action == ActionHide)
		return r, err
	case post == nil:
		return r, fault.NotFound("caseId", "post")
	case d.Action == ActionHide:
		after.Held = &post.Audience
		r.Post = post.withAudience(Audience{Kind: AudienceHidden})
	default:
		after.Held = nil
		r.Post = post.withAudience(*c.Held)
	}
	return r, nil
}

// hideComment hides a comment, or shows it again.
func (r *Ruling) hideComment(c *Comment, hide bool) error {
	if c == nil {
		return fault.NotFound("caseId", "comment")
	}
	changed := *c
	changed.Hidden = hide
	r.Comment = &changed
	return nil
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
	case a == ActionHide && kind == SubjectUser:
		return fault.Invalidf("decision", "A user can't be hidden.")
	case a == ActionHide && isHidden:
		return fault.Errorf(fault.CodeConflict, "caseId", "This is hidden already.")
	case a == ActionRestore && !isHidden:
		return fault.Errorf(fault.CodeConflict, "caseId", "This is not hidden.")
	case a == ActionRemove && kind == SubjectUser:
		return fault.Invalidf("decision", "A user can't be removed.")
	case a == ActionRestore, a == ActionRemove && isHidden, a.IsSanction():
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
	// Decide stores a decision under a new id, its case (nil: none), and the change of its subject,
	// as UpdatePost, DeletePost or DeleteComment would, or of its author's standing, in one
	// transaction with the event (zero: none). Of a ruling's comment it stores Hidden, and updates
	// Post.Latest; counts remain. ErrConflict: the case has been decided or opened again, or the
	// post has been changed, since they were read. ErrNotFound: the subject to change is absent, or
	// a tombstone, or the user is absent. ErrTooEarly: comments can't be hidden yet.
	Decide(ctx context.Context, r Ruling, e Event) error
	// Decisions lists all decisions, newest first; keys are Decision.ID.
	Decisions(ctx context.Context, p Page) ([]*Decision, error)
	// DecisionsForAuthor lists the decisions that an author may read (ReachesAuthor), newest first.
	DecisionsForAuthor(ctx context.Context, author UserID, p Page) ([]*Decision, error)
}
