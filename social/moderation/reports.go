package moderation

import (
	"context"
	"errors"
	"strings"

	"plaza/fault"
	"plaza/social"
	"plaza/social/network"
)

// NewReport describes a report.
type NewReport struct {
	Subject social.Subject
	Reason  social.ReportReason
	Text    string
}

// Report reports a post, a comment or a user that the viewer sees. Repeating a report before
// moderators have decided changes nothing. Errors: INVALID, TOO_LONG; NOT_FOUND, also for what the
// viewer may not see; NOT_ALLOWED: it is the viewer's own; LIMIT_REACHED.
func (s *Service) Report(ctx context.Context, viewer social.UserID, in NewReport) error {
	author, err := authorOf(ctx, s.network.Viewer(viewer), in.Subject)
	if err == nil && !social.CanReport(viewer, author) {
		err = fault.Errorf(fault.CodeNotAllowed, subjectField, "You can't report yourself, or what you wrote.")
	}
	if err := fault.All(err, social.CheckReport(in.Reason, in.Text)); err != nil {
		return err
	}
	r := social.Report{Subject: in.Subject, Author: author, Reporter: viewer, Reason: in.Reason, Text: in.Text, At: s.network.Moment()}
	_, err = s.store.Report(ctx, r, social.MaxReportsPerDay)
	switch {
	case errors.Is(err, social.ErrLimitReached):
		return fault.Errorf(fault.CodeLimitReached, "", "You have made %d reports within a day, the maximum: try again tomorrow.", social.MaxReportsPerDay)
	case errors.Is(err, social.ErrNotFound): // the author has just deleted their account
		return fault.NotFound(subjectField, strings.ToLower(string(in.Subject.Kind())))
	}
	return err
}

// subjectField is the argument that names a subject.
const subjectField = "subjectId"

// authorOf reads the author of a subject that the viewer sees. Error: NOT_FOUND.
func authorOf(ctx context.Context, v *network.Viewer, s social.Subject) (social.UserID, error) {
	switch s.Kind() {
	case social.SubjectPost:
		found, err := v.Posts(ctx, []social.PostID{s.Post})
		p, err := one(found, s.Post, subjectField, "post", err)
		if err != nil {
			return social.UserID{}, err
		}
		return p.Author, nil
	case social.SubjectComment:
		found, err := v.Comments(ctx, []social.CommentID{s.Comment})
		c, err := one(found, s.Comment, subjectField, "comment", err)
		if err == nil && c.Deleted {
			err = fault.NotFound(subjectField, "comment")
		}
		if err != nil {
			return social.UserID{}, err
		}
		return c.Author, nil
	default:
		found, err := v.Users(ctx, []social.UserID{s.User})
		_, err = one(found, s.User, subjectField, "user", err)
		return s.User, err
	}
}
