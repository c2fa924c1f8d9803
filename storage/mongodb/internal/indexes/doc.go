// Package indexes creates the indexes that the engine's packages declare for their collections, and
// replaces those whose definition has changed.
//
// It does not know specific collections. Servers of two versions may use one database, and they
// name indexes in their hints. So a released definition never changes without a new name.
package indexes
