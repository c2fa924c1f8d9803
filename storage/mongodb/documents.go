package mongodb

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
)

// inBatch is the longest list of values in one command.
const inBatch = 1000

// doc makes an ordered document of keys and values in turn. It panics where a key has no value.
func doc(pairs ...any) bson.D {
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

// registry writes every id as a UUID (binary, subtype 4), which sorts by its bytes.
func registry() *bson.Registry {
	r := bson.NewRegistry()
	for _, t := range []reflect.Type{
		reflect.TypeFor[social.UserID](), reflect.TypeFor[social.CircleID](), reflect.TypeFor[social.PostID](),
		reflect.TypeFor[social.CommentID](), reflect.TypeFor[social.EdgeID](), reflect.TypeFor[social.EventID](),
		reflect.TypeFor[jobID](), reflect.TypeFor[stamp](), reflect.TypeFor[social.PropertyID](),
	} {
		r.RegisterTypeEncoder(t, bson.ValueEncoderFunc(encodeID))
		r.RegisterTypeDecoder(t, bson.ValueDecoderFunc(decodeID))
	}
	return r
}

// errNoID says that registry lists a type that is none of ids.
var errNoID = errors.New("not an id")

func encodeID(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	raw, ok := reflect.TypeAssert[id.ID](v.Field(0))
	if !ok {
		return errNoID
	}
	return w.WriteBinaryWithSubtype(raw[:], bson.TypeBinaryUUID)
}

func decodeID(_ bson.DecodeContext, r bson.ValueReader, v reflect.Value) error {
	raw, _, err := r.ReadBinary()
	if err != nil {
		return err
	}
	if len(raw) != len(id.ID{}) {
		return fmt.Errorf("an id of %d bytes", len(raw))
	}
	to, ok := reflect.TypeAssert[*id.ID](v.Field(0).Addr())
	if !ok {
		return errNoID
	}
	copy(to[:], raw)
	return nil
}

// zeroKey is below every id, and an id: a range above it holds exactly the documents that have one.
var zeroKey = bson.Binary{Subtype: bson.TypeBinaryUUID, Data: make([]byte, 16)}

// idKey is the stored form of a list key that is an id.
func idKey(k social.Key) any { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(k)} }

// pairKey is the _id of what belongs to two: their ids, one after the other.
func pairKey(first, second id.ID) bson.Binary {
	return bson.Binary{Data: append(append(make([]byte, 0, 32), first[:]...), second[:]...)}
}

// pairRange matches every pairKey with this first id.
func pairRange(first id.ID) bson.D {
	last := id.ID(slices.Repeat([]byte{0xff}, 16))
	return doc("$gte", pairKey(first, id.ID{}), "$lte", pairKey(first, last))
}

// utc is how times leave the database: zero stays zero.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// findAll reads all documents that match, in one command while they are below the server's 16 MB.
func findAll[D any](ctx context.Context, c *mongo.Collection, filter bson.D, expect int, opts ...options.Lister[options.FindOptions]) ([]D, error) {
	// One more than is expected: then the first answer also says that there is no more.
	opts = append(opts, options.Find().SetBatchSize(int32(expect+1)))
	return readCurrentSnapshot(ctx, func() ([]D, error) {
		cursor, err := c.Find(ctx, filter, opts...)
		if err != nil {
			return nil, err
		}
		return readAll[D](ctx, cursor, expect)
	})
}

// readCurrentSnapshot reads, and reads again where the server has chosen a snapshot that was gone before the command was through, as a server
// may that has too much to do. In a transaction the snapshot is the transaction's.
func readCurrentSnapshot[D any](ctx context.Context, read func() ([]D, error)) ([]D, error) {
	const snapshotTooOld = 239
	docs, err := read()
	var server mongo.ServerError
	if mongo.SessionFromContext(ctx) == nil && asServerError(err, &server) && server.HasErrorCode(snapshotTooOld) {
		return read()
	}
	return docs, err
}

// findIn reads the documents whose field has one of the values, in batches of inBatch.
func findIn[D any, V any](ctx context.Context, c *mongo.Collection, field string, values []V, opts ...options.Lister[options.FindOptions]) ([]D, error) {
	var all []D
	for batch := range slices.Chunk(values, inBatch) {
		docs, err := findAll[D](ctx, c, doc(field, doc("$in", valueList(batch))), len(batch), opts...)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = docs
		} else {
			all = append(all, docs...)
		}
	}
	return all, nil
}
