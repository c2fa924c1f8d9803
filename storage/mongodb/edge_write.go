package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// changeEdge applies the update to the edge, which is made where it is missing, and returns what
// was before.
func (s *Store) changeEdge(ctx context.Context, owner, other social.UserID, update mdb.Pipeline) (edgeDoc, error) {
	own := mdb.Doc("$set", mdb.Doc("v", mdb.Doc("$ifNull", bson.A{"$v", s.writes("edges")})))
	filter := edgeKey(owner, other)
	var before edgeDoc
	err := s.edges.FindOneAndUpdate(ctx, filter, append(mdb.Pipeline{own}, update...),
		options.FindOneAndUpdate().SetUpsert(true)).Decode(&before)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return edgeDoc{}, nil
	}
	return before, mdb.OrRetry(err)
}

// updateEdge applies the update to the edge that matches, and returns what was before: nil where
// none does.
func (s *Store) updateEdge(ctx context.Context, filter bson.D, update any) (*edgeDoc, error) {
	var before edgeDoc
	err := s.edges.FindOneAndUpdate(ctx, filter, update).Decode(&before)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return &before, err
}
