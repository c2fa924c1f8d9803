// Package sqlite is the embedded storage engine: storage.Store in one SQLite file, without cgo.
//
// One connection writes; a pool of others reads, each call in one snapshot. Tables are plain and
// normalised; feeds are merged when they are read. What a call has acknowledged outlives the
// process and the power.
//
// Each noun has a file, with its statements, its calls of [Store], and the removal of what it has
// stored of a deleted user (deletion.go). The packages in internal are the ground, and what has
// tables of its own: sqldb is the file and its transactions, eventlog what others follow, adstore
// everything about ads, notifications what users are notified of, moderation what they report, and idempotency which operations
// were carried out. open.go puts them together, and worker.go does their work in the background.
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

	ads *adstore.Store

	unfinished chan struct{} // tells Work that a call left something unfinished
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
	default: // it is awake already
	}
}

// Ads is the file as the ad domain sees it. It lives as long as the Store does.
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
