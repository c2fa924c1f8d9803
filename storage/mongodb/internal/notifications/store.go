package notifications

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Store implements social.Notifications on a database.
type Store struct {
	calls         *mdb.DB
	notifications *mongo.Collection
	losses        *mongo.Collection
	notifier      *mongo.Collection
	settings      *mongo.Collection
	writes        func(collection string) int
	append        Append
}

// Append writes to the event log, inside a transaction.
type Append func(ctx context.Context, events ...social.Event) error

var _ social.Notifications = (*Store)(nil)

// New returns the store for the notifications in a database; calls makes its reads and writes, and
// writes returns the version in which documents of a collection are written.
func New(db *mongo.Database, calls *mdb.DB, writes func(collection string) int, appendEvents Append) *Store {
	return &Store{
		calls: calls, writes: writes, append: appendEvents,
		notifications: db.Collection(notificationsName), losses: db.Collection("notificationLosses"), notifier: db.Collection("notifier"), settings: db.Collection("notificationSettings"),
	}
}

// The indexes that queries name as hints.
const (
	byRecipient = "recipient" // newest first
	byUnread    = "unread"
	byOpen      = "open"
	byActor     = "actor"
	byComment   = "comment"
	byPost      = "post"
)

// Indexes returns the declared indexes of each collection.
func (s *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		s.notifications: {
			mdb.Index(byRecipient, mdb.Doc("to", 1, "latest", -1)),
			mdb.IndexHaving("unread", byUnread, mdb.Doc("to", 1, "latest", -1)),
			mdb.IndexHaving("open", byOpen, mdb.Doc("group", 1)),
			mdb.Index(byActor, mdb.Doc("acts.actor", 1, "group", 1)),
			mdb.IndexHaving("acts.comment", byComment, mdb.Doc("acts.comment", 1)),
			mdb.IndexHaving("post", byPost, mdb.Doc("post", 1)),
			mdb.ExpiringIndex("at", social.NotificationRetention),
		},
		s.losses: {
			mdb.Index(byRecipient, mdb.Doc("to", 1, "_id", -1)),
			mdb.ExpiringIndex("at", social.NotificationRetention),
		},
		s.notifier: nil, // one document
		s.settings: nil, // _id is the user
	}
}

// ShardKeys returns the shard keys of the collections.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		"notifications":        mdb.Doc("to", "hashed"),
		"notificationLosses":   mdb.Doc("to", "hashed"),
		"notifier":             nil,                      // one document
		"notificationSettings": mdb.Doc("_id", "hashed"), // the user
	}
}

// Notifications implements social.Notifications.
func (s *Store) Notifications(ctx context.Context, to social.UserID, p social.Page) (found []*social.Notification, err error) {
	err = s.calls.Read(ctx, "notifications", func(ctx context.Context) error {
		docs, err := mdb.ReadList[document](ctx, s.notifications, listOf(to, p))
		found = mdb.Map(docs, (*document).notification)
		return err
	})
	return found, err
}

func listOf(to social.UserID, p social.Page) mdb.ListQuery {
	return mdb.ListQuery{Filter: mdb.Doc("to", to), Key: "latest", Value: mdb.IDKey, Desc: true, Hint: byRecipient, Page: p}
}

// UnreadNotifications implements social.Notifications.
func (s *Store) UnreadNotifications(ctx context.Context, to social.UserID, limit int) (found []*social.Notification, err error) {
	q := mdb.ListQuery{Filter: mdb.Doc("to", to, "unread", true), Key: "latest", Desc: true, Hint: byUnread, Page: social.Page{Limit: limit}}
	err = s.calls.Read(ctx, "unread notifications", func(ctx context.Context) error {
		docs, err := mdb.ReadList[document](ctx, s.notifications, q)
		found = mdb.Map(docs, (*document).notification)
		return err
	})
	return found, err
}

// NotificationsByID implements social.Notifications.
func (s *Store) NotificationsByID(ctx context.Context, to social.UserID, ids []social.NotificationID) (map[social.NotificationID]*social.Notification, error) {
	found := make(map[social.NotificationID]*social.Notification, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	err := s.calls.Read(ctx, "notifications by id", func(ctx context.Context) error {
		filter := mdb.Doc("_id", mdb.Doc("$in", mdb.IDs(ids)), "to", to)
		docs, err := mdb.FindAll[document](ctx, s.notifications, filter, len(ids), options.Find().SetHint("_id_"))
		for i := range docs {
			found[docs[i].ID] = docs[i].notification()
		}
		return err
	})
	return found, err
}

// MarkRead implements social.Notifications.
func (s *Store) MarkRead(ctx context.Context, to social.UserID, ids []social.NotificationID, upTo social.NotificationID) error {
	read := mdb.Doc("$unset", mdb.Doc("unread", 1, "open", 1))
	return s.calls.Write(ctx, "mark notifications as read", nil, func(ctx context.Context) error {
		if len(ids) > 0 {
			filter := mdb.Doc("_id", mdb.Doc("$in", mdb.IDs(ids)), "to", to)
			if _, err := s.notifications.UpdateMany(ctx, filter, read, options.UpdateMany().SetHint("_id_")); err != nil {
				return err
			}
		}
		if upTo.IsZero() {
			return nil
		}
		filter := mdb.Doc("to", to, "unread", true, "latest", mdb.Doc("$lte", upTo))
		_, err := s.notifications.UpdateMany(ctx, filter, read, options.UpdateMany().SetHint(byUnread))
		return err
	})
}
