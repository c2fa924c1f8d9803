package migrate

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Parallel is how many entries a [Mover] copies, or compares, at the same time.
const Parallel = 4

// head is the id of a document.
type head struct {
	ID social.UserID `bson:"_id"`
}

// EachUser calls do for all users, several at a time, and continues where the phase was stopped.
func (m *Run) EachUser(ctx context.Context, users *mongo.Collection, do func(context.Context, social.UserID) error) error {
	for {
		after, err := m.Position()
		if err != nil {
			return err
		}
		heads, err := m.heads(ctx, users, mdb.Doc("$gt", after), m.Together())
		if err != nil || len(heads) == 0 {
			return err
		}
		group, together := errgroup.WithContext(ctx)
		group.SetLimit(Parallel)
		for _, head := range heads {
			group.Go(func() error { return do(together, head.ID) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if err := m.Note(ctx, heads[len(heads)-1].ID.ID, len(heads)); err != nil {
			return err
		}
	}
}

func (m *Run) heads(ctx context.Context, users *mongo.Collection, ids bson.D, limit int) (heads []head, err error) {
	err = m.c.DB.Read(ctx, "users to move", func(ctx context.Context) error {
		heads, err = mdb.FindAll[head](ctx, users, mdb.Doc("_id", ids), limit, options.Find().
			SetSort(mdb.Doc("_id", 1)).SetLimit(int64(limit)).SetHint(mdb.Doc("_id", 1)).SetProjection(mdb.Doc("_id", 1)))
		return err
	})
	return heads, err
}

// Count estimates how many documents a collection has.
func Count(ctx context.Context, db *mdb.DB, c *mongo.Collection) (n int, err error) {
	err = db.Read(ctx, "count "+c.Name(), func(ctx context.Context) error {
		all, err := c.EstimatedDocumentCount(ctx)
		n = int(all)
		return err
	})
	return n, err
}
