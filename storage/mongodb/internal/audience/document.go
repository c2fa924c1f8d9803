// Package audience has the part of documents that stores an audience: of a post, of its versions,
// and of a post that moderators have hidden.
package audience

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Document converts to and from social.Audience.
type Document struct {
	Kind    social.AudienceKind `bson:"kind"`
	Circles []social.CircleID   `bson:"circles,omitempty"`
}

// SetField reads a field of the document.
func (d *Document) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "kind":
		mdb.ReadText(r, v, &d.Kind)
	case "circles":
		mdb.ReadIDs(r, v, &d.Circles)
	}
}
