package notifications

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// The indexes that queries name as hints.
const (
	byRecipient = "recipient" // newest first
	byUnread    = "unread"
	byOpen      = "open"
	byActor     = "actor"
)

// Indexes are the declared indexes of each collection.
func (s *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		s.notifications: {
			mdb.Index(byRecipient, mdb.Doc("to", 1, "latest", -1)),
			mdb.IndexHaving("unread", byUnread, mdb.Doc("to", 1, "latest", -1)),
			mdb.IndexHaving("open", byOpen, mdb.Doc("group", 1)),
			mdb.Index(byActor, mdb.Doc("acts.actor", 1, "group", 1)),
			mdb.ExpiringIndex("at", social.NotificationRetention),
		},
		s.notifier: nil, // one document
	}
}

// ShardKeys are the shard keys of the collections, as those of the other packages.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		"notifications": mdb.Doc("to", "hashed"),
		"notifier":      nil, // one document
	}
}
