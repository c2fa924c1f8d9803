package graph

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// twoGraph keeps a copy of each follow. The copy's _id begins with the followed user.
type twoGraph struct {
	mirror *mongo.Collection
	// contend makes the end of a follow conflict with a migration that copies the follow at the
	// same time. The copy may not exist yet, and deleting a document that does not exist conflicts
	// with nothing.
	contend bool
}

func (g twoGraph) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{g.mirror: {mdb.Index(byFollowed, followedKeys)}}
}

func (g twoGraph) Followers() *mongo.Collection { return g.mirror }

func (g twoGraph) Filling() Layout { return twoGraph{mirror: g.mirror, contend: true} }

func (g twoGraph) Remove(ctx context.Context) error { return g.mirror.Drop(ctx) }

// followsChanged copies follows, and removes the copies of those that have ended. Transactions that
// change the same edge conflict about the edge itself, so copies are written in the same order as
// edges.
func (g twoGraph) FollowsChanged(ctx context.Context, edges ...Document) error {
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

// copyOf returns the write of an edge's copy.
func copyOf(d *Document) mongo.WriteModel {
	return mongo.NewUpdateOneModel().SetFilter(copyKey(d)).SetUpsert(true).SetUpdate(mdb.Doc(
		"$set", mdb.Doc("v", mdb.FirstVersion, "follow", d.Follow, "circles", d.Circles())))
}

func copyKey(d *Document) any {
	return mdb.Doc("_id", mdb.PairKey(d.Other.ID, d.Owner.ID), "other", d.Other, "owner", d.Owner)
}
