package notifications

import (
	"crypto/sha256"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// document is a document of notifications.
type document struct {
	ID      social.NotificationID   `bson:"_id"`
	Version int                     `bson:"v"`
	To      social.UserID           `bson:"to"`
	Kind    social.NotificationKind `bson:"kind"`
	Post    social.PostID           `bson:"post,omitempty"`
	Comment social.CommentID        `bson:"comment,omitempty"`
	Group   bson.Binary             `bson:"group"`            // see groupKey
	Latest  social.NotificationID   `bson:"latest"`           // social.Notification.Order
	At      time.Time               `bson:"at"`               // the time in Latest, for the TTL index
	Unread  bool                    `bson:"unread,omitempty"` // absent: read
	Open    bool                    `bson:"open,omitempty"`   // unread, and the newest of its group; absent: no act is added
	Acts    []actDocument           `bson:"acts"`             // newest first; in version 1, one for each actor
}

func (d *document) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "to":
		r.ID(v, &d.To.ID)
	case "kind":
		mdb.ReadText(r, v, &d.Kind)
	case "post":
		r.ID(v, &d.Post.ID)
	case "comment":
		r.ID(v, &d.Comment.ID)
	case "group":
		r.Binary(v, &d.Group)
	case "latest":
		r.ID(v, &d.Latest.ID)
	case "at":
		r.Time(v, &d.At)
	case "unread":
		r.Bool(v, &d.Unread)
	case "open":
		r.Bool(v, &d.Open)
	case "acts":
		mdb.ReadDocuments(r, v, &d.Acts)
	}
}

func (d *document) Evolve() error { return readable.Known(notificationsName, d.Version) }

type actDocument struct { // converts to social.Act
	Actor   social.UserID         `bson:"actor"`
	Comment social.CommentID      `bson:"comment,omitempty"`
	ID      social.NotificationID `bson:"id"`
}

func (d *actDocument) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "id":
		r.ID(v, &d.ID.ID)
	case "actor":
		r.ID(v, &d.Actor.ID)
	case "comment":
		r.ID(v, &d.Comment.ID)
	}
}

// groupKey returns a hash of a group, which is the same for all notifications of the group.
func groupKey(g social.NotificationGroup) bson.Binary {
	text := g.To.ID.String() + string(g.Kind) + g.Post.ID.String() + g.Comment.ID.String()
	sum := sha256.Sum256([]byte(text))
	return bson.Binary{Data: sum[:16]}
}

func newDocument(n *social.Notification, writes int) document {
	acts := n.Acts
	if writes < version {
		acts = social.NewestOfEach(acts)
	}
	return document{
		ID: n.ID, Version: writes, To: n.To, Kind: n.Kind, Post: n.Post, Comment: n.Comment,
		Group: groupKey(n.NotificationGroup), Latest: n.Order, At: n.UpdatedAt(), Unread: true, Open: true, Acts: newActs(acts),
	}
}

func newActs(acts []social.Act) []actDocument {
	return mdb.Map(acts, func(a *social.Act) actDocument { return actDocument(*a) })
}

func (d *document) notification() *social.Notification {
	return &social.Notification{
		NotificationGroup: social.NotificationGroup{To: d.To, Kind: d.Kind, Post: d.Post, Comment: d.Comment},
		ID:                d.ID, Order: d.Latest, Read: !d.Unread,
		Acts: mdb.Map(d.Acts, func(a *actDocument) social.Act { return social.Act(*a) }),
	}
}
