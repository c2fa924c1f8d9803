package mdb

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
)

// Values returns a list of values for $in. It encodes ids and keys without reflection.
func Values[V any](values []V) any {
	switch v := any(values).(type) {
	case []social.UserID:
		return IDs(v)
	case []social.PostID:
		return IDs(v)
	case []social.CommentID:
		return IDs(v)
	case []social.CircleID:
		return IDs(v)
	case []bson.Binary:
		return Binaries(len(v), func(list []byte, i int) []byte { return bsoncore.AppendBinary(list, v[i].Subtype, v[i].Data) })
	}
	return values
}

// IDs returns an array of ids, encoded without reflection.
func IDs[V ~struct{ id.ID }](ids []V) bson.RawValue {
	return Binaries(len(ids), func(list []byte, i int) []byte {
		raw := struct{ id.ID }(ids[i])
		return bsoncore.AppendBinary(list, bson.TypeBinaryUUID, raw.ID[:])
	})
}

// Binaries returns an array of n binary values. add appends each of them.
func Binaries(n int, add func(list []byte, i int) []byte) bson.RawValue {
	const usual = 50 // the most bytes of an element, with its index
	start, list := bsoncore.AppendArrayStart(make([]byte, 0, 5+n*usual))
	for i := range n {
		list = append(strconv.AppendInt(append(list, byte(bsoncore.TypeBinary)), int64(i), 10), 0)
		list = add(list, i)
	}
	list, _ = bsoncore.AppendArrayEnd(list, start) // can't fail: start is where the array started
	return bson.RawValue{Type: bson.TypeArray, Value: list}
}
