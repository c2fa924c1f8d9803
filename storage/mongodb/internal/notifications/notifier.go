package notifications

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// notifierID is the _id of the one document of the collection notifier.
const notifierID = "notifier"

// notifierDocument records which server reads the event log for notifications, and its position.
type notifierDocument struct {
	ID         string    `bson:"_id"`
	Version    int       `bson:"v"`
	Server     string    `bson:"server"`
	Until      time.Time `bson:"until"`      // the end of its lease, by the database's clock
	Position   string    `bson:"position"`   // in the event log
	LastSerial int64     `bson:"lastSerial"` // of the newest act: see id.Serial
}

// until returns the end of a lease that begins now.
func until(lease time.Duration) bson.D {
	return mdb.Doc("$add", bson.A{"$$NOW", lease.Milliseconds()})
}

// LeaseNotifier implements social.Notifications.
func (s *Store) LeaseNotifier(ctx context.Context, server string, lease time.Duration) (position string, is bool, err error) {
	mayTake := mdb.Doc("$or", bson.A{mdb.Doc("$eq", bson.A{"$server", server}), mdb.Doc("$lt", bson.A{"$until", "$$NOW"})})
	take := mdb.Pipeline{mdb.Doc("$set", mdb.Doc(
		"v", mdb.FirstVersion,
		"server", mdb.Doc("$cond", bson.A{mayTake, server, "$server"}), "until", mdb.Doc("$cond", bson.A{mayTake, until(lease), "$until"}),
		"position", mdb.Doc("$ifNull", bson.A{"$position", ""}), "lastSerial", mdb.Doc("$ifNull", bson.A{"$lastSerial", int64(0)})))}
	var d notifierDocument
	err = s.calls.Read(ctx, "lease notifier", func(ctx context.Context) error {
		err := s.notifier.FindOneAndUpdate(ctx, mdb.Doc("_id", notifierID), take,
			options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d)
		if mongo.IsDuplicateKeyError(err) { // another server was faster
			return nil
		}
		return err
	})
	return d.Position, d.Server == server && err == nil, err
}

// LeaveNotifier implements social.Notifications.
func (s *Store) LeaveNotifier(ctx context.Context, server string) error {
	return s.calls.Read(ctx, "leave notifier", func(ctx context.Context) error {
		_, err := s.notifier.UpdateOne(ctx, mdb.Doc("_id", notifierID, "server", server), mdb.Doc("$set", mdb.Doc("server", "", "until", time.Time{})))
		return err
	})
}

// Notify implements social.Notifications.
func (s *Store) Notify(ctx context.Context, server string, lease time.Duration, position string, notices []social.Notice) error {
	return s.calls.Write(ctx, "notify", nil, func(ctx context.Context) error {
		next, err := s.moveOn(ctx, server, lease, position, len(notices))
		if err != nil {
			return err
		}
		if err := s.addActs(ctx, notices, next); err != nil {
			return err
		}
		if err := s.takeActs(ctx, notices); err != nil {
			return err
		}
		if events := social.NewNotified(notices); len(events) > 0 {
			return s.append(ctx, events...)
		}
		return nil
	})
}

// moveOn stores the notifier's position, and returns n new ids, greater than all earlier ones. It
// returns ErrConflict if the server is not the notifier.
func (s *Store) moveOn(ctx context.Context, server string, lease time.Duration, position string, n int) (func() social.NotificationID, error) {
	set := mdb.Doc("until", until(lease), "position", mdb.Doc("$literal", position))
	if n > 0 {
		now := mdb.Doc("$multiply", bson.A{mdb.Doc("$toLong", "$$NOW"), int64(id.SerialsPerMillisecond)})
		last := mdb.Doc("$add", bson.A{mdb.Doc("$max", bson.A{"$lastSerial", now}), int64(n)})
		set = append(set, bson.E{Key: "lastSerial", Value: last})
	}
	var d notifierDocument
	err := s.notifier.FindOneAndUpdate(ctx, mdb.Doc("_id", notifierID, "server", server), mdb.Pipeline{mdb.Doc("$set", set)},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&d)
	if errors.Is(err, mongo.ErrNoDocuments) {
		err = social.ErrConflict
	}
	serial := d.LastSerial - int64(n)
	return func() social.NotificationID {
		serial++
		return social.NotificationID{ID: id.WithSerial(serial)}
	}, err
}

// addActs stores new acts.
func (s *Store) addActs(ctx context.Context, notices []social.Notice, next func() social.NotificationID) error {
	open, err := s.openOf(ctx, notices)
	if err != nil {
		return err
	}
	before := maps.Clone(open)
	changed := social.Gather(open, notices, next)
	models := make([]mongo.WriteModel, 0, len(changed))
	for _, n := range changed {
		d := newDocument(n, s.writes(notificationsName))
		d.Open = open[n.NotificationGroup] == n
		if before[n.NotificationGroup] == n {
			models = append(models, mongo.NewReplaceOneModel().SetFilter(mdb.Doc("_id", n.ID, "to", n.To)).SetReplacement(d))
		} else {
			models = append(models, mongo.NewInsertOneModel().SetDocument(d))
		}
	}
	for group, n := range before {
		if open[group] != n && !slices.Contains(changed, n) { // it was full
			models = append(models, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", n.ID, "to", n.To)).SetUpdate(mdb.Doc("$unset", mdb.Doc("open", 1))))
		}
	}
	if len(models) == 0 {
		return nil
	}
	_, err = s.notifications.BulkWrite(ctx, models)
	return err
}

// openOf reads the notifications that take another act.
func (s *Store) openOf(ctx context.Context, notices []social.Notice) (map[social.NotificationGroup]*social.Notification, error) {
	open := map[social.NotificationGroup]*social.Notification{}
	var groups []bson.Binary
	var recipients []social.UserID
	for _, notice := range notices {
		if notice.IsNew() {
			groups, recipients = append(groups, groupKey(notice.NotificationGroup)), append(recipients, notice.To)
		}
	}
	if len(groups) == 0 {
		return open, nil
	}
	filter := mdb.Doc("group", mdb.Doc("$in", mdb.Values(groups)), "to", mdb.Doc("$in", mdb.Values(recipients)), "open", true)
	docs, err := mdb.FindAll[document](ctx, s.notifications, filter, len(groups), options.Find().SetHint(byOpen))
	for i := range docs {
		n := docs[i].notification()
		open[n.NotificationGroup] = n
	}
	return open, err
}
