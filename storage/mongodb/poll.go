package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// openPollDoc is a document of openPolls: a poll whose closing has no event yet.
type openPollDoc struct {
	Post     social.PostID `bson:"_id"`
	Version  int           `bson:"v"`
	ClosesAt time.Time     `bson:"closesAt"`
}

// clockSlack is by how much the clocks of a server and of the database may differ.
const clockSlack = time.Hour

// ClosePolls implements social.Posts. Of two servers that close the same poll one has a conflict,
// and then finds that it is closed.
func (s *Store) ClosePolls(ctx context.Context, limit int) (closed int, err error) {
	err = s.db.Write(ctx, "close polls", nil, func(ctx context.Context) error {
		due := mdb.Doc(
			"closesAt", mdb.Doc("$lte", s.Now().Add(clockSlack)), // bounds what is read; the database's clock decides
			"$expr", mdb.Doc("$lte", bson.A{"$closesAt", "$$NOW"}))
		polls, err := mdb.FindAll[openPollDoc](ctx, s.openPolls, due, limit,
			options.Find().SetSort(mdb.Doc("closesAt", 1)).SetLimit(int64(limit)).SetHint(byClosing))
		if closed = len(polls); err != nil || closed == 0 {
			return err
		}
		posts := mdb.Map(polls, func(d *openPollDoc) social.PostID { return d.Post })
		if _, err := s.openPolls.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.IDs(posts)))); err != nil {
			return err
		}
		return s.log.Append(ctx, mdb.Map(posts, func(p *social.PostID) social.Event { return social.NewPollClosed(*p) })...)
	})
	if err != nil {
		return 0, err
	}
	return closed, nil
}

// openNewPolls notes which of new posts are polls to be closed.
func (s *Store) openNewPolls(ctx context.Context, batch []*newPost) error {
	var docs []openPollDoc
	for _, p := range batch {
		if social.IsToClose(&p.given) {
			docs = append(docs, openPollDoc{Post: p.stored.ID, Version: mdb.FirstVersion, ClosesAt: p.given.Content.Poll.ClosesAt})
		}
	}
	if len(docs) == 0 {
		return nil
	}
	_, err := s.openPolls.InsertMany(ctx, docs)
	return err
}

// Voters implements social.Posts.
func (s *Store) Voters(ctx context.Context, post social.PostID, limit int) (voters []social.UserID, err error) {
	err = s.db.Read(ctx, "voters", func(ctx context.Context) error {
		marks, err := mdb.FindAll[markDoc](ctx, s.votes, mdb.Doc("_id", mdb.PairRange(post.ID)), limit,
			options.Find().SetSort(mdb.Doc("_id", 1)).SetLimit(int64(limit)).SetHint("_id_"))
		voters = mdb.Map(marks, func(d *markDoc) social.UserID { return d.User })
		return err
	})
	return voters, err
}
