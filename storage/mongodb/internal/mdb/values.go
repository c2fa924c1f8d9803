package mdb

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
)

// Values is a list of values for $in, written without reflection where it is one of ids or keys.
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

// IDs is an array of ids, written without reflection.
func IDs[V ~struct{ id.ID }](ids []V) bson.RawValue {
	return Binaries(len(ids), func(list []byte, i int) []byte {
		raw := struct{ id.ID }(ids[i])
		return bsoncore.AppendBinary(list, bson.TypeBinaryUUID, raw.ID[:])
	})
}

// Binaries is an array of n binary values, each of which add appends.
func Binaries(n int, add func(list []byte, i int) []byte) bson.RawValue {
	const usual = 50 // bytes of an element, at most, with its index
	start, list := bsoncore.AppendArrayStart(make([]byte, 0, 5+n*usual))
	for i := range n {
		list = append(strconv.AppendInt(append(list, byte(bsoncore.TypeBinary)), int64(i), 10), 0)
		list = add(list, i)
	}
	list, _ = bsoncore.AppendArrayEnd(list, start) // it can't fail: start is where it started
	return bson.RawValue{Type: bson.TypeArray, Value: list}
}
