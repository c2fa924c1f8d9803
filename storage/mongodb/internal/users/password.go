package users

import (
	"context"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// PasswordHash implements social.Users.
func (s *Store) PasswordHash(ctx context.Context, handle string) (social.UserID, string, error) {
	var d handleDoc
	err := s.db.Read(ctx, "password hash", func(ctx context.Context) error {
		return mdb.OrNotFound(s.handles.FindOne(ctx, mdb.Doc("_id", handle)).Decode(&d))
	})
	return d.User, d.PasswordHash, err
}

// SetPassword implements social.Users.
func (s *Store) SetPassword(ctx context.Context, c social.PasswordChange) error {
	filter := mdb.Doc("_id", c.Handle, "user", c.User, "passwordHash", c.From)
	return s.db.Write(ctx, "set password", nil, func(ctx context.Context) error {
		if err := mdb.UpdateOne(ctx, s.handles, filter, mdb.Doc("$set", mdb.Doc("passwordHash", c.To))); err != nil {
			return err
		}
		if err := s.useResetToken(ctx, c); err != nil {
			return err
		}
		return s.endSessions(ctx, c.User, c.Keep, social.AllSessions)
	})
}
