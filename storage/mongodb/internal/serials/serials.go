package serials

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Document has the newest serial that was assigned: it is a document of sequences, or a part of a
// post or a user.
type Document struct {
	LastSerial int64     `bson:"lastSerial"`
	Latest     []comment `bson:"latest"` // only in posts
}

// comment is the copy of a comment in a post.
type comment struct {
	ID social.CommentID `bson:"_id"`
}

func (c *comment) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if string(field) == "_id" {
		r.ID(v, &c.ID.ID)
	}
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
	var d Document
	err = mdb.OrNotFound(c.FindOneAndUpdate(ctx, mdb.Doc("_id", name), assignment(floor, n, upsert, also...), options.FindOneAndUpdate().SetUpsert(upsert).
		SetReturnDocument(options.After).SetProjection(assigned)).Decode(&d))
	if err != nil {
		return 0, mdb.OrRetry(err)
	}
	first = d.first(n)
	if newest := d.newest(); n > 0 && newest >= first {
		// The thread has comments that are older than the post's serial.
		return Next(ctx, c, name, newest, n, upsert)
	}
	return first, nil
}

// assignment returns the update that assigns n serials greater than floor.
func assignment(floor int64, n int, upsert bool, also ...bson.E) mdb.Pipeline {
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
	return update
}

// assigned projects what must be read after an assignment.
var assigned = mdb.Doc("lastSerial", 1, "latest._id", 1)

// first returns the first of the n serials that were assigned last.
func (d *Document) first(n int) int64 { return d.LastSerial - int64(n) + 1 }

// Request asks for N serials of a post, all greater than Floor.
type Request struct {
	Post  social.PostID
	Floor int64
	N     int
}

// NextOfEach is Next for several posts, in two commands, and one more for each post whose comments
// are older than its serial. It returns ErrNotFound if a post is missing.
func NextOfEach(ctx context.Context, c *mongo.Collection, requests []Request) (firsts []int64, err error) {
	if len(requests) == 1 {
		first, err := Next(ctx, c, requests[0].Post, requests[0].Floor, requests[0].N, false)
		return []int64{first}, err
	}
	updates := mdb.Map(requests, func(r *Request) mongo.WriteModel {
		return mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", r.Post)).SetUpdate(assignment(r.Floor, r.N, false))
	})
	if _, err := c.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false)); err != nil {
		return nil, err
	}
	docs, err := mdb.FindIn[postDocument](ctx, c, "_id", mdb.Map(requests, func(r *Request) social.PostID { return r.Post }),
		options.Find().SetProjection(assigned).SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return nil, err
	}
	byPost := make(map[social.PostID]*Document, len(docs))
	for i := range docs {
		byPost[docs[i].Post] = &docs[i].Document
	}
	firsts = make([]int64, len(requests))
	for i, r := range requests {
		d := byPost[r.Post]
		if d == nil {
			return nil, social.ErrNotFound
		}
		firsts[i] = d.first(r.N)
		if newest := d.newest(); r.N > 0 && newest >= firsts[i] {
			if firsts[i], err = Next(ctx, c, r.Post, newest, r.N, false); err != nil {
				return nil, err
			}
		}
	}
	return firsts, nil
}

// postDocument is the Document of a post that is read with others.
type postDocument struct {
	Post social.PostID
	Document
}

func (d *postDocument) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.Post.ID)
	case "lastSerial":
		r.Long(v, &d.LastSerial)
	case "latest":
		mdb.ReadDocuments(r, v, &d.Latest)
	}
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
