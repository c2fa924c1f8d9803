package graph

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Block implements social.Graph.
func (s *Store) Block(ctx context.Context, block social.Edge, e social.Event) (blocked bool, err error) {
	back := mdb.Pipeline{mdb.Doc("$set", mdb.Doc("follow", "$$REMOVE", "circles", "$$REMOVE", "joined", "$$REMOVE", "blockedBy", true))}
	err = s.db.Write(ctx, "block", []id.ID{block.From.ID, block.To.ID}, func(ctx context.Context) error {
		blocked = false
		if err := s.users.Exists(ctx, block.To); err != nil {
			return err
		}
		edge, err := s.edgeID(ctx, block.ID, block.From)
		if err != nil {
			return err
		}
		there := mdb.Pipeline{mdb.Doc("$set", append(mdb.Doc("follow", "$$REMOVE", "circles", "$$REMOVE", "joined", "$$REMOVE"), begin("block", edge)))}
		first, err := s.changeEdge(ctx, block.From, block.To, there)
		if err != nil || !first.Block.IsZero() {
			return err
		}
		second, err := s.changeEdge(ctx, block.To, block.From, back)
		if err != nil {
			return err
		}
		blocked = true
		if err := s.endBoth(ctx, block, first, second); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.BothChanged(block.From, block.To), e)
	})
	return blocked && err == nil, err
}

// endBoth ends the follows between the two users of a new block, and updates the counts.
func (s *Store) endBoth(ctx context.Context, block social.Edge, there, back Document) error {
	circles := slices.Concat(there.Circles(), back.Circles())
	if len(circles) == 0 {
		return nil
	}
	if err := s.followsChanged(ctx, ended(there, back)...); err != nil {
		return err
	}
	if err := s.uncountMembers(ctx, circles, block.From, block.To); err != nil {
		return err
	}
	out, in := 0, 0
	if !there.Follow.IsZero() {
		out = -1
	}
	if !back.Follow.IsZero() {
		in = -1
	}
	err := mdb.Increment(ctx, s.users.Collection(), map[social.UserID]bson.D{
		block.From: mdb.Doc("following", out, "followers", in),
		block.To:   mdb.Doc("followers", out, "following", in),
	})
	if err != nil {
		return err
	}
	return s.onChange(ctx, block.From, block.To)
}

// Unblock implements social.Graph.
func (s *Store) Unblock(ctx context.Context, from, to social.UserID, e social.Event) (unblocked bool, err error) {
	err = s.db.Write(ctx, "unblock", []id.ID{from.ID, to.ID}, func(ctx context.Context) error {
		before, err := s.endEdge(ctx, from, to, "block")
		if unblocked = before; err != nil || !unblocked {
			return err
		}
		back := edgeKey(to, from)
		if err := mdb.UpdateOne(ctx, s.edges, back, mdb.Doc("$unset", mdb.Doc("blockedBy", 1))); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.BothChanged(from, to), e)
	})
	return unblocked && err == nil, err
}

// endEdge removes a block or mute from an edge. It reports whether there was one.
func (s *Store) endEdge(ctx context.Context, from, to social.UserID, field string) (bool, error) {
	filter := append(edgeKey(from, to), bson.E{Key: field, Value: mdb.Doc("$exists", true)})
	result, err := s.edges.UpdateOne(ctx, filter, mdb.Doc("$unset", mdb.Doc(field, 1)))
	return err == nil && result.ModifiedCount > 0, err
}

// Mute implements social.Graph.
func (s *Store) Mute(ctx context.Context, mute social.Edge, e social.Event) (muted bool, err error) {
	err = s.db.Write(ctx, "mute", []id.ID{mute.From.ID, mute.To.ID}, func(ctx context.Context) error {
		muted = false
		if err := s.users.Exists(ctx, mute.To); err != nil {
			return err
		}
		edge, err := s.edgeID(ctx, mute.ID, mute.From)
		if err != nil {
			return err
		}
		before, err := s.changeEdge(ctx, mute.From, mute.To, mdb.Pipeline{mdb.Doc("$set", bson.D{begin("mute", edge)})})
		if err != nil || !before.Mute.IsZero() {
			return err
		}
		muted = true
		return s.log.AppendWith(ctx, social.BothChanged(mute.From, mute.To), e)
	})
	return muted && err == nil, err
}

// Unmute implements social.Graph.
func (s *Store) Unmute(ctx context.Context, from, to social.UserID, e social.Event) (unmuted bool, err error) {
	err = s.db.Write(ctx, "unmute", []id.ID{from.ID, to.ID}, func(ctx context.Context) error {
		if unmuted, err = s.endEdge(ctx, from, to, "mute"); err != nil || !unmuted {
			return err
		}
		return s.log.AppendWith(ctx, social.BothChanged(from, to), e)
	})
	return unmuted && err == nil, err
}
