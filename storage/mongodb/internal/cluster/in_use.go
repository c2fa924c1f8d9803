package cluster

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// InUse is what the calls of one era use of a subject's layouts.
type InUse[L indexed] struct {
	Read L
	Kept []L // all that are kept in step, beginning with Read: during a migration both of its layouts
}

type indexed interface {
	Indexes() map[*mongo.Collection][]mongo.IndexModel
}

// NewInUse returns those of the layouts that a setting names. filling returns the layout as it is
// written while another one is read.
func NewInUse[L indexed](layouts map[string]L, d *Setting, filling func(L) L) InUse[L] {
	read := layouts[d.Value]
	all := InUse[L]{Read: read, Kept: []L{read}}
	if m := d.Move; m != nil && m.KeepsBoth() {
		for _, layout := range d.Layouts() {
			if layout != d.Value {
				all.Kept = append(all.Kept, filling(layouts[layout]))
			}
		}
	}
	return all
}

// Indexes returns those that the layouts need.
func (u *InUse[L]) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := map[*mongo.Collection][]mongo.IndexModel{}
	for _, layout := range u.Kept {
		maps.Copy(all, layout.Indexes())
	}
	return all
}
