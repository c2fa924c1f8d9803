package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// The layouts of the follower graph, for Options.Graph; see [Layouts].
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
	// followsChanged takes edges whose follow or circles have changed, as they are now. It takes part in the transactions of writes.
	followsChanged(ctx context.Context, edges ...edgeDoc) error
	// filling is this layout for as long as a migration fills it.
	filling() followerGraph
	// remove takes away what only this layout needs. No server uses it.
	remove(ctx context.Context) error
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
	return map[*mongo.Collection][]mongo.IndexModel{g.edges: {mdb.IndexHaving("follow", byFollowed, followedKeys)}}
}

func (g reverseGraph) followers() *mongo.Collection { return g.edges }

func (reverseGraph) followsChanged(context.Context, ...edgeDoc) error { return nil }

func (g reverseGraph) filling() followerGraph { return g }

func (g reverseGraph) remove(ctx context.Context) error {
	err := g.edges.Indexes().DropOne(ctx, byFollowed)
	const indexNotFound, namespaceNotFound = 27, 26
	if server := mongo.ServerError(nil); mdb.AsServerError(err, &server) &&
		(server.HasErrorCode(indexNotFound) || server.HasErrorCode(namespaceNotFound)) {
		return nil
	}
	return err
}

// followedKeys find a user's followers, newest first, and cover what a page of them shows.
var followedKeys = mdb.Doc("other", 1, "follow", -1, "owner", 1)

// twoGraph keeps a copy of each follow, whose _id begins with the followed.
type twoGraph struct {
	mirror *mongo.Collection
	// contend makes the end of a follow conflict with a migration that copies the follow at the same time. The copy may not be
	// there yet, and deleting a document that does not exist conflicts with nothing.
	contend bool
}

func (g twoGraph) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{g.mirror: {mdb.Index(byFollowed, followedKeys)}}
}

func (g twoGraph) followers() *mongo.Collection { return g.mirror }

func (g twoGraph) filling() followerGraph { return twoGraph{mirror: g.mirror, contend: true} }

func (g twoGraph) remove(ctx context.Context) error { return g.mirror.Drop(ctx) }

// followsChanged copies follows, and removes the copies of those that have ended. Transactions that change the same edge
// conflict about the edge itself, so copies are written in the same order as edges.
func (g twoGraph) followsChanged(ctx context.Context, edges ...edgeDoc) error {
	if len(edges) == 0 {
		return nil
	}
	var writes, removals []mongo.WriteModel
	for i := range edges {
		over := edges[i].Follow.IsZero()
		if !over || g.contend {
			writes = append(writes, copyOf(&edges[i]))
		}
		if over {
			removals = append(removals, mongo.NewDeleteOneModel().SetFilter(copyKey(&edges[i])))
		}
	}
	_, err := g.mirror.BulkWrite(ctx, slices.Concat(writes, removals), options.BulkWrite().SetOrdered(true))
	return mdb.OrRetry(err)
}

// copyOf writes an edge's copy.
func copyOf(d *edgeDoc) mongo.WriteModel {
	return mongo.NewUpdateOneModel().SetFilter(copyKey(d)).SetUpsert(true).SetUpdate(mdb.Doc(
		"$set", mdb.Doc("v", mdb.FirstVersion, "follow", d.Follow, "circles", d.Circles)))
}

func copyKey(d *edgeDoc) any {
	return mdb.Doc("_id", mdb.PairKey(d.Other.ID, d.Owner.ID), "other", d.Other, "owner", d.Owner)
}
