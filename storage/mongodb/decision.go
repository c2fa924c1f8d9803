package mongodb

import (
	"context"

	"plaza/social"
)

// carryOut does what a ruling says to its subject, in the transaction that stores the ruling.
func (s *Store) carryOut(ctx context.Context, r *social.Ruling, e social.Event) error {
	switch {
	case r.Post != nil:
		return s.updatePost(ctx, r.Post, nil, e)
	case r.Comment != nil:
		return s.hideComment(ctx, r.Comment, e)
	case r.Removes && r.Subject.Kind() == social.SubjectPost:
		return s.deletePost(ctx, r.Subject.Post, e)
	case r.Removes:
		return s.deleteComment(ctx, e.Post, r.Subject.Comment, e)
	case r.Sanctions:
		return s.users.Sanction(ctx, &r.Decision, e)
	default:
		return nil
	}
}
