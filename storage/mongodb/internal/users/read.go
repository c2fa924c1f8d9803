package users

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Users implements social.Users.
func (s *Store) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	all := make(map[social.UserID]*social.User, len(ids))
	err := s.db.ReadAcknowledged(ctx, "users", func(ctx context.Context) error {
		docs, err := mdb.FindIn[Document](ctx, s.acknowledged, "_id", ids)
		for i := range docs {
			all[docs[i].ID] = docs[i].User()
		}
		return err
	})
	return all, err
}

// UsersByHandle implements social.Users.
func (s *Store) UsersByHandle(ctx context.Context, handles []string) (map[string]*social.User, error) {
	all := make(map[string]*social.User, len(handles))
	err := s.db.Read(ctx, "users by handle", func(ctx context.Context) error {
		for batch := range slices.Chunk(handles, mdb.InBatch) {
			docs, err := s.usersNamed(ctx, batch)
			if err != nil {
				return err
			}
			for i := range docs {
				all[docs[i].Handle] = docs[i].User()
			}
		}
		return nil
	})
	return all, err
}

// usersNamed reads users by an index on handles. On a sharded cluster a handle does not determine
// the shard of its user, so it reads the handles' documents first. On a single server that would
// cost more than twice as much.
func (s *Store) usersNamed(ctx context.Context, handles []string) ([]Document, error) {
	if !s.routed() {
		return mdb.FindAll[Document](ctx, s.users, mdb.Doc("handle", mdb.Doc("$in", handles)), len(handles), options.Find().SetHint(byHandle))
	}
	return mdb.AggregateAll[Document](ctx, s.handles, bson.A{
		mdb.Doc("$match", mdb.Doc("_id", mdb.Doc("$in", handles))),
		mdb.Doc("$lookup", mdb.Doc("from", s.users.Name(), "localField", "user", "foreignField", "_id", "as", "user")),
		mdb.Doc("$unwind", "$user"),
		mdb.Doc("$replaceRoot", mdb.Doc("newRoot", "$user")),
	}, len(handles))
}

// HasUsers implements social.Users.
func (s *Store) HasUsers(ctx context.Context) (has bool, err error) {
	err = s.db.Read(ctx, "any user", func(ctx context.Context) error {
		has, err = mdb.HasDocuments(ctx, s.users)
		return err
	})
	return has, err
}

// UsersNamed implements social.Users.
func (s *Store) UsersNamed(ctx context.Context, prefix string, p social.Page) ([]*social.User, error) {
	end := social.NameOrderEnd(prefix)
	q := mdb.ListQuery{
		Key: "nameOrder", Value: func(k social.Key) any { return string(k) }, Hint: byName, Page: p,
		Bounds: mdb.Doc("$gte", prefix, "$lt", end),
	}
	if string(p.Before) > end {
		q.Page.Before = ""
	}
	var users []*social.User
	err := s.db.Read(ctx, "users by name", func(ctx context.Context) error {
		docs, err := mdb.ReadList[Document](ctx, s.users, q)
		users = mdb.Map(docs, (*Document).User)
		return err
	})
	return users, err
}
