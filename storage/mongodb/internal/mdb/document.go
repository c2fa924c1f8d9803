package mdb

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
)

// Doc makes an ordered document of keys and values in turn. It panics where a key has no value.
func Doc(pairs ...any) bson.D {
	if len(pairs)%2 != 0 {
		panic(fmt.Sprintf("mongodb: the key %v of a document has no value", pairs[len(pairs)-1]))
	}
	d := make(bson.D, 0, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		key := pair[0].(string) //nolint:errcheck,forcetypeassert // a key that is no text is a slip in this package
		d = append(d, bson.E{Key: key, Value: pair[1]})
	}
	return d
}

// Pipeline is an update that computes with what is stored.
type Pipeline = bson.A

// UTC is how times leave the database: zero stays zero.
func UTC(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// ZeroKey is below every id, and an id: a range above it holds exactly the documents that have one.
var ZeroKey = bson.Binary{Subtype: bson.TypeBinaryUUID, Data: make([]byte, 16)}

// LastID is not below any id.
var LastID = id.ID(slices.Repeat([]byte{0xff}, len(id.ID{})))

// NextID is the id right behind one; behind the last it is zero.
func NextID(i id.ID) id.ID {
	for n := len(i) - 1; n >= 0; n-- {
		if i[n]++; i[n] != 0 {
			break
		}
	}
	return i
}

// IDKey is the stored form of a list key that is an id.
func IDKey(k social.Key) any { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(k)} }

// PairKey is the _id of what belongs to two: their ids, one after the other.
func PairKey(first, second id.ID) bson.Binary {
	return bson.Binary{Data: append(append(make([]byte, 0, 32), first[:]...), second[:]...)}
}

// PairRange matches every PairKey with this first id.
func PairRange(first id.ID) bson.D {
	return Doc("$gte", PairKey(first, id.ID{}), "$lte", PairKey(first, LastID))
}

// HashKey is the stored form of a hash.
func HashKey(hash [32]byte) bson.Binary { return bson.Binary{Data: hash[:]} }
