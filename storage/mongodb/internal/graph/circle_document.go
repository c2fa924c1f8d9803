package graph

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// circleDoc is a document of circles. The members are stored in edges.
type circleDoc struct {
	ID        social.CircleID `bson:"_id"`
	Version   int             `bson:"v"`
	Owner     social.UserID   `bson:"owner"`
	Name      string          `bson:"name"`
	NameKey   string          `bson:"nameKey"` // equal for names that differ only in case
	IsDefault bool            `bson:"isDefault,omitempty"`
	Members   int             `bson:"members"`
}

func (d *circleDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "owner":
		r.ID(v, &d.Owner.ID)
	case "name":
		r.Text(v, &d.Name)
	case "nameKey":
		r.Text(v, &d.NameKey)
	case "isDefault":
		r.Bool(v, &d.IsDefault)
	case "members":
		r.Int(v, &d.Members)
	}
}

func (d *circleDoc) Evolve() error { return readable.Known("circles", d.Version) }

func newCircleDoc(c *social.Circle) circleDoc {
	return circleDoc{
		ID: c.ID, Version: mdb.FirstVersion, Owner: c.Owner, Name: c.Name, NameKey: social.NameKey(c.Name),
		IsDefault: c.IsDefault, Members: c.MembersCount,
	}
}

// key matches the document by its _id and its shard key.
func (d *circleDoc) key() bson.D { return mdb.Doc("_id", d.ID, "owner", d.Owner) }

func (d *circleDoc) circle() *social.Circle {
	return &social.Circle{ID: d.ID, Owner: d.Owner, Name: d.Name, IsDefault: d.IsDefault, MembersCount: d.Members}
}
