package network

import (
	"context"

	"plaza/social"
)

// Reviews say who decides about what users publish. The zero value publishes everything.
type Reviews struct {
	Reviewer social.Reviewer // nil: none
	// AllAudiences lets the reviewer see everything; otherwise it sees what is public.
	AllAudiences bool
	// PublishUnreviewed publishes what the reviewer could not decide about; otherwise that fails.
	PublishUnreviewed bool
}

// sees reports whether the reviewer sees posts with an audience, and the comments on them.
func (r Reviews) sees(audience social.AudienceKind) bool {
	return r.Reviewer != nil && (r.AllAudiences || audience == social.AudiencePublic)
}

// review asks whether something valid may be published; p lacks the handle. The reviewer takes its
// time, in which the author may have been suspended, or the place of p hidden or closed. So both
// are checked again, the place by isStillOpen, which is nil if storing p fails in that case.
// Errors: REJECTED; social.ErrNotReviewed; those of RequireStanding and isStillOpen.
func (s *Service) review(ctx context.Context, p social.Publication, isStillOpen func() error) error {
	if !s.reviews.sees(p.Audience) {
		return nil
	}
	authors, err := s.people.Users(ctx, []social.UserID{p.Author})
	if err != nil {
		return err
	}
	if authors[p.Author] == nil {
		return social.ErrAccountGone
	}
	p.Handle = authors[p.Author].Handle
	verdict, err := s.reviews.Reviewer.Review(ctx, &p)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !s.reviews.PublishUnreviewed:
		return social.ErrNotReviewed
	case err == nil && !verdict.Allowed:
		return verdict.Rejection()
	}
	if err := s.RequireStanding(ctx, p.Author); err != nil || isStillOpen == nil {
		return err
	}
	return isStillOpen()
}

// reviewPost reviews a post as it is about to be.
func (s *Service) reviewPost(ctx context.Context, kind social.PublicationKind, p *social.Post, isStillOpen func() error) error {
	publication := social.Publication{Kind: kind, Author: p.Author, Audience: p.Audience.Kind, Post: p.ID, Content: p.Content}
	if kind == social.PublishPost {
		publication.Post = social.PostID{}
	}
	return s.review(ctx, publication, isStillOpen)
}

// reviewComment reviews a comment on a post as it is about to be.
func (s *Service) reviewComment(ctx context.Context, kind social.PublicationKind, p *social.Post, c *social.Comment, isStillOpen func() error) error {
	publication := social.Publication{Kind: kind, Author: c.Author, Audience: p.Audience.Kind, Post: p.ID, Comment: c.ID, Text: c.Text}
	if kind == social.PublishComment {
		publication.Comment = social.CommentID{}
	}
	return s.review(ctx, publication, isStillOpen)
}
