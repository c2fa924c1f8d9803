package social

import (
	"context"
	"time"

	"plaza/fault"
)

// Case gathers the reports on one subject for moderators.
type Case struct {
	ID      CaseID
	Subject Subject
	Author  UserID // who wrote the subject, or the user
	State   CaseState
	Order   CaseID // the key in CasesIn: greater than those of all cases that were opened before

	Held      *Audience // the audience of a hidden post before it was hidden; nil: it is not hidden, or no post
	Decisions int       // how many there have been

	// The reports since the case was last opened.
	Reasons         map[ReportReason]int // without zeros; reporters who have deleted their accounts are counted
	FirstAt, LastAt time.Time            // of the first and the newest report
}

// Reports returns the number of reports since the case was last opened.
func (c *Case) Reports() (n int) {
	for _, of := range c.Reasons {
		n += of
	}
	return n
}

// IsHidden reports whether moderators have hidden the subject, which is this post or comment (nil:
// it is not there, or not of that kind). Servers of an earlier version let the author of a post
// choose another audience, which is then the one that counts: restoring the audience before could
// show it to more people.
func (c *Case) IsHidden(post *Post, comment *Comment) bool {
	if c.Subject.Kind() == SubjectComment {
		return comment != nil && comment.Hidden
	}
	return c.Held != nil && (post == nil || IsHidden(post))
}

// CaseState is whether moderators have something to decide.
type CaseState string

// The states of a case.
const (
	CaseOpen    CaseState = "OPEN"
	CaseDecided CaseState = "DECIDED" // a new report reopens it
)

// Check validates a state, naming the field. Error: INVALID.
func (s CaseState) Check(field string) error {
	if s != CaseOpen && s != CaseDecided {
		return fault.Invalidf(field, "This case state does not exist.")
	}
	return nil
}

// Cases stores reports, and the cases that they belong to. A case is deleted with its author's
// account, and a report with its reporter's account.
type Cases interface {
	// Report stores a report, and counts it in the case of its subject, in one transaction. It
	// creates or reopens the case if necessary. False: the reporter has already reported the
	// subject since the case was opened, and nothing is changed. ErrLimitReached: the reporter has
	// reported maximum other subjects in the 24 hours before r.At.
	Report(ctx context.Context, r Report, maximum int) (bool, error)
	// ReportsBy lists a user's reports behind a position, oldest first, at most limit. A report that
	// the user makes again moves to the end.
	ReportsBy(ctx context.Context, reporter UserID, after ReportPosition, limit int) ([]Report, error)
	// Cases reads by id; absent cases are missing in the map.
	Cases(ctx context.Context, ids []CaseID) (map[CaseID]*Case, error)
	// CasesIn lists the cases in a state, in the order in which they were opened; keys are
	// Case.Order.
	CasesIn(ctx context.Context, state CaseState, p Page) ([]*Case, error)
	// NewestReports reads the newest reports on each case since it was opened, newest first, at
	// most n of each.
	NewestReports(ctx context.Context, cases []*Case, n int) (map[CaseID][]Report, error)
}
