package mongodb

import (
	"context"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/evolution"
)

// UpgradeState says which versions of documents a database has, and may have.
type UpgradeState = cluster.UpgradeState

// OlderServersError says that servers of an earlier version run, which would not know what is
// written from now on.
type OlderServersError = cluster.OlderServersError

// writes is the version in which documents of the collection are written now: that of the release
// before, until the upgrade is finished. Only a call may ask: FinishUpgrade waits for the calls
// that may have got the older version.
func (s *Store) writes(collection string) int { return s.written().Of(collection) }

// written are the versions in which documents are written now.
func (s *Store) written() cluster.Versions { return s.member.Written() }

// Upgrade says whether the upgrade to this version of Plaza is finished, and which servers are in
// its way.
func (s *Store) Upgrade(ctx context.Context) (UpgradeState, error) {
	return s.member.Upgrade(ctx)
}

// FinishUpgrade lets servers write documents of the newest versions. Servers of earlier versions
// refuse the database from then on: while some run, it names them and changes nothing. Those that
// start at the same time stop; waiting (optional) is told of them. When it returns, all servers
// write the newest versions. Its errors are for people.
func (s *Store) FinishUpgrade(ctx context.Context, waiting func(processes []string)) error {
	return s.member.FinishUpgrade(ctx, waiting)
}

// What package evolution does, for those who upgrade documents.
type (
	// DocumentMigration says how to bring all documents to the newest versions.
	DocumentMigration = evolution.Migration
	// DocumentProgress says how far a collection is.
	DocumentProgress = evolution.Progress
	// DocumentMigrationState says how far the migration of documents is.
	DocumentMigrationState = evolution.State
	// DocumentVersions says how many documents of a collection have each version.
	DocumentVersions = evolution.Counts
)

// UpgradeDocuments brings documents of older versions to those that servers write now, in the
// background, until ctx ends: again whenever FinishUpgrade has raised them. One server at a time
// does it, and another goes on where one has died. It tells the Logger what is incomplete
// meanwhile.
func (s *Store) UpgradeDocuments(ctx context.Context) { s.documents.Upgrading().Run(ctx) }

// MigrateDocuments brings what older servers have written to the versions that servers write now,
// while they go on. It goes on where an earlier run was stopped, and begins again where that one
// had ended. One process at a time does it. Its errors are for people.
func (s *Store) MigrateDocuments(ctx context.Context, m DocumentMigration) error {
	return s.documents.Migrate(ctx, m)
}

// DocumentMigration says how far the migration of documents is.
func (s *Store) DocumentMigration(ctx context.Context) (DocumentMigrationState, error) {
	return s.documents.State(ctx)
}

// OldDocuments names the collections that have documents of older versions than servers write now;
// none, once MigrateDocuments has brought all to those. Before that it may read whole collections.
func (s *Store) OldDocuments(ctx context.Context) (collections []string, err error) {
	return s.documents.Old(ctx)
}

// DocumentVersions counts the documents of all collections that have had several versions. It reads
// them all.
func (s *Store) DocumentVersions(ctx context.Context) ([]DocumentVersions, error) {
	return s.documents.Versions(ctx)
}
