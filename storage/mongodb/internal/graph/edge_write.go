package graph

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// changeEdge applies the update to the edge, which it creates if missing, and returns the edge as
// it was before.
func (s *Store) changeEdge(ctx context.Context, owner, other social.UserID, update mdb.Pipeline) (Document, error) {
	own := mdb.Doc("$set", mdb.Doc("v", mdb.Doc("$ifNull", bson.A{"$v", s.writes("edges")})))
	filter := edgeKey(owner, other)
	var before Document
	err := s.edges.FindOneAndUpdate(ctx, filter, append(mdb.Pipeline{own}, update...),
		options.FindOneAndUpdate().SetUpsert(true)).Decode(&before)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return Document{}, nil
	}
	return before, mdb.OrRetry(err)
}

// updateEdge applies the update to the edge that matches, and returns the edge as it was before, or
// nil if none matches.
func (s *Store) updateEdge(ctx context.Context, filter bson.D, update any) (*Document, error) {
	var before Document
	err := s.edges.FindOneAndUpdate(ctx, filter, update).Decode(&before)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return &before, err
}

// edgeID returns the id of a new block or mute: the given one, or else one that is greater than all
// blocks, mutes and follows in its owner's lists. It returns ErrNotFound if there is no such user.
func (s *Store) edgeID(ctx context.Context, given social.EdgeID, owner social.UserID) (social.EdgeID, error) {
	if !given.IsZero() {
		return given, nil
	}
	serial, err := serials.Next(ctx, s.users.Collection(), owner, 0, 1, false)
	return social.EdgeID{ID: id.WithSerial(serial)}, err
}

// followID does the same for a follow, which is in the lists of two users.
func (s *Store) followID(ctx context.Context, given social.EdgeID, owner, other social.UserID) (social.EdgeID, error) {
	if !given.IsZero() {
		return given, nil
	}
	first, err := serials.Next(ctx, s.users.Collection(), owner, 0, 1, false)
	if err != nil {
		return given, err
	}
	serial, err := serials.AtLeast(ctx, s.users.Collection(), other, first)
	if err == nil && serial > first { // rare: the other user is in two transactions within one millisecond
		_, err = serials.AtLeast(ctx, s.users.Collection(), owner, serial)
	}
	return social.EdgeID{ID: id.WithSerial(serial)}, err
}
