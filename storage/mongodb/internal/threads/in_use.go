package threads

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
)

// InUse is what the calls of one era use: the layout that they read, and, during a migration, both
// of its layouts. A post names those of them in which its thread is stored, unless that is only the
// first one.
type InUse struct {
	read   Layout            // also stores the thread of each post that names no layouts
	moving map[string]Layout // nil if no migration is under way
	marks  []string          // the layouts that new posts name
}

// NewInUse returns the layouts that a setting names.
func NewInUse(layouts map[string]Layout, d *cluster.Setting) InUse {
	all := InUse{read: layouts[d.Value]}
	if m := d.Move; m != nil {
		all.moving = map[string]Layout{m.From: layouts[m.From], m.To: layouts[m.To]}
		if m.KeepsBoth() {
			all.marks = []string{m.From, m.To}
		}
	}
	return all
}

// Indexes returns the collections of all these layouts, with their indexes.
func (u *InUse) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := u.read.Indexes()
	for _, layout := range u.moving {
		maps.Copy(all, layout.Indexes())
	}
	return all
}

// Marks returns the layouts that a new post names.
func (u *InUse) Marks() []string { return u.marks }

// all returns the layouts in use.
func (u *InUse) all() []Layout {
	if u.moving == nil {
		return []Layout{u.read}
	}
	var all []Layout
	for _, layout := range slices.Sorted(maps.Keys(u.moving)) {
		all = append(all, u.moving[layout])
	}
	return all
}

func (t *Threads) read(ctx context.Context) Layout { return t.inUse(ctx).read }
