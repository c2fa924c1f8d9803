package notifications

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// lossDocument is a document of notificationLosses: a social.NotificationLoss.
type lossDocument struct {
	Order        social.NotificationID `bson:"_id"`
	Version      int                   `bson:"v"`
	To           social.UserID         `bson:"to"`
	Notification social.NotificationID `bson:"notification"`
	At           time.Time             `bson:"at"` // the time in _id, for the TTL index
}

func (d *lossDocument) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.Order.ID)
	case "v":
		r.Int(v, &d.Version)
	case "to":
		r.ID(v, &d.To.ID)
	case "notification":
		r.ID(v, &d.Notification.ID)
	case "at":
		r.Time(v, &d.At)
	}
}

func (d *lossDocument) Evolve() error {
	return cluster.Versions{}.Known("notificationLosses", d.Version)
}

func (d *lossDocument) loss() social.NotificationLoss {
	return social.NotificationLoss{Order: d.Order, Notification: d.Notification}
}

// ActsOn implements social.Notifications.
func (s *Store) ActsOn(ctx context.Context, comments []social.CommentID) (notices []social.Notice, err error) {
	err = s.calls.Read(ctx, "acts on comments", func(ctx context.Context) error {
		docs, err := mdb.FindIn[document](ctx, s.notifications, "acts.comment", comments, options.Find().SetHint(byComment))
		notices = noticesOf(docs, comments)
		return err
	})
	return notices, err
}

// noticesOf returns the acts that name comments.
func noticesOf(docs []document, comments []social.CommentID) (notices []social.Notice) {
	named := make(map[social.CommentID]bool, len(comments))
	for _, c := range comments {
		named[c] = true
	}
	for i := range docs {
		n := docs[i].notification()
		for _, act := range n.Acts {
			if named[act.Comment] {
				notices = append(notices, social.Notice{NotificationGroup: n.NotificationGroup, Act: act})
			}
		}
	}
	return notices
}

// NotificationsOn implements social.Notifications.
func (s *Store) NotificationsOn(ctx context.Context, post social.PostID, limit int) (found []*social.Notification, err error) {
	err = s.calls.Read(ctx, "notifications on a post", func(ctx context.Context) error {
		docs, err := mdb.FindAll[document](ctx, s.notifications, mdb.Doc("post", post), limit, options.Find().SetLimit(int64(limit)).SetHint(byPost))
		found = mdb.Map(docs, (*document).notification)
		return err
	})
	return found, err
}

// NotificationChanges implements social.Notifications.
func (s *Store) NotificationChanges(ctx context.Context, to social.UserID, p social.Page) (found []*social.Notification, lost []social.NotificationLoss, err error) {
	losses := mdb.ListQuery{Filter: mdb.Doc("to", to), Key: "_id", Value: mdb.IDKey, Desc: true, Hint: byRecipient, Page: p}
	err = s.calls.ReadSnapshot(ctx, "notification changes", func(ctx context.Context) error {
		docs, err := mdb.ReadList[document](ctx, s.notifications, listOf(to, p))
		if err != nil {
			return err
		}
		found = mdb.Map(docs, (*document).notification)
		lossDocs, err := mdb.ReadList[lossDocument](ctx, s.losses, losses)
		lost = mdb.Map(lossDocs, (*lossDocument).loss)
		return err
	})
	return found, lost, err
}

// undoneTogether is how many notifications one transaction takes acts out of.
const undoneTogether = 500

// takeActs removes the acts that were undone, and the notifications that were removed, and stores
// losses.
func (s *Store) takeActs(ctx context.Context, notices []social.Notice) error {
	losses, err := s.removeAll(ctx, notices)
	if err != nil {
		return err
	}
	for i := range notices {
		notice := &notices[i]
		if notice.IsNew() || !notice.Removed.IsZero() {
			continue
		}
		docs, err := s.takeAct(ctx, notice)
		if err != nil {
			return err
		}
		if notice.Lost {
			losses = append(losses, mdb.Map(docs, newLoss)...)
		}
	}
	return s.putLosses(ctx, losses)
}

func newLoss(d *document) lossDocument {
	return lossDocument{Version: mdb.FirstVersion, To: d.To, Notification: d.ID}
}

// removeAll removes the notifications that notices remove. It returns the losses of those that were
// there.
func (s *Store) removeAll(ctx context.Context, notices []social.Notice) (losses []lossDocument, err error) {
	lost := map[social.NotificationID]bool{}
	var recipients []social.UserID
	for i := range notices {
		if n := &notices[i]; !n.Removed.IsZero() {
			lost[n.Removed] = n.Lost
			recipients = append(recipients, n.To)
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	which := mdb.Doc("_id", mdb.Doc("$in", mdb.IDs(slices.Collect(maps.Keys(lost)))), "to", mdb.Doc("$in", mdb.Values(recipients)))
	docs, err := mdb.FindAll[document](ctx, s.notifications, which, len(lost), options.Find().SetHint("_id_"))
	if err != nil {
		return nil, err
	}
	for i := range docs {
		if lost[docs[i].ID] {
			losses = append(losses, newLoss(&docs[i]))
		}
	}
	_, err = s.notifications.DeleteMany(ctx, which, options.DeleteMany().SetHint("_id_"))
	return losses, err
}

// takeAct removes an act that was undone from all notifications of its group. It returns those that
// have it.
func (s *Store) takeAct(ctx context.Context, notice *social.Notice) ([]document, error) {
	which, hint := mdb.Doc("acts.actor", notice.Actor, "group", groupKey(notice.NotificationGroup), "to", notice.To), byActor
	if !notice.Act.Comment.IsZero() { // it has one author
		which, hint = mdb.Doc("acts.comment", notice.Act.Comment, "group", groupKey(notice.NotificationGroup), "to", notice.To), byComment
	}
	docs, err := mdb.FindAll[document](ctx, s.notifications, which, undoneTogether, options.Find().SetLimit(undoneTogether).SetHint(hint))
	if err != nil || !notice.Undone {
		return docs, err
	}
	return docs, s.pullActs(ctx, docs, notice.Actor, notice.Act.Comment)
}

// pullActs removes what a user did from notifications, or only one comment, and removes those without
// any other act.
func (s *Store) pullActs(ctx context.Context, docs []document, actor social.UserID, comment social.CommentID) error {
	if len(docs) == 0 {
		return nil
	}
	which := mdb.Doc("actor", actor)
	if !comment.IsZero() {
		which = mdb.Doc("comment", comment)
	}
	stays := func(a actDocument) bool { return a.Actor != actor || !comment.IsZero() && a.Comment != comment }
	models := mdb.Map(docs, func(d *document) mongo.WriteModel {
		one := mdb.Doc("_id", d.ID, "to", d.To)
		if !slices.ContainsFunc(d.Acts, stays) {
			return mongo.NewDeleteOneModel().SetFilter(one)
		}
		return mongo.NewUpdateOneModel().SetFilter(one).SetUpdate(mdb.Doc("$pull", mdb.Doc("acts", which)))
	})
	_, err := s.notifications.BulkWrite(ctx, models)
	return err
}

// putLosses stores losses behind everything that has an order.
func (s *Store) putLosses(ctx context.Context, losses []lossDocument) error {
	if len(losses) == 0 {
		return nil
	}
	var d notifierDocument
	err := s.notifier.FindOneAndUpdate(ctx, mdb.Doc("_id", notifierID), mdb.Doc("$inc", mdb.Doc("lastSerial", int64(len(losses)))),
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&d)
	if err != nil {
		return err
	}
	for i := range losses {
		losses[i].Order.ID = id.WithSerial(d.LastSerial - int64(len(losses)-1-i))
		losses[i].At = losses[i].Order.Time()
	}
	_, err = s.losses.InsertMany(ctx, losses)
	return err
}

// ForgetActs removes some of what a user did from the notifications of others, and returns whether
// there was any.
func (s *Store) ForgetActs(ctx context.Context, actor social.UserID) (did bool, err error) {
	err = s.calls.Write(ctx, "forget acts", nil, func(ctx context.Context) error {
		docs, err := mdb.FindAll[document](ctx, s.notifications, mdb.Doc("acts.actor", actor), undoneTogether, options.Find().SetLimit(undoneTogether).SetHint(byActor))
		if err != nil {
			return err
		}
		did = len(docs) > 0
		return s.pullActs(ctx, docs, actor, social.CommentID{})
	})
	return did && err == nil, err
}

// ForgetRecipient removes all notifications to a user, their losses, and the user's settings.
func (s *Store) ForgetRecipient(ctx context.Context, to social.UserID) error {
	for _, list := range []*mongo.Collection{s.notifications, s.losses} {
		if _, err := list.DeleteMany(ctx, mdb.Doc("to", to), options.DeleteMany().SetHint(byRecipient)); err != nil {
			return err
		}
	}
	_, err := s.settings.DeleteOne(ctx, mdb.Doc("_id", to))
	return err
}
