package graph

import "plaza/storage/mongodb/internal/cluster"

// version is that of edges. Version 2 has joined, by which the members of a circle are sorted.
// Servers write it in edges of version 1, too.
const version = 2

// Versions are the newest versions of documents that this package reads and writes, of collections
// that have had several.
func Versions() cluster.Versions { return cluster.Versions{"edges": version} }
