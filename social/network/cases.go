package network

import (
	"context"
	"maps"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// CaseSeen is a case with what a moderator sees of it.
type CaseSeen struct {
	*social.Case

	Author  *social.User    // nil: the account is deleted
	Post    *social.Post    // of a case on a post; nil: it is deleted
	Comment *social.Comment // of a case on a comment; nil: it is deleted
	Reports []social.Report // the newest ones, newest first
}

// maxReportsSeen is how many reports a moderator sees of each case.
const maxReportsSeen = 20

// IsModerator reports whether the viewer has the right to moderate now. Error: UNAUTHENTICATED.
func (v *Viewer) IsModerator(ctx context.Context) (bool, error) {
	user, err := v.account(ctx)
	return err == nil && user.HasRight(social.RightModerate), err
}

// CasesIn lists the cases in a state that the viewer sees, in the order in which they were opened.
func (v *Viewer) CasesIn(ctx context.Context, state social.CaseState, p social.Page) (social.Slice[*CaseSeen], error) {
	is, err := v.IsModerator(ctx)
	if err != nil {
		return social.Slice[*CaseSeen]{}, err
	}
	read := func(ctx context.Context, lists []social.List[social.CaseState]) (map[social.List[social.CaseState]][]*social.Case, error) {
		found, err := v.s.store.CasesIn(ctx, state, lists[0].Page)
		return map[social.List[social.CaseState]][]*social.Case{lists[0]: found}, err
	}
	see := func(context.Context, []*social.Case) (func(social.CaseState, *social.Case) bool, error) {
		return func(_ social.CaseState, c *social.Case) bool { return social.CanSeeCase(v.ID, is, c) }, nil
	}
	key := func(_ social.CaseState, c *social.Case) social.Key { return social.Key(c.Order.Bytes()) }
	list := social.List[social.CaseState]{Of: state, Page: p}
	found, err := collect(ctx, v, []social.List[social.CaseState]{list}, read, key, see)
	if err != nil {
		return social.Slice[*CaseSeen]{}, err
	}
	seen, err := v.lookInto(ctx, is, found[list].Items)
	return social.Slice[*CaseSeen]{Items: seen, Keys: found[list].Keys, More: found[list].More}, err
}

// Case reads one case. Error: NOT_FOUND, naming the field, also for one that the viewer may not see.
func (v *Viewer) Case(ctx context.Context, field string, id social.CaseID) (*CaseSeen, error) {
	is, err := v.IsModerator(ctx)
	if err != nil {
		return nil, err
	}
	found, err := v.s.store.Cases(ctx, []social.CaseID{id})
	if err != nil {
		return nil, err
	}
	if found[id] == nil || !social.CanSeeCase(v.ID, is, found[id]) {
		return nil, fault.NotFound(field, "case")
	}
	seen, err := v.lookInto(ctx, is, []*social.Case{found[id]})
	if err != nil {
		return nil, err
	}
	return seen[0], nil
}

// lookInto reads what cases that the viewer sees are about, in one read of each kind.
func (v *Viewer) lookInto(ctx context.Context, isModerator bool, cases []*social.Case) ([]*CaseSeen, error) {
	reported, err := v.reported(ctx, isModerator, cases)
	if err != nil {
		return nil, err
	}
	authors := map[social.UserID]bool{}
	for _, c := range cases {
		authors[c.Author] = true
	}
	users, err := v.s.people.Users(ctx, slices.Collect(maps.Keys(authors)))
	if err != nil {
		return nil, err
	}
	reports, err := v.s.store.NewestReports(ctx, cases, maxReportsSeen)
	if err != nil {
		return nil, err
	}
	seen := make([]*CaseSeen, len(cases))
	for i, c := range cases {
		seen[i] = &CaseSeen{
			Case: c, Author: users[c.Author], Post: reported.Posts[c.Subject.Post], Comment: reported.Comments[c.Subject.Comment], Reports: reports[c.ID],
		}
	}
	return seen, nil
}

// reported reads the posts and comments that cases are about. A tombstone has nothing to show.
func (v *Viewer) reported(ctx context.Context, isModerator bool, cases []*social.Case) (s Subjects, err error) {
	var posts []social.PostID
	var comments []social.CommentID
	for _, c := range cases {
		switch {
		case !social.CanSeeReported(v.ID, isModerator, c, c.Subject):
		case c.Subject.Kind() == social.SubjectPost:
			posts = append(posts, c.Subject.Post)
		case c.Subject.Kind() == social.SubjectComment:
			comments = append(comments, c.Subject.Comment)
		}
	}
	if len(posts) > 0 {
		if s.Posts, err = v.s.store.Posts(ctx, posts); err != nil {
			return s, err
		}
	}
	if len(comments) > 0 {
		s.Comments, err = v.s.store.Comments(ctx, comments)
		maps.DeleteFunc(s.Comments, func(_ social.CommentID, c *social.Comment) bool { return c.Deleted })
	}
	return s, err
}
