package graph

import "plaza/storage/mongodb/internal/cluster"

// The versions of edges. joinedVersion has joined, which sorts the members of a circle. Servers
// also write this field in edges of version 1. impliedVersion leaves out both circles and joined
// where they follow from the rest of the edge ([Document.Circles]). Servers that know only earlier
// versions cannot read that, so they are left out only once the upgrade is finished, and then also
// in edges of earlier versions.
const (
	joinedVersion  = 2
	impliedVersion = 3
	version        = impliedVersion
)

// Versions returns the newest versions that this package reads and writes, for the collections that
// have had several.
func Versions() cluster.Versions { return cluster.Versions{"edges": version} }

// readable are the newest versions that this package can read.
var readable = Versions()
