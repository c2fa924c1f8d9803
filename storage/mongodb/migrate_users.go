package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
)

// userHead is a user's id.
type userHead struct {
	ID social.UserID `bson:"_id"`
}

// countUsers is about how many users there are.
func (s *Store) countUsers(ctx context.Context) (n int, err error) {
	err = s.db.Read(ctx, "count users", func(ctx context.Context) error {
		all, err := s.users.EstimatedDocumentCount(ctx)
		n = int(all)
		return err
	})
	return n, err
}

// eachUser does something for all users, several at the same time, from where the migration's phase
// was.
func (s *Store) eachUser(ctx context.Context, m *migrate.Run, do func(context.Context, social.UserID) error) error {
	for {
		after, err := m.Position()
		if err != nil {
			return err
		}
		heads, err := s.userHeads(ctx, mdb.Doc("$gt", after), m.Together())
		if err != nil || len(heads) == 0 {
			return err
		}
		group, together := errgroup.WithContext(ctx)
		group.SetLimit(copiers)
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

func (s *Store) userHeads(ctx context.Context, ids bson.D, limit int) (heads []userHead, err error) {
	err = s.db.Read(ctx, "users to move", func(ctx context.Context) error {
		heads, err = mdb.FindAll[userHead](ctx, s.users, mdb.Doc("_id", ids), limit, options.Find().
			SetSort(mdb.Doc("_id", 1)).SetLimit(int64(limit)).SetHint(mdb.Doc("_id", 1)).SetProjection(mdb.Doc("_id", 1)))
		return err
	})
	return heads, err
}
