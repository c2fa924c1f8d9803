// Package indexes makes the indexes that the engine's packages declare for their collections, and
// replaces those whose definition has changed.
//
// It knows no collection of Plaza. Servers of two versions run on one database, and name indexes in
// their hints: so a definition never changes under its name once it was released.
package indexes
