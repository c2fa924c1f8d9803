package serials

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Document has the newest serial that was assigned: it is a document of sequences, or a part of a
// post or a user.
type Document struct {
	LastSerial int64 `bson:"lastSerial"`
	Latest     []struct {
		ID social.CommentID `bson:"_id"`
	} `bson:"latest"` // only in posts
}

// newest returns the greatest serial among the newest comments of a post.
func (d *Document) newest() (newest int64) {
	for _, c := range d.Latest {
		newest = max(newest, c.ID.Serial())
	}
	return newest
}

// Next assigns n serials, all greater than floor and than those that were assigned before, and
// returns the first one. It updates the document of c with this _id, and must be the first command
// of a transaction. It also sets further fields, from what the document was before. It returns
// ErrNotFound if there is no such document and upsert is false.
func Next(ctx context.Context, c *mongo.Collection, name any, floor int64, n int, upsert bool, also ...bson.E) (first int64, err error) {
	set := append(mdb.Doc("lastSerial", mdb.Doc("$max", bson.A{"$lastSerial", floor})), also...)
	if upsert {
		set = append(set, bson.E{Key: "v", Value: mdb.FirstVersion})
	}
	update := mdb.Pipeline{mdb.Doc("$set", set)}
	if n > 0 {
		now := mdb.Doc("$multiply", bson.A{mdb.Doc("$toLong", "$$NOW"), int64(id.SerialsPerMillisecond)})
		next := mdb.Doc("$max", bson.A{mdb.Doc("$add", bson.A{"$lastSerial", int64(1)}), now})
		update = append(update, mdb.Doc("$set", mdb.Doc("lastSerial", mdb.Doc("$add", bson.A{next, int64(n - 1)}))))
	}
	var d Document
	err = mdb.OrNotFound(c.FindOneAndUpdate(ctx, mdb.Doc("_id", name), update, options.FindOneAndUpdate().SetUpsert(upsert).
		SetReturnDocument(options.After).SetProjection(mdb.Doc("lastSerial", 1, "latest._id", 1))).Decode(&d))
	if err != nil {
		return 0, mdb.OrRetry(err)
	}
	first = d.LastSerial - int64(n) + 1
	if newest := d.newest(); n > 0 && newest >= first {
		// The thread has comments that are older than the post's serial.
		return Next(ctx, c, name, newest, n, upsert)
	}
	return first, nil
}

// AtLeast assigns a serial that is at least this one, and greater than those that were assigned
// before. It returns ErrNotFound if there is no such document.
func AtLeast(ctx context.Context, c *mongo.Collection, name any, least int64) (int64, error) {
	next := mdb.Doc("$max", bson.A{mdb.Doc("$add", bson.A{"$lastSerial", int64(1)}), least})
	var d Document
	err := mdb.OrNotFound(c.FindOneAndUpdate(ctx, mdb.Doc("_id", name), mdb.Pipeline{mdb.Doc("$set", mdb.Doc("lastSerial", next))},
		options.FindOneAndUpdate().SetReturnDocument(options.After).SetProjection(mdb.Doc("lastSerial", 1))).Decode(&d))
	return d.LastSerial, err
}
