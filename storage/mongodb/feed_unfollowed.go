package mongodb

import (
	"context"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
)

// unpush takes the post of a push job back from those users who do not follow its author any more.
func (s *Store) unpush(ctx context.Context, j *jobs.Job, users []social.UserID, pull func(context.Context, social.PostID, []social.UserID) error) error {
	return s.undoUnfollowed(ctx, j, users, func(ctx context.Context, users []social.UserID) error { return pull(ctx, j.Post, users) })
}

// undoUnfollowed undoes what feeds were told of an author, for those users who do not follow the author any more: they may have unfollowed, and their feeds may have been built
// anew, between the reading of the followers and the telling. Whoever follows the author again at the same time writes to the same feeds.
func (s *Store) undoUnfollowed(ctx context.Context, j *jobs.Job, users []social.UserID, undo func(context.Context, []social.UserID) error) error {
	followers, _, err := s.followersOf(ctx, j) // again: that is cheaper than to look for each; who is missing is looked for
	if err != nil {
		return err
	}
	left, err := s.notFollowing(ctx, j.Author, without(users, followers))
	if err != nil || len(left) == 0 {
		return err
	}
	return s.db.Write(ctx, "undo for the unfollowed", nil, func(ctx context.Context) error {
		still, err := s.notFollowing(ctx, j.Author, left)
		if err != nil || len(still) == 0 {
			return err
		}
		return undo(ctx, still)
	})
}
