package graph

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/indexes"
	"plaza/storage/mongodb/internal/mdb"
)

// reverseGraph finds followers through an index of the edges.
type reverseGraph struct{ edges *mongo.Collection }

func (g reverseGraph) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{g.edges: {mdb.IndexHaving("follow", byFollowed, followedKeys)}}
}

func (g reverseGraph) Followers() *mongo.Collection { return g.edges }

func (reverseGraph) FollowsChanged(context.Context, ...Document) error { return nil }

func (g reverseGraph) Filling() Layout { return g }

func (g reverseGraph) Remove(ctx context.Context) error {
	_, err := indexes.Drop(ctx, g.edges, byFollowed)
	return err
}
