package graph

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// goneKey matches the edge that records that a user has deleted their account, which is permanent,
// or is away.
// Commands that read relations read it together with the other edges.
func goneKey(user social.UserID) bson.D { return edgeKey(user, user) }

// MarkGone records that a user has deleted their account, as a part of a transaction.
func (s *Store) MarkGone(ctx context.Context, user social.UserID) error {
	mark := mdb.Doc("$set", mdb.Doc("v", s.writes("edges"), "gone", true))
	_, err := s.edges.UpdateOne(ctx, goneKey(user), mark, options.UpdateOne().SetUpsert(true))
	return mdb.OrRetry(err)
}

// MarkAway records whether a user is away, as a part of a transaction.
func (s *Store) MarkAway(ctx context.Context, user social.UserID, isAway bool) error {
	mark := mdb.Doc("$set", mdb.Doc("v", s.writes("edges"), "away", true))
	if !isAway {
		mark = mdb.Doc("$unset", mdb.Doc("away", 1))
	}
	_, err := s.edges.UpdateOne(ctx, goneKey(user), mark, options.UpdateOne().SetUpsert(isAway))
	return mdb.OrRetry(err)
}

// Gone returns those of the users who have deleted their accounts.
func (s *Store) Gone(ctx context.Context, users []social.UserID) (map[social.UserID]bool, error) {
	keys := mdb.Map(users, func(user *social.UserID) bson.Binary { return mdb.PairKey(user.ID, user.ID) })
	gone := map[social.UserID]bool{}
	for i := 0; i < len(keys); i += mdb.InBatch {
		some := min(i+mdb.InBatch, len(keys))
		filter := mdb.Doc("_id", mdb.Doc("$in", mdb.Values(keys[i:some])), "owner", mdb.Doc("$in", mdb.Values(users[i:some])))
		docs, err := mdb.FindAll[Document](ctx, s.edges, filter, 1, options.Find().SetHint(mdb.Doc("_id", 1)))
		if err != nil {
			return nil, err
		}
		for j := range docs {
			if docs[j].Gone { // otherwise they are away, or were
				gone[docs[j].Owner] = true
			}
		}
	}
	return gone, nil
}

// CutEdgesTo removes some of the edges that lead to a user, and updates the counts of follows.
func (s *Store) CutEdgesTo(ctx context.Context, user social.UserID, together int) (did bool, err error) {
	which := func(ctx context.Context) ([]Document, error) { return s.edgesTo(ctx, user, together) }
	return s.cutEdges(ctx, which, func(ctx context.Context, follows []Document) error {
		owners := mdb.Map(follows, func(e *Document) social.UserID { return e.Owner })
		if err := s.countMany(ctx, owners, "following"); err != nil {
			return err
		}
		var circles []social.CircleID
		for i := range follows {
			circles = append(circles, follows[i].Circles()...)
		}
		if err := s.uncountMembers(ctx, circles, owners...); err != nil {
			return err
		}
		return s.onChange(ctx, owners...)
	})
}

// CutEdgesOf removes some of a user's own edges. It does not update the user's circles and feeds,
// which are removed as a whole.
func (s *Store) CutEdgesOf(ctx context.Context, user social.UserID, together int) (did bool, err error) {
	own := mdb.Doc("_id", mdb.PairRange(user.ID), "owner", user, "other", mdb.Doc("$ne", user))
	which := func(ctx context.Context) ([]Document, error) {
		return mdb.FindAll[Document](ctx, s.edges, own, together, options.Find().SetLimit(int64(together)).SetHint("_id_"))
	}
	return s.cutEdges(ctx, which, func(ctx context.Context, follows []Document) error {
		return s.countMany(ctx, mdb.Map(follows, func(e *Document) social.UserID { return e.Other }), "followers")
	})
}

// edgesTo reads some of the edges that lead to a user, first those with follows. On the layout two it
// finds these by their copies, which are written in the same transactions.
func (s *Store) edgesTo(ctx context.Context, user social.UserID, together int) ([]Document, error) {
	followers, _, err := s.Follows().Followers(ctx, user, mdb.Doc("$gt", mdb.ZeroKey), together)
	if err != nil {
		return nil, err
	}
	if len(followers) > 0 {
		edges, err := edgesFrom(ctx, s.edges, followers, user)
		if err != nil || len(edges) > 0 {
			return edges, err
		}
	}
	others := mdb.Doc("other", user, "follow", nil, "owner", mdb.Doc("$ne", user))
	return mdb.FindAll[Document](ctx, s.edges, others, together, options.Find().SetLimit(int64(together)).SetHint(byUnfollowed))
}

func (s *Store) cutEdges(ctx context.Context, which func(context.Context) ([]Document, error), uncount func(context.Context, []Document) error) (did bool, err error) {
	err = s.db.Write(ctx, "cut edges", nil, func(ctx context.Context) error {
		edges, err := which(ctx)
		if did = len(edges) > 0; err != nil || !did {
			return err
		}
		keys := mdb.Map(edges, func(e *Document) bson.Binary { return e.ID })
		owners := mdb.Map(edges, func(e *Document) social.UserID { return e.Owner })
		if _, err := s.edges.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(keys)), "owner", mdb.Doc("$in", mdb.Values(owners)))); err != nil {
			return err
		}
		if err := s.followsChanged(ctx, ended(edges...)...); err != nil {
			return err
		}
		others := mdb.Map(edges, func(e *Document) social.UserID { return e.Other })
		if err := s.log.Note(ctx, social.UsersChanged(slices.Concat(owners, others)...)); err != nil {
			return err
		}
		follows := slices.DeleteFunc(edges, func(e Document) bool { return e.Follow.IsZero() })
		if len(follows) == 0 {
			return nil
		}
		return uncount(ctx, follows)
	})
	return did && err == nil, err
}

// countMany subtracts one from a count of each of the users who exist.
func (s *Store) countMany(ctx context.Context, users []social.UserID, field string) error {
	_, err := s.users.Collection().UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users))), mdb.Doc("$inc", mdb.Doc(field, -1)))
	return err
}

// ForgetCircles removes all circles of a user.
func (s *Store) ForgetCircles(ctx context.Context, user social.UserID) error {
	_, err := s.circles.DeleteMany(ctx, mdb.Doc("owner", user), options.DeleteMany().SetHint(byOwnerID))
	return err
}
