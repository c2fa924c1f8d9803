package feeds

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
)

// InUse is what the calls of one era use: the layout that they read, and, during a migration, both
// of its layouts.
type InUse struct {
	read Layout
	kept []Layout // all that are kept in step, beginning with read
}

// NewInUse returns the layouts that a setting names.
func NewInUse(layouts map[string]Layout, d *cluster.Setting) InUse {
	read := layouts[d.Value]
	all := InUse{read: read, kept: []Layout{read}}
	if m := d.Move; m != nil && m.KeepsBoth() {
		for _, layout := range d.Layouts() {
			if layout != d.Value {
				all.kept = append(all.kept, layouts[layout])
			}
		}
	}
	return all
}

// Indexes returns those that the layouts need on collections that all have.
func (u *InUse) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := map[*mongo.Collection][]mongo.IndexModel{}
	for _, layout := range u.kept {
		maps.Copy(all, layout.Indexes())
	}
	return all
}
