package graph

import "plaza/storage/mongodb/internal/cluster"

// version is the version of edges. Version 2 has joined, which sorts the members of a circle.
// Servers also write this field in edges of version 1.
const version = 2

// Versions returns the newest versions that this package reads and writes, for the collections that
// have had several.
func Versions() cluster.Versions { return cluster.Versions{"edges": version} }

// readable are the newest versions that this package can read.
var readable = Versions()
