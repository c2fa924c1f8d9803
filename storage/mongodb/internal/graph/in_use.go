package graph

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
)

// InUse holds an era's layouts of the follower graph.
type InUse struct {
	read Layout
	kept []Layout // all layouts that are kept in step, beginning with the one that is read
}

// NewInUse returns the layouts that a setting names.
func NewInUse(layouts map[string]Layout, d *cluster.Setting) InUse {
	read := layouts[d.Value]
	all := InUse{read: read, kept: []Layout{read}}
	if m := d.Move; m != nil && m.KeepsBoth() {
		for _, layout := range d.Layouts() {
			if layout != d.Value {
				all.kept = append(all.kept, layouts[layout].Filling())
			}
		}
	}
	return all
}

// Indexes returns the indexes for reading followers in all layouts that are kept in step.
func (u *InUse) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := map[*mongo.Collection][]mongo.IndexModel{}
	for _, layout := range u.kept {
		maps.Copy(all, layout.Indexes())
	}
	return all
}
