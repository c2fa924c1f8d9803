// Package evolution upgrades stored documents to the versions that servers write now, while servers
// run (ADR 19): either when the operator asks for it ([Documents.Migrate]), or in the background
// ([Upgrading]).
//
// It reads whole collections in the order of their _ids, and records its progress in the settings.
// The package that owns a collection provides an [mdb.Upgrade], which defines the new document.
package evolution
