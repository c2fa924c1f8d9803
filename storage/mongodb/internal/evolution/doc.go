// Package evolution brings stored documents of older versions to those that servers write now,
// while they go on (ADR 19): at the operator's wish ([Documents.Migrate]), or in the background
// ([Upgrading]).
//
// It walks whole collections by their _ids, and remembers in the settings how far it is. What an
// older document becomes is up to the package that owns the collection, as an [mdb.Upgrade] says.
package evolution
