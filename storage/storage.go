// Package storage says what a storage engine is; its folders are the engines.
package storage

import (
	"context"

	"plaza/ads"
	"plaza/social"
)

// Description describes a store for people.
type Description struct {
	Engine   string            // "SQLite" or "MongoDB"
	Database string            // the file, or the hosts and the name
	Layouts  map[string]string // in use, by what is laid out ("feeds"); none where there is no choice
}

// Store is a storage engine: all that Plaza needs of one. Every engine passes the suite in
// storagetest.
type Store interface {
	social.Store
	social.EventLog
	social.Worker
	social.Importer
	// Ads is the same database as the ad domain sees it. It lives as long as the Store does.
	Ads() ads.Store

	// Description says what the store is, without passwords.
	Description() Description
	// Ping reports whether the database answers, and can store: it is social.ErrNoRoom while the disk
	// is full, as far as writes, or Work, have noticed.
	Ping(ctx context.Context) error
	// Close frees what the store holds; no call may follow.
	Close() error
}
