package users

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// GrantRight implements social.Users.
func (s *Store) GrantRight(ctx context.Context, user social.UserID, right social.Right, e social.Event) (bool, error) {
	return s.changeRight(ctx, user, mdb.Doc("$addToSet", mdb.Doc("rights", right)), e)
}

// RevokeRight implements social.Users.
func (s *Store) RevokeRight(ctx context.Context, user social.UserID, right social.Right, e social.Event) (bool, error) {
	return s.changeRight(ctx, user, mdb.Doc("$pull", mdb.Doc("rights", right)), e)
}

// UsersWithRights implements social.Users.
func (s *Store) UsersWithRights(ctx context.Context) (users []*social.User, err error) {
	err = s.db.Read(ctx, "users with rights", func(ctx context.Context) error {
		anyRight := mdb.Doc("rights", mdb.Doc("$gt", ""))
		docs, err := mdb.FindAll[Document](ctx, s.users, anyRight, usualHolders, options.Find().SetHint(byRights))
		users = mdb.Map(docs, (*Document).User)
		return err
	})
	return users, err
}

// usualHolders is the expected number of users with rights.
const usualHolders = 100

func (s *Store) changeRight(ctx context.Context, user social.UserID, change bson.D, e social.Event) (changed bool, err error) {
	err = s.db.Write(ctx, "change right", []id.ID{user.ID}, func(ctx context.Context) error {
		result, err := s.users.UpdateOne(ctx, mdb.Doc("_id", user), change)
		if err != nil {
			return err
		}
		if result.MatchedCount == 0 {
			return social.ErrNotFound
		}
		if changed = result.ModifiedCount > 0; !changed {
			return nil
		}
		return s.log.AppendWith(ctx, social.UsersChanged(user), e)
	})
	return changed && err == nil, err
}
