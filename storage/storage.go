// Package storage defines what a storage engine is. Its folders contain the engines.
package storage

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/social"
)

// Description describes a store for the operator.
type Description struct {
	Engine   string            // "SQLite" or "MongoDB"
	Database string            // the file, or the hosts and the name
	Layouts  map[string]string // the layouts in use, by subject ("feeds"); nil if there is no choice
}

// NewsCounter is a Store that has the ids of recent posts in memory.
type NewsCounter interface {
	// NewsPages counts the pages of news that were read from posts and follows since the store was
	// opened: recent ones, all of whose ids were in memory, and those with older posts.
	NewsPages() (recent, older int64)
}

// Clock is a Store whose time is not this machine's.
type Clock interface {
	// Now returns the time that all servers of the database share, to within the time of a command.
	Now() time.Time
}

// TimeOf returns what tells the time of a store's data: the store itself, or this machine's clock.
func TimeOf(st Store) func() time.Time {
	if clock, ok := st.(Clock); ok {
		return clock.Now
	}
	return time.Now
}

// Store is a storage engine: everything that Plaza needs from one. Every engine passes the suite in
// storagetest.
type Store interface {
	social.Store
	social.EventLog
	social.Worker
	social.Importer
	// Ads returns the ad domain's view of the same database. It is valid as long as the Store is.
	Ads() ads.Store

	// Description describes the store, without passwords.
	Description() Description
	// Ping returns an error if the database does not answer or cannot store data: social.ErrNoRoom
	// while the disk is full, as soon as writes or Work have noticed.
	Ping(ctx context.Context) error
	// Close releases the store's resources. No call may follow.
	Close() error
}
