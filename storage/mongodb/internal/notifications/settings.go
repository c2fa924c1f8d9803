package notifications

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// settingsDocument is a document of notificationSettings. A user without one has turned nothing
// off.
type settingsDocument struct {
	User    social.UserID             `bson:"_id"`
	Version int                       `bson:"v"`
	Silent  []social.NotificationKind `bson:"silent"` // the kinds that are off
}

// SetNotificationKind implements social.Notifications. Concurrent calls each change their own kind.
func (s *Store) SetNotificationKind(ctx context.Context, user social.UserID, kind social.NotificationKind, enabled bool) error {
	return s.calls.Write(ctx, "set notification kind", nil, func(ctx context.Context) error {
		if enabled {
			_, err := s.settings.UpdateOne(ctx, mdb.Doc("_id", user), mdb.Doc("$pull", mdb.Doc("silent", kind)))
			return err
		}
		silence := mdb.Doc("$set", mdb.Doc("v", mdb.FirstVersion), "$addToSet", mdb.Doc("silent", kind))
		_, err := s.settings.UpdateOne(ctx, mdb.Doc("_id", user), silence, options.UpdateOne().SetUpsert(true))
		return mdb.OrRetry(err)
	})
}

// SilentNotificationKinds implements social.Notifications.
func (s *Store) SilentNotificationKinds(ctx context.Context, users []social.UserID) (map[social.UserID][]social.NotificationKind, error) {
	silent := map[social.UserID][]social.NotificationKind{}
	err := s.calls.Read(ctx, "silent notification kinds", func(ctx context.Context) error {
		docs, err := mdb.FindIn[settingsDocument](ctx, s.settings, "_id", users)
		for i := range docs {
			if len(docs[i].Silent) > 0 {
				silent[docs[i].User] = docs[i].Silent
			}
		}
		return err
	})
	return silent, err
}
