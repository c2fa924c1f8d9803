package threads

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// authorDoc is a document of commentAuthors: the author of a live comment that is in a bucket. An
// index over the buckets themselves could not list an author's comments by time: they are in
// buckets of many posts.
type authorDoc struct {
	ID      social.CommentID `bson:"_id"`
	Version int              `bson:"v"`
	Seq     social.CommentID `bson:"seq"` // the id again: see the indexes of mongodb
	Author  social.UserID    `bson:"author"`
	Post    social.PostID    `bson:"post"`
}

func (d *authorDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "seq":
		r.ID(v, &d.Seq.ID)
	case "author":
		r.ID(v, &d.Author.ID)
	case "post":
		r.ID(v, &d.Post.ID)
	}
}

// authorsIn returns a layout's collection of who wrote what.
func authorsIn(db *mongo.Database, layout string) *mongo.Collection {
	return db.Collection(allAuthors + "." + layout)
}

const allAuthors = "commentAuthors"

func authorIndexes() []mongo.IndexModel {
	return []mongo.IndexModel{
		mdb.Index(byAuthor, mdb.Doc("author", 1, "seq", -1)),
		mdb.Index(byPost, mdb.Doc("post", 1, "seq", 1)),
	}
}

func newAuthorDoc(c *Document) authorDoc {
	return authorDoc{ID: c.ID, Version: mdb.FirstVersion, Seq: c.ID, Author: c.Author, Post: c.Post}
}

// authorsOf returns the entries of a thread's live comments.
func authorsOf(comments []Document) []authorDoc {
	var authors []authorDoc
	for i := range comments {
		if !comments[i].Deleted {
			authors = append(authors, newAuthorDoc(&comments[i]))
		}
	}
	return authors
}

// writtenBy lists what an author wrote, newest first.
func writtenBy(filter bson.D, page social.Page) mdb.ListQuery {
	return mdb.ListQuery{Filter: filter, Key: "seq", Value: mdb.IDKey, Desc: true, Hint: byAuthor, Page: page}
}

// upToID matches an author's entries with ids up to and including one.
func upToID(author social.UserID, upTo social.CommentID) bson.D {
	return mdb.Doc("author", author, "seq", mdb.Doc("$lte", upTo))
}

func countUpTo(ctx context.Context, c *mongo.Collection, author social.UserID, upTo social.CommentID) (int, error) {
	n, err := c.CountDocuments(ctx, upToID(author, upTo), options.Count().SetHint(byAuthor))
	return int(n), err
}
