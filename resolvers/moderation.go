package resolvers

import (
	"context"
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/social/moderation"
)

// Report resolves Mutation.report.
func (r mutationResolver) Report(ctx context.Context, input model.ReportInput) (*model.ReportPayload, error) {
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		subject, err := relay.SubjectID("subjectId", input.SubjectID)
		if err != nil {
			return fault.All(err, social.CheckReport(input.Reason, input.Text))
		}
		return r.Moderator.Report(ctx, viewer, moderation.NewReport{Subject: subject, Reason: input.Reason, Text: input.Text})
	})
	if err != nil || len(mistakes) > 0 {
		return &model.ReportPayload{UserErrors: mistakes}, err
	}
	return &model.ReportPayload{ReportedID: &input.SubjectID, UserErrors: mistakes}, nil
}

// Moderation resolves Query.moderation.
func (r queryResolver) Moderation(ctx context.Context) (*model.Moderation, error) {
	viewer, err := gate.SignedIn(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.Social.RequireRight(ctx, viewer, social.RightModerate); err != nil {
		return nil, err
	}
	return &model.Moderation{}, nil
}

// Cases resolves Moderation.cases.
func (r moderationResolver) Cases(ctx context.Context, _ *model.Moderation, state social.CaseState, first *int, after *string, last *int, before *string) (*model.ModerationCaseConnection, error) {
	viewer := gate.UserOf(ctx)
	read := func(ctx context.Context, p social.Page) (social.Slice[*moderation.CaseSeen], error) {
		return r.Moderator.CasesIn(ctx, viewer, state, p)
	}
	list := relay.ListOf(relay.CursorsOf(relay.KindCase, "cases", string(state)), read)
	return relay.Connect(ctx, list, relay.ArgsOf(first, after, last, before), r.wrapCase)
}

// Case resolves Moderation.case.
func (r moderationResolver) Case(ctx context.Context, _ *model.Moderation, id string) (*model.ModerationCase, error) {
	which, err := relay.CaseID("id", id)
	if err != nil {
		return nil, err
	}
	seen, err := r.Moderator.Case(ctx, gate.UserOf(ctx), "id", which)
	if err != nil {
		return nil, err
	}
	return r.wrapCase(seen), nil
}

// casesByID finds cases that the viewer may see. Errors: FORBIDDEN, UNAUTHENTICATED, SUSPENDED.
func (r *Resolver) casesByID(ctx context.Context, ids []social.CaseID) (map[social.CaseID]*model.ModerationCase, error) {
	found, err := r.Moderator.Cases(ctx, gate.UserOf(ctx), ids)
	wrapped := make(map[social.CaseID]*model.ModerationCase, len(found))
	for id, c := range found {
		wrapped[id] = r.wrapCase(c)
	}
	return wrapped, err
}

// AuditLog resolves Moderation.auditLog.
func (r moderationResolver) AuditLog(ctx context.Context, _ *model.Moderation, first *int, after *string, last *int, before *string) (*model.AuditEntryConnection, error) {
	read := func(ctx context.Context, p social.Page) (social.Slice[*moderation.DecisionSeen], error) {
		return r.Moderator.AuditLog(ctx, gate.UserOf(ctx), p)
	}
	entries := relay.ListOf(relay.CursorsOf(relay.KindDecision, "audit log"), read)
	return relay.Connect(ctx, entries, relay.ArgsOf(first, after, last, before), func(d *moderation.DecisionSeen) *model.AuditEntry {
		return &model.AuditEntry{
			ID: d.ID.String(), Decision: d.Action, SubjectKind: d.Subject.Kind(), SubjectID: d.Subject.String(), CaseID: d.Subject.Case().String(),
			IsByOperator: d.Decision.Moderator.IsZero(), Until: model.Optional(d.Until),
			Author: r.reportedUser(d.Author), Moderator: r.reportedUser(d.Moderator), Reason: d.Reason, CreatedAt: d.At,
		}
	})
}

// Decisions resolves Viewer.decisions.
func (r viewerResolver) Decisions(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.ModerationDecisionConnection, error) {
	read := func(ctx context.Context, p social.Page) (social.Slice[*social.Decision], error) {
		return r.Moderator.Decisions(ctx, obj.UserID, p)
	}
	decisions := relay.ListOf(relay.CursorsOf(relay.KindDecision, "decisions", obj.UserID.String()), read)
	return relay.Connect(ctx, decisions, relay.ArgsOf(first, after, last, before), func(d *social.Decision) *model.ModerationDecision {
		return &model.ModerationDecision{
			ID: d.ID.String(), Decision: d.Action, SubjectKind: d.Subject.Kind(), SubjectID: d.Subject.String(), Until: model.Optional(d.Until), Reason: d.Reason, CreatedAt: d.At,
		}
	})
}

// Standing resolves Viewer.standing.
func (r viewerResolver) Standing(ctx context.Context, obj *model.Viewer) (*model.Standing, error) {
	standing, err := r.Social.Standing(ctx, obj.UserID)
	return r.wrapStanding(standing), err
}

// wrapStanding shows a standing as it is now; the reason of a suspension that has ended is in
// Viewer.decisions.
func (r *Resolver) wrapStanding(s social.Standing) *model.Standing {
	kind := s.At(r.Social.Moment())
	wrapped := &model.Standing{Kind: kind}
	if kind == social.StandingSuspended {
		wrapped.Until = model.Optional(s.Until)
	}
	if kind == social.StandingSuspended || kind == social.StandingBanned {
		wrapped.Reason = model.Optional(s.Reason)
	}
	return wrapped
}

// DecideCase resolves Mutation.decideCase.
func (r mutationResolver) DecideCase(ctx context.Context, input model.DecideCaseInput) (*model.DecideCasePayload, error) {
	cases := noun[social.CaseID, *model.ModerationCase]{"case", "caseId", relay.CaseID, r.loadCase}
	decided, mistakes, err := cases.write(ctx, r, func(viewer social.UserID) (social.CaseID, error) {
		id, err := relay.CaseID("caseId", input.CaseID)
		decision := moderation.NewDecision{Case: id, Action: input.Decision, Reason: input.Reason}
		if input.Until != nil {
			decision.Until = input.Until.UTC().Truncate(time.Millisecond)
		}
		if err != nil {
			return id, fault.All(err, r.Moderator.CheckDecision(decision))
		}
		return id, r.Moderator.Decide(ctx, viewer, decision)
	})
	return &model.DecideCasePayload{Case: decided, UserErrors: mistakes}, err
}

func (r *Resolver) loadCase(ctx context.Context, id social.CaseID) (*model.ModerationCase, error) {
	seen, err := r.Moderator.Case(ctx, gate.UserOf(ctx), "caseId", id)
	if err != nil {
		return nil, err
	}
	return r.wrapCase(seen), nil
}

func (r *Resolver) wrapCase(c *moderation.CaseSeen) *model.ModerationCase {
	return &model.ModerationCase{
		ID: c.ID.String(), SubjectKind: c.Subject.Kind(), SubjectID: c.Subject.String(), Author: r.reportedUser(c.Author), Content: reportedContent(c),
		State: c.State, IsHidden: c.IsHidden(c.Post, c.Comment), ReportsCount: c.Case.Reports(), Reasons: reasonCounts(c.Case), LatestReports: caseReports(c.Reports),
		FirstReportedAt: c.FirstAt, LastReportedAt: c.LastAt,
	}
}

func (r *Resolver) reportedUser(u *social.User) *model.ReportedUser {
	if u == nil {
		return nil
	}
	return &model.ReportedUser{ID: u.ID.String(), Handle: u.Handle, Name: u.Name, Bio: u.Bio, AvatarURL: model.Optional(u.AvatarURL), Standing: r.wrapStanding(u.Standing)}
}

func reportedContent(c *moderation.CaseSeen) *model.ReportedContent {
	switch {
	case c.Post != nil:
		details, urls := c.Post.Content.Rest()
		return &model.ReportedContent{
			PostID: c.Post.ID.String(), Text: c.Post.Content.Text(), Details: details, Urls: urls, CreatedAt: c.Post.CreatedAt(), EditedAt: model.Optional(c.Post.EditedAt),
		}
	case c.Comment != nil:
		return &model.ReportedContent{
			PostID: c.Comment.Post.String(), Text: c.Comment.Text, CreatedAt: c.Comment.CreatedAt(), EditedAt: model.Optional(c.Comment.EditedAt),
		}
	default:
		return nil
	}
}

func reasonCounts(c *social.Case) []*model.ReasonCount {
	counts := []*model.ReasonCount{}
	for _, reason := range social.ReportReasons {
		if n := c.Reasons[reason]; n > 0 {
			counts = append(counts, &model.ReasonCount{Reason: reason, Count: n})
		}
	}
	return counts
}

func caseReports(reports []social.Report) []*model.CaseReport {
	wrapped := make([]*model.CaseReport, len(reports))
	for i, r := range reports {
		wrapped[i] = &model.CaseReport{Reason: r.Reason, Text: r.Text, CreatedAt: r.At}
	}
	return wrapped
}
