package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The layouts of the follower graph, for Options.Graph. The choice is recorded in the database.
const (
	// GraphReverse keeps each edge once, by its owner; an index leads back from the followed.
	GraphReverse = "reverse"
	// GraphTwo keeps follows a second time, by the followed: on a sharded cluster a user's followers lie together.
	GraphTwo = "two"
)

// followerGraph is one layout of the follower graph: where a user's followers lie. Edges lie with their owners in all of them.
type followerGraph interface {
	// indexes are those that lead to followers.
	indexes() map[*mongo.Collection][]mongo.IndexModel
	// followers holds edgeDocs with owner, other, follow and circles, indexed byFollowed.
	followers() *mongo.Collection
	// followsChanged is told of edges whose follow or circles have changed, as they are now. It takes part in the transactions of writes.
	followsChanged(ctx context.Context, edges ...edgeDoc) error
}

// graphLayouts makes each layout.
var graphLayouts = map[string]func(edges *mongo.Collection) followerGraph{
	GraphReverse: func(edges *mongo.Collection) followerGraph { return reverseGraph{edges} },
	GraphTwo: func(edges *mongo.Collection) followerGraph {
		return twoGraph{mirror: edges.Database().Collection("followers")}
	},
}

// reverseGraph finds followers through an index of the edges.
type reverseGraph struct{ edges *mongo.Collection }

func (g reverseGraph) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{g.edges: {having("follow", byFollowed, followedKeys)}}
}

func (g reverseGraph) followers() *mongo.Collection { return g.edges }

func (reverseGraph) followsChanged(context.Context, ...edgeDoc) error { return nil }

// followedKeys find a user's followers, newest first, and cover what a page of them shows.
var followedKeys = doc("other", 1, "follow", -1, "owner", 1)

// twoGraph keeps a copy of each follow, whose _id begins with the followed.
type twoGraph struct{ mirror *mongo.Collection }

func (g twoGraph) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{g.mirror: {index(byFollowed, followedKeys)}}
}

func (g twoGraph) followers() *mongo.Collection { return g.mirror }

// followsChanged copies follows, and removes the copies of those that have ended. Whoever else changes the same edge is in
// conflict about the edge itself, so that copies are written in the same order as edges.
func (g twoGraph) followsChanged(ctx context.Context, edges ...edgeDoc) error {
	if len(edges) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, len(edges))
	for i := range edges {
		models[i] = copyOf(&edges[i])
	}
	_, err := g.mirror.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	return upserted(err)
}

func copyOf(d *edgeDoc) mongo.WriteModel {
	own := doc("_id", pairKey(d.Other.ID, d.Owner.ID), "other", d.Other, "owner", d.Owner)
	if d.Follow.IsZero() {
		return mongo.NewDeleteOneModel().SetFilter(own)
	}
	return mongo.NewUpdateOneModel().SetFilter(own).SetUpsert(true).SetUpdate(doc(
		"$set", doc("v", version, "follow", d.Follow, "circles", d.Circles)))
}
