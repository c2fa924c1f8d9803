package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
)

// unpush takes the post of a push job back from those users who do not follow its author any more.
func (s *Store) unpush(ctx context.Context, j *jobDoc, users []social.UserID, pull func(context.Context, social.PostID, []social.UserID) error) error {
	return s.takeBack(ctx, j.Author, users, func(ctx context.Context, users []social.UserID) error { return pull(ctx, j.Post, users) })
}

// takeBack undoes what feeds were told of an author, for those users who do not follow the author any more: they may have unfollowed, and their feeds may have been built
// anew, between the reading of the followers and the telling. Whoever follows the author again at the same time writes to the same feeds.
func (s *Store) takeBack(ctx context.Context, author social.UserID, users []social.UserID, undo func(context.Context, []social.UserID) error) error {
	left, err := s.notFollowing(ctx, author, users)
	if err != nil || len(left) == 0 {
		return err
	}
	return s.write(ctx, "take back from feeds", nil, func(ctx context.Context) error {
		still, err := s.notFollowing(ctx, author, left)
		if err != nil || len(still) == 0 {
			return err
		}
		return undo(ctx, still)
	})
}

// notFollowing are those of the users who do not follow the author, who is none of them.
func (s *Store) notFollowing(ctx context.Context, author social.UserID, users []social.UserID) ([]social.UserID, error) {
	others := slices.DeleteFunc(slices.Clone(users), func(user social.UserID) bool { return user == author })
	if len(others) == 0 {
		return nil, nil
	}
	edges := each(others, func(user *social.UserID) social.Pair { return social.Pair{Viewer: *user, Other: author} })
	docs, err := findAll[edgeDoc](ctx, s.edges, append(edgesAmong(edges, others), bson.E{Key: "follow", Value: doc("$gt", zeroKey)}), len(others),
		options.Find().SetProjection(doc("_id", 0, "owner", 1)).SetHint(doc("_id", 1)))
	following := make(map[social.UserID]bool, len(docs))
	for i := range docs {
		following[docs[i].Owner] = true
	}
	return slices.DeleteFunc(others, func(user social.UserID) bool { return following[user] }), err
}
