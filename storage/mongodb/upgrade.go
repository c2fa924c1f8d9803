package mongodb

import (
	"context"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/evolution"
)

// UpgradeState is the state of the upgrade to this version of Plaza.
type UpgradeState = cluster.UpgradeState

// OlderServersError means that servers of an earlier version run, which could not read what newer
// ones will write.
type OlderServersError = cluster.OlderServersError

// writes returns the version in which to write documents of the collection: that of the previous
// release until the upgrade is finished. Use it only within a call: FinishUpgrade waits for calls
// that may have got the older version.
func (s *Store) writes(collection string) int { return s.written().Of(collection) }

// written returns the versions in which documents are written now.
func (s *Store) written() cluster.Versions { return s.member.Written() }

// Upgrade returns whether the upgrade to this version of Plaza is finished, and which servers
// prevent it.
func (s *Store) Upgrade(ctx context.Context) (UpgradeState, error) {
	return s.member.Upgrade(ctx)
}

// FinishUpgrade lets servers write documents of the newest versions. From then on, servers of
// earlier versions refuse the database. While some run, it returns an OlderServersError and changes
// nothing. Earlier servers that start at the same time stop; FinishUpgrade passes their names to
// waiting (optional). When it returns without an error, all servers write the newest versions. Its
// errors are written for the operator.
func (s *Store) FinishUpgrade(ctx context.Context, waiting func(processes []string)) error {
	return s.member.FinishUpgrade(ctx, waiting)
}

// upgraded is called when all documents have reached versions.
func (s *Store) upgraded(ctx context.Context, reached cluster.Versions) error {
	s.graph.NoteUpgraded(reached)
	if !reached.Reach(s.member.Edition.Newest) {
		return nil
	}
	return s.dropRetired(ctx)
}

// These aliases let callers use the types of package evolution.
type (
	// DocumentMigration configures MigrateDocuments.
	DocumentMigration = evolution.Migration
	// DocumentProgress is the progress of one collection.
	DocumentProgress = evolution.Progress
	// DocumentMigrationState is the progress of the migration of documents.
	DocumentMigrationState = evolution.State
	// DocumentVersions counts the documents of a collection by version.
	DocumentVersions = evolution.Counts
)

// UpgradeDocuments upgrades older documents to the versions that servers write now, until ctx ends.
// It starts again whenever FinishUpgrade has raised these versions. One server at a time does it;
// if that one dies, another continues. The Logger gets what is incomplete meanwhile.
func (s *Store) UpgradeDocuments(ctx context.Context) { s.documents.Upgrading().Run(ctx) }

// MigrateDocuments upgrades older documents to the versions that servers write now, while servers
// run. It continues a run that was stopped, and starts from the beginning if the last one was
// completed. One process at a time does it. Its errors are written for the operator.
func (s *Store) MigrateDocuments(ctx context.Context, m DocumentMigration) error {
	return s.documents.Migrate(ctx, m)
}

// DocumentMigration returns the progress of the migration of documents.
func (s *Store) DocumentMigration(ctx context.Context) (DocumentMigrationState, error) {
	return s.documents.State(ctx)
}

// OldDocuments returns the collections that have documents of older versions than servers write
// now: none after MigrateDocuments. Before that it may read whole collections.
func (s *Store) OldDocuments(ctx context.Context) (collections []string, err error) {
	return s.documents.Old(ctx)
}

// DocumentVersions counts the documents of each collection that has had several versions. It reads
// all of them.
func (s *Store) DocumentVersions(ctx context.Context) ([]DocumentVersions, error) {
	return s.documents.Versions(ctx)
}
