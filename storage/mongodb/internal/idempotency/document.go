package idempotency

import (
	"crypto/sha256"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

const collection = "idempotencyKeys"

// document is a document of idempotencyKeys.
type document struct {
	ID          bson.Binary `bson:"_id"` // see keyOf
	Version     int         `bson:"v"`
	Fingerprint bson.Binary `bson:"fingerprint"`
	Attempt     attemptID   `bson:"attempt"`
	Until       time.Time   `bson:"until,omitempty"`  // the end of its lease, by the database's clock; absent: it has ended
	Effect      bool        `bson:"effect,omitempty"` // it has stored something
	Answer      []byte      `bson:"answer,omitempty"`
	Expires     time.Time   `bson:"expires"`

	IsOver bool `bson:"isOver,omitempty"` // never stored: whether the lease has ended, by the database's clock
}

type attemptID struct{ id.ID } // the registry encodes structs of an id

// keyOf returns the user's id and a hash of the key, so that all of a user's keys are in one range.
func keyOf(a social.Attempt) bson.Binary {
	sum := sha256.Sum256([]byte(a.Key))
	return mdb.PairKey(a.User.ID, id.ID(sum[:len(id.ID{})]))
}
