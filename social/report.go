package social

import (
	"slices"
	"time"

	"plaza/fault"
	"plaza/id"
)

// Report is a user's report of a post, a comment or another user to the moderators.
type Report struct {
	Subject  Subject
	Author   UserID // who wrote the post or comment, or the user
	Reporter UserID
	Reason   ReportReason
	Text     string // may be empty
	At       time.Time
}

// Position returns where the report is among those of its reporter.
func (r *Report) Position() ReportPosition { return ReportPosition{r.At, r.Subject.Case()} }

// ReportPosition is a place in the list of a user's reports, behind one of them. The zero value is
// the start.
type ReportPosition struct {
	At   time.Time
	Case CaseID // orders the reports of one moment
}

// MaxReportLen is the maximum length of Report.Text, in characters.
const MaxReportLen = 2_000

// MaxReportsPerDay is how many reports a user may make within 24 hours.
const MaxReportsPerDay = 50

// ReportReason is the reason for a report.
type ReportReason string

// The reasons of reports.
const (
	ReasonSpam     ReportReason = "SPAM"
	ReasonAbuse    ReportReason = "ABUSE"
	ReasonViolence ReportReason = "VIOLENCE"
	ReasonSexual   ReportReason = "SEXUAL"
	ReasonIllegal  ReportReason = "ILLEGAL"
	ReasonOther    ReportReason = "OTHER"
)

// ReportReasons holds all reasons, in display order.
var ReportReasons = []ReportReason{ReasonSpam, ReasonAbuse, ReasonViolence, ReasonSexual, ReasonIllegal, ReasonOther}

// CheckReport validates what a report says. Errors: INVALID, TOO_LONG.
func CheckReport(reason ReportReason, text string) error {
	var unknown error
	if !slices.Contains(ReportReasons, reason) {
		unknown = fault.Invalidf("reason", "This reason does not exist.")
	}
	return fault.All(unknown, fault.CheckText("text", text, 0, MaxReportLen))
}

// SubjectKind says whether a subject is a post, a comment or a user.
type SubjectKind string

// The kinds of subjects.
const (
	SubjectPost    SubjectKind = "POST"
	SubjectComment SubjectKind = "COMMENT"
	SubjectUser    SubjectKind = "USER"
)

// Subject is what reports and decisions are about: a post, a comment or a user. One id is set.
type Subject struct {
	Post    PostID
	Comment CommentID
	User    UserID
}

// Kind returns the kind of the id that is set.
func (s Subject) Kind() SubjectKind {
	switch {
	case !s.Post.IsZero():
		return SubjectPost
	case !s.Comment.IsZero():
		return SubjectComment
	default:
		return SubjectUser
	}
}

// String returns the typed id of the post, comment or user.
func (s Subject) String() string {
	switch s.Kind() {
	case SubjectPost:
		return s.Post.String()
	case SubjectComment:
		return s.Comment.String()
	default:
		return s.User.String()
	}
}

// Case returns the id of the only case on a subject: the subject's own id with another prefix.
func (s Subject) Case() CaseID {
	switch s.Kind() {
	case SubjectPost:
		return CaseID{s.Post.ID}
	case SubjectComment:
		return CaseID{s.Comment.ID}
	default:
		return CaseID{s.User.ID}
	}
}

// SubjectOf returns the subject of that kind whose case has that id.
func SubjectOf(kind SubjectKind, of id.ID) Subject {
	switch kind {
	case SubjectPost:
		return Subject{Post: PostID{of}}
	case SubjectComment:
		return Subject{Comment: CommentID{of}}
	case SubjectUser:
		return Subject{User: UserID{of}}
	default:
		return Subject{}
	}
}
