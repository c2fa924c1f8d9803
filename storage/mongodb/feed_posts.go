package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/recent"
)

// postReader reads posts for feeds.
type postReader struct {
	posts, sequences *mongo.Collection
}

func (r postReader) Collection() *mongo.Collection { return r.posts }

func (r postReader) Sequence(ctx context.Context) (recent.Sequence, error) {
	docs, err := mdb.FindAll[sequenceDoc](ctx, r.sequences, mdb.Doc("_id", postSequence), 1, options.Find().SetHint(mdb.Doc("_id", 1)))
	if err != nil || len(docs) == 0 {
		return recent.Sequence{}, err
	}
	return recent.Sequence{Last: docs[0].LastSerial, Backdated: docs[0].Backdated}, nil
}

func (r postReader) ByID(ctx context.Context, ids []social.PostID) ([]*social.Post, error) {
	docs, err := mdb.FindIn[postDoc](ctx, r.posts, "_id", ids)
	return mdb.Map(docs, (*postDoc).post), err
}

func (r postReader) List(ctx context.Context, q mdb.ListQuery) ([]*social.Post, error) {
	docs, err := mdb.ReadList[postDoc](ctx, r.posts, q)
	return mdb.Map(docs, (*postDoc).post), err
}

func (r postReader) Pages(ctx context.Context, lists []social.List[social.UserID], query func(social.List[social.UserID]) mdb.ListQuery) (map[social.List[social.UserID]][]*social.Post, error) {
	return mdb.Pages(ctx, r.posts, lists, query, (*postDoc).post)
}

func (r postReader) Decode(raw []byte) (*social.Post, error) {
	var d postDoc
	if err := mdb.ReadDocument(raw, &d); err != nil {
		return nil, err
	}
	return d.post(), nil
}
