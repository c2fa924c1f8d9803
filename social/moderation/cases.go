package moderation

import (
	"context"
	"maps"
	"slices"

	"plaza/paging"
	"plaza/social"
)

// CaseSeen is a case as a moderator sees it.
type CaseSeen struct {
	*social.Case

	Author  *social.User    // nil: the account is deleted
	Post    *social.Post    // of a case on a post; nil: it is deleted
	Comment *social.Comment // of a case on a comment; nil: it is deleted
	Reports []social.Report // the newest ones, newest first
}

// maxReportsSeen is how many reports a moderator sees of each case.
const maxReportsSeen = 20

// CasesIn lists the cases in a state that a moderator sees, in the order in which they were opened.
// Errors: FORBIDDEN, UNAUTHENTICATED.
func (s *Service) CasesIn(ctx context.Context, viewer social.UserID, state social.CaseState, p social.Page) (social.Slice[*CaseSeen], error) {
	if err := s.mustModerate(ctx, viewer); err != nil {
		return social.Slice[*CaseSeen]{}, err
	}
	see := func(context.Context, []*social.Case) (func(social.CaseState, *social.Case) bool, error) {
		return func(_ social.CaseState, c *social.Case) bool { return social.CanSeeCase(viewer, true, c) }, nil
	}
	key := func(_ social.CaseState, c *social.Case) social.Key { return social.Key(c.Order.Bytes()) }
	limit := paging.Limit[*social.Case]{PassOver: func(int) error { return nil }} // only cases about the moderator are hidden
	list := social.List[social.CaseState]{Of: state, Page: p}
	found, err := paging.Fill(ctx, []social.List[social.CaseState]{list}, paging.Alone(s.store.CasesIn), key, see, limit)
	if err != nil {
		return social.Slice[*CaseSeen]{}, err
	}
	seen, err := s.readSubjects(ctx, viewer, found[list].Items)
	return social.Slice[*CaseSeen]{Items: seen, Keys: found[list].Keys, More: found[list].More}, err
}

// Case reads one case for a moderator. Errors: FORBIDDEN, UNAUTHENTICATED; NOT_FOUND, naming the
// field, also for one that they may not see.
func (s *Service) Case(ctx context.Context, viewer social.UserID, field string, id social.CaseID) (*CaseSeen, error) {
	found, err := s.Cases(ctx, viewer, []social.CaseID{id})
	return one(found, id, field, "case", err)
}

// Cases reads cases for a moderator by id; the map omits those that do not exist, and those that
// they may not see. Errors: FORBIDDEN, UNAUTHENTICATED.
func (s *Service) Cases(ctx context.Context, viewer social.UserID, ids []social.CaseID) (map[social.CaseID]*CaseSeen, error) {
	if err := s.mustModerate(ctx, viewer); err != nil {
		return nil, err
	}
	found, err := s.store.Cases(ctx, ids)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(found, func(_ social.CaseID, c *social.Case) bool { return !social.CanSeeCase(viewer, true, c) })
	seen, err := s.readSubjects(ctx, viewer, slices.Collect(maps.Values(found)))
	byID := make(map[social.CaseID]*CaseSeen, len(seen))
	for _, c := range seen {
		byID[c.ID] = c
	}
	return byID, err
}

// readSubjects reads the subjects of cases that a moderator sees, in one read of each kind.
func (s *Service) readSubjects(ctx context.Context, viewer social.UserID, cases []*social.Case) ([]*CaseSeen, error) {
	posts, comments, err := s.reported(ctx, viewer, cases)
	if err != nil {
		return nil, err
	}
	authors := map[social.UserID]bool{}
	for _, c := range cases {
		authors[c.Author] = true
	}
	users, err := s.store.Users(ctx, slices.Collect(maps.Keys(authors)))
	if err != nil {
		return nil, err
	}
	reports, err := s.store.NewestReports(ctx, cases, maxReportsSeen)
	if err != nil {
		return nil, err
	}
	seen := make([]*CaseSeen, len(cases))
	for i, c := range cases {
		seen[i] = &CaseSeen{Case: c, Author: users[c.Author], Reports: reports[c.ID]}
		if seen[i].Author != nil { // otherwise it is gone, although background work may not have removed it yet
			seen[i].Post, seen[i].Comment = posts[c.Subject.Post], comments[c.Subject.Comment]
		}
	}
	return seen, nil
}

// reported reads the posts and comments that cases are about. A tombstone has no content to show.
func (s *Service) reported(ctx context.Context, viewer social.UserID, cases []*social.Case) (posts map[social.PostID]*social.Post, comments map[social.CommentID]*social.Comment, err error) {
	var postIDs []social.PostID
	var commentIDs []social.CommentID
	for _, c := range cases {
		switch {
		case !social.CanSeeReported(viewer, true, c, c.Subject):
		case c.Subject.Kind() == social.SubjectPost:
			postIDs = append(postIDs, c.Subject.Post)
		case c.Subject.Kind() == social.SubjectComment:
			commentIDs = append(commentIDs, c.Subject.Comment)
		}
	}
	if len(postIDs) > 0 {
		if posts, err = s.store.Posts(ctx, postIDs); err != nil {
			return nil, nil, err
		}
	}
	if len(commentIDs) > 0 {
		comments, err = s.store.Comments(ctx, commentIDs)
		maps.DeleteFunc(comments, func(_ social.CommentID, c *social.Comment) bool { return c.Deleted })
	}
	return posts, comments, err
}
