package mongodb

import (
	"context"

	"plaza/storage/mongodb/internal/cluster"
)

// UpgradeState says which versions of documents a database has, and may have.
type UpgradeState = cluster.UpgradeState

// OlderServersError says that servers of an earlier version run, which would not know what is written from now on.
type OlderServersError = cluster.OlderServersError

// writes is the version in which documents of the collection are written now: that of the release before, until the upgrade
// is finished. Only a call may ask: FinishUpgrade waits for the calls that may have got the older version.
func (s *Store) writes(collection string) int { return s.written().Of(collection) }

// written are the versions in which documents are written now.
func (s *Store) written() cluster.Versions { return s.member.Written() }

// Upgrade says whether the upgrade to this version of Plaza is finished, and which servers are in its way.
func (s *Store) Upgrade(ctx context.Context) (UpgradeState, error) {
	return s.member.Upgrade(ctx)
}

// FinishUpgrade lets servers write documents of the newest versions. Servers of earlier versions refuse the database from then on:
// while some run, it names them and changes nothing. Those that start at the same time stop; waiting (optional) is told of them. When it returns, all
// servers write the newest versions. Its errors are for people.
func (s *Store) FinishUpgrade(ctx context.Context, waiting func(processes []string)) error {
	return s.member.FinishUpgrade(ctx, waiting)
}
