package mongodb

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// markDoc is a document of reactions, votes or threadMutes: one for each post and user.
type markDoc struct {
	ID      bson.Binary         `bson:"_id"` // mdb.PairKey(post, user)
	Version int                 `bson:"v"`
	User    social.UserID       `bson:"user"`            // since version 2
	Kind    social.ReactionKind `bson:"kind,omitempty"`  // of reactions
	Option  int                 `bson:"option"`          // of votes
	Mutes   bool                `bson:"mutes,omitempty"` // of threadMutes: true
}

func (d *markDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Binary(v, &d.ID)
	case "v":
		r.Int(v, &d.Version)
	case "kind":
		mdb.ReadText(r, v, &d.Kind)
	case "option":
		r.Int(v, &d.Option)
	case "user":
		r.ID(v, &d.User.ID)
	case "mutes":
		r.Bool(v, &d.Mutes)
	}
}

func (d *markDoc) Evolve() error {
	if d.User.IsZero() && len(d.ID.Data) == 2*len(d.User.ID) {
		copy(d.User.ID[:], d.ID.Data[len(d.User.ID):])
	}
	err := known("reactions", d.Version)
	d.Version = marksVersion
	return err
}
