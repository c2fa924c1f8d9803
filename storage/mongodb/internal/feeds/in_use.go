package feeds

import "plaza/storage/mongodb/internal/cluster"

// InUse holds an era's layouts of feeds.
type InUse = cluster.InUse[Layout]

// NewInUse returns the layouts that a setting names.
func NewInUse(layouts map[string]Layout, d *cluster.Setting) InUse {
	return cluster.NewInUse(layouts, d, func(other Layout) Layout { return other })
}
