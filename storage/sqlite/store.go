// Package sqlite is the embedded storage engine: storage.Store in one SQLite file, without cgo.
//
// One connection writes; a pool of others reads, each call in one snapshot. Tables are normalised;
// reads merge feeds from posts. What a call has acknowledged survives a crash and a power failure.
//
// Each noun has a file, with its statements, its methods of [Store], and the removal of a deleted
// user's data (deletion.go). The packages in internal have the parts that can be separated: sqldb
// is the file and its transactions, eventlog the logs that servers follow, adstore everything about
// ads, notifications the users' notifications, moderation reports, cases and decisions, invitations
// those to create an account, and idempotency the operations that were carried out. open.go connects them, and worker.go does their background work.
package sqlite

import (
	"context"
	"log/slog"
	"time"

	"plaza/ads"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/sqlite/internal/adstore"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/idempotency"
	"plaza/storage/sqlite/internal/invitations"
	"plaza/storage/sqlite/internal/moderation"
	"plaza/storage/sqlite/internal/notifications"
	"plaza/storage/sqlite/internal/sqldb"
)

// Store is an open database file. Its methods may be called from any goroutine.
type Store struct {
	db     *sqldb.DB
	logger *slog.Logger
	clock  func() time.Time

	social.EventLog
	social.ChangeLog
	log *eventlog.Log // the same

	notificationCalls
	notifications *notifications.Store // the same

	caseCalls
	decisionCalls
	moderation *moderation.Store // the same

	social.IdempotencyKeys
	keys *idempotency.Store // the same

	social.Invitations
	invitations *invitations.Store // the same

	ads *adstore.Store

	unfinished chan struct{} // receives when a call left something unfinished for Work
}

var _ storage.Store = (*Store)(nil)

// Parts of the contract that one package implements. They are embedded by these names, because a
// field can't have the name of a method.
type (
	notificationCalls = social.Notifications
	caseCalls         = social.Cases
	decisionCalls     = social.Decisions
)

// wake tells Work to look for something to do.
func (s *Store) wake() {
	select {
	case s.unfinished <- struct{}{}:
	default: // it was already woken
	}
}

// Ads returns the ad domain's view of the file. It is valid as long as the Store is.
func (s *Store) Ads() ads.Store { return s.ads }

// ImportAdProfiles stores profiles that do not exist yet, about a thousand at a time.
func (s *Store) ImportAdProfiles(ctx context.Context, profiles []ads.Profile) error {
	return s.ads.ImportProfiles(ctx, profiles)
}

// Description implements storage.Store.
func (s *Store) Description() storage.Description {
	return storage.Description{Engine: "SQLite", Database: s.db.Path()}
}

// Ping reads from the file. After a write that failed with ErrNoRoom, it returns ErrNoRoom until
// Work has found room again.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Close ends all streams, moves the write-ahead log into the database file and closes it.
func (s *Store) Close() error {
	s.log.Close()
	return s.db.Close()
}
