package users

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// leftHandleDoc is a document of leftHandles: the handle of a deleted account. MongoDB removes it
// some time after it expired, so readers compare the time.
type leftHandleDoc struct {
	Key       bson.Binary `bson:"_id"` // see social.KeyOfLeftHandle
	Version   int         `bson:"v"`
	ExpiresAt time.Time   `bson:"expiresAt"`
}

// IsHandleKept implements social.Users.
func (s *Store) IsHandleKept(ctx context.Context, handle string, at time.Time) (kept bool, err error) {
	err = s.db.Read(ctx, "is handle kept", func(ctx context.Context) error {
		kept, err = s.handleIsKept(ctx, handle, at)
		return err
	})
	return kept, err
}

func (s *Store) handleIsKept(ctx context.Context, handle string, at time.Time) (bool, error) {
	var d leftHandleDoc
	err := mdb.OrNotFound(s.leftHandles.FindOne(ctx, mdb.Doc("_id", mdb.HashKey(social.KeyOfLeftHandle(handle)))).Decode(&d))
	if errors.Is(err, social.ErrNotFound) {
		return false, nil
	}
	return err == nil && d.ExpiresAt.After(at), err
}

// refuseKept returns social.ErrTaken if a new user may not have the handle yet, in a transaction. A
// concurrent deletion of the user who has it conflicts with storing the handle.
func (s *Store) refuseKept(ctx context.Context, u social.NewUser) error {
	if u.At.IsZero() {
		return nil
	}
	kept, err := s.handleIsKept(ctx, u.User.Handle, u.At)
	if err == nil && kept {
		return social.ErrTaken
	}
	return err
}

// leaveHandle keeps the handle of a user who is deleted, in a transaction.
func (s *Store) leaveHandle(ctx context.Context, handle string) error {
	update := mdb.Doc("$set", mdb.Doc("v", mdb.FirstVersion, "expiresAt", time.Now().Add(social.HandleRest)))
	_, err := s.leftHandles.UpdateOne(ctx, mdb.Doc("_id", mdb.HashKey(social.KeyOfLeftHandle(handle))), update, options.UpdateOne().SetUpsert(true))
	return mdb.OrRetry(err)
}
