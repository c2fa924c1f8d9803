package mdb

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
)

// Doc makes an ordered document from alternating keys and values. It panics if a key has no value.
func Doc(pairs ...any) bson.D {
	if len(pairs)%2 != 0 {
		panic(fmt.Sprintf("mongodb: the key %v of a document has no value", pairs[len(pairs)-1]))
	}
	d := make(bson.D, 0, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		key := pair[0].(string) //nolint:errcheck,forcetypeassert // a key that is not a string is a bug in the caller
		d = append(d, bson.E{Key: key, Value: pair[1]})
	}
	return d
}

// Pipeline is an update that computes new values from stored ones.
type Pipeline = bson.A

// UTC converts a time from the database to UTC. The zero time stays zero.
func UTC(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// ZeroKey sorts before every id, and has the same BSON type, so a range above it contains exactly
// the documents whose field is an id.
var ZeroKey = bson.Binary{Subtype: bson.TypeBinaryUUID, Data: make([]byte, 16)}

// LastID is the greatest id.
var LastID = id.ID(slices.Repeat([]byte{0xff}, len(id.ID{})))

// NextID returns the id that follows i. After the last id it returns zero.
func NextID(i id.ID) id.ID {
	for n := len(i) - 1; n >= 0; n-- {
		if i[n]++; i[n] != 0 {
			break
		}
	}
	return i
}

// IDKey returns the stored form of a list key that is an id.
func IDKey(k social.Key) any { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(k)} }

// PairKey returns the _id of a document that belongs to two things: their ids, one after the other.
func PairKey(first, second id.ID) bson.Binary {
	return bson.Binary{Data: append(append(make([]byte, 0, 32), first[:]...), second[:]...)}
}

// PairRange matches every PairKey with this first id.
func PairRange(first id.ID) bson.D {
	return Doc("$gte", PairKey(first, id.ID{}), "$lte", PairKey(first, LastID))
}

// HashKey returns the stored form of a hash.
func HashKey(hash [32]byte) bson.Binary { return bson.Binary{Data: hash[:]} }
