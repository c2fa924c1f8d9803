package graph

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// AddToCircle implements social.Circles.
func (s *Store) AddToCircle(ctx context.Context, m social.Membership, edge social.EdgeID, e social.Event) (added bool, err error) {
	hot := []id.ID{m.Owner.ID, m.Member.ID}
	err = s.db.Write(ctx, "add to circle", hot, func(ctx context.Context) error {
		added = false
		edge, err := s.followID(ctx, edge, m.Owner, m.Member)
		if err != nil {
			return err
		}
		before, err := s.changeEdge(ctx, m.Owner, m.Member, withCircle(m, edge, s.writes("edges")))
		switch {
		case err != nil:
			return err
		case !before.Block.IsZero() || before.BlockedBy:
			return social.ErrBlocked
		case before.isIn(m.Circle):
			return nil
		}
		added = true
		if err := s.followsChanged(ctx, before.joined(m, edge)); err != nil {
			return err
		}
		return s.countMember(ctx, m, before.Follow.IsZero(), e)
	})
	return added && err == nil, err
}

// countMember counts a new membership, and the follow if it is new.
func (s *Store) countMember(ctx context.Context, m social.Membership, isFollow bool, e social.Event) error {
	filter := mdb.Doc("_id", m.Circle, "owner", m.Owner)
	if err := mdb.UpdateOne(ctx, s.circles, filter, mdb.Doc("$inc", mdb.Doc("members", 1))); err != nil {
		return err
	}
	events := []social.Event{e}
	if isFollow {
		if err := s.countFollow(ctx, m.Owner, m.Member, 1); err != nil {
			return err
		}
		events = append(events, social.NewFollowed(m))
	}
	return s.log.AppendWith(ctx, social.BothChanged(m.Owner, m.Member), events...)
}

// countFollow adds n to the follow counts of the two users, and updates the owner's feed. It
// returns ErrNotFound if one of the users is missing.
func (s *Store) countFollow(ctx context.Context, owner, other social.UserID, n int) error {
	err := mdb.Increment(ctx, s.users.Collection(), map[social.UserID]bson.D{owner: mdb.Doc("following", n), other: mdb.Doc("followers", n)})
	if err != nil {
		return err
	}
	return s.onChange(ctx, owner)
}

// RemoveFromCircle implements social.Circles.
func (s *Store) RemoveFromCircle(ctx context.Context, m social.Membership, e social.Event) (removed bool, err error) {
	hot := []id.ID{m.Owner.ID, m.Member.ID}
	err = s.db.Write(ctx, "remove from circle", hot, func(ctx context.Context) error {
		filter := append(edgeKey(m.Owner, m.Member), having(m.Owner, m.Circle)...)
		before, err := s.updateEdge(ctx, filter, withoutCircle(m.Owner, m.Circle))
		if removed = before != nil; err != nil || !removed {
			return err
		}
		isLast := len(before.Circles()) == 1
		before.leave(m.Circle)
		if err := s.followsChanged(ctx, *before); err != nil {
			return err
		}
		return s.uncount(ctx, m.Owner, m.Member, []social.CircleID{m.Circle}, isLast, e)
	})
	return removed && err == nil, err
}

// Unfollow implements social.Circles.
func (s *Store) Unfollow(ctx context.Context, owner, member social.UserID, e social.Event) (unfollowed bool, err error) {
	err = s.db.Write(ctx, "unfollow", []id.ID{owner.ID, member.ID}, func(ctx context.Context) error {
		filter := append(edgeKey(owner, member), bson.E{Key: "follow", Value: mdb.Doc("$exists", true)})
		before, err := s.updateEdge(ctx, filter, mdb.Doc("$unset", mdb.Doc("follow", 1, "circles", 1, "joined", 1)))
		if unfollowed = before != nil; err != nil || !unfollowed {
			return err
		}
		if err := s.followsChanged(ctx, ended(*before)...); err != nil {
			return err
		}
		return s.uncount(ctx, owner, member, before.Circles(), true, e)
	})
	return unfollowed && err == nil, err
}

// uncountMembers subtracts one member from each of the circles, which belong to the owners.
func (s *Store) uncountMembers(ctx context.Context, circles []social.CircleID, owners ...social.UserID) error {
	_, err := s.circles.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", circles), "owner", mdb.Doc("$in", owners)), mdb.Doc("$inc", mdb.Doc("members", -1)))
	return err
}

// uncount subtracts memberships that ended from the counts, and the follow if it ended too.
func (s *Store) uncount(ctx context.Context, owner, member social.UserID, circles []social.CircleID, isFollow bool, e social.Event) error {
	if err := s.uncountMembers(ctx, circles, owner); err != nil {
		return err
	}
	if isFollow {
		if err := s.countFollow(ctx, owner, member, -1); err != nil {
			return err
		}
	}
	return s.log.AppendWith(ctx, social.BothChanged(owner, member), e)
}
