package mongodb

import (
	"context"
	"maps"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
)

// movingGraph reads followers from the layout of the call's era, and keeps a second one in step while the graph is moved.
type movingGraph struct {
	inUse func(context.Context) *graphInUse
}

// graphInUse are an era's layouts of the follower graph.
type graphInUse struct {
	read followerGraph
	kept []followerGraph // all that are kept in step; the first is read
}

func newGraphInUse(layouts map[string]followerGraph, d *cluster.Setting) graphInUse {
	read := layouts[d.Value]
	all := graphInUse{read: read, kept: []followerGraph{read}}
	if m := d.Move; m != nil && m.KeepsBoth() {
		for _, layout := range d.Layouts() {
			if layout != d.Value {
				all.kept = append(all.kept, layouts[layout].filling())
			}
		}
	}
	return all
}

// indexes are those that lead to followers, in all layouts that are kept in step.
func (u *graphInUse) indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := map[*mongo.Collection][]mongo.IndexModel{}
	for _, layout := range u.kept {
		maps.Copy(all, layout.indexes())
	}
	return all
}

func (g movingGraph) followers(ctx context.Context) *mongo.Collection {
	return g.inUse(ctx).read.followers()
}

func (g movingGraph) followsChanged(ctx context.Context, edges ...edgeDoc) error {
	for _, layout := range g.inUse(ctx).kept {
		if err := layout.followsChanged(ctx, edges...); err != nil {
			return err
		}
	}
	return nil
}
