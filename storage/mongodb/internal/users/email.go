package users

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// emailDoc is a document of emails.
type emailDoc struct {
	User    social.UserID `bson:"_id"`
	Version int           `bson:"v"`
	Address string        `bson:"address,omitempty"` // absent: none is confirmed
	Key     string        `bson:"key,omitempty"`     // social.EmailKey of Address
	Pending string        `bson:"pending,omitempty"` // absent: none is to be confirmed
	Issued  int64         `bson:"issued,omitempty"`  // tokens so far: each change conflicts with the user's deletion
}

func (d *emailDoc) email() social.Email { return social.Email{Address: d.Address, Pending: d.Pending} }

// mailTokenDoc is a document of mailTokens. MongoDB removes it some time after it expired, so
// readers compare the time.
type mailTokenDoc struct {
	Hash      bson.Binary     `bson:"_id"`
	Version   int             `bson:"v"`
	Kind      social.MailKind `bson:"kind"`
	User      social.UserID   `bson:"user"`
	Address   string          `bson:"address"`
	Mail      social.MailID   `bson:"mail"`
	ExpiresAt time.Time       `bson:"expiresAt"`
	Void      bool            `bson:"void,omitempty"`
}

// Email implements social.Emails.
func (s *Store) Email(ctx context.Context, user social.UserID) (email social.Email, err error) {
	err = s.db.Read(ctx, "email", func(ctx context.Context) error {
		docs, err := mdb.FindAll[emailDoc](ctx, s.emails, mdb.Doc("_id", user), 1)
		for i := range docs {
			email = docs[i].email()
		}
		return err
	})
	return email, err
}

// UsersWithEmail implements social.Emails.
func (s *Store) UsersWithEmail(ctx context.Context, key string, limit int) (users []social.UserID, err error) {
	err = s.db.Read(ctx, "users with an email", func(ctx context.Context) error {
		docs, err := mdb.FindAll[emailDoc](ctx, s.emails, mdb.Doc("key", key), limit,
			options.Find().SetHint(byKey).SetSort(mdb.Doc("key", 1, "_id", 1)).SetLimit(int64(limit)))
		users = mdb.Map(docs, func(d *emailDoc) social.UserID { return d.User })
		return err
	})
	return users, err
}

// SetEmail implements social.Emails. The address of a user who is being deleted is removed in the
// background.
func (s *Store) SetEmail(ctx context.Context, user social.UserID, pending string, m social.Mail) error {
	return s.db.Write(ctx, "set email", nil, func(ctx context.Context) error {
		if err := s.mustHaveAccount(ctx, user); err != nil {
			return err
		}
		update := mdb.Doc("$set", mdb.Doc("v", mdb.FirstVersion, "pending", pending))
		_, err := s.emails.UpdateOne(ctx, mdb.Doc("_id", user), update, options.UpdateOne().SetUpsert(true))
		if err != nil {
			return mdb.OrRetry(err)
		}
		return s.addMail(ctx, m)
	})
}

// RemoveEmail implements social.Emails.
func (s *Store) RemoveEmail(ctx context.Context, user social.UserID) error {
	return s.db.Write(ctx, "remove email", nil, func(ctx context.Context) error {
		if _, err := s.emails.DeleteOne(ctx, mdb.Doc("_id", user)); err != nil {
			return err
		}
		return s.voidMailTokens(ctx, user, social.MailConfirm, social.MailReset)
	})
}

// ConfirmEmail implements social.Emails.
func (s *Store) ConfirmEmail(ctx context.Context, tokenHash [32]byte, now time.Time) (user social.UserID, err error) {
	err = s.db.Write(ctx, "confirm email", nil, func(ctx context.Context) error {
		t, err := s.mailToken(ctx, tokenHash, social.MailConfirm, now)
		if err != nil {
			return err
		}
		user = t.User
		update := mdb.Doc("$set", mdb.Doc("address", t.Address, "key", social.EmailKey(t.Address)), "$unset", mdb.Doc("pending", 1))
		if err := mdb.UpdateOne(ctx, s.emails, mdb.Doc("_id", user, "pending", t.Address), update); err != nil {
			return err
		}
		return s.voidMailTokens(ctx, user, social.MailConfirm, social.MailReset)
	})
	return user, err
}

// MailToken implements social.Emails.
func (s *Store) MailToken(ctx context.Context, hash [32]byte, kind social.MailKind, now time.Time) (t social.MailToken, err error) {
	err = s.db.Read(ctx, "mail token", func(ctx context.Context) (err error) {
		t, err = s.mailToken(ctx, hash, kind, now)
		return err
	})
	return t, err
}

func (s *Store) mailToken(ctx context.Context, hash [32]byte, kind social.MailKind, now time.Time) (social.MailToken, error) {
	var d mailTokenDoc
	if err := mdb.OrNotFound(s.mailTokens.FindOne(ctx, mdb.Doc("_id", mdb.HashKey(hash))).Decode(&d)); err != nil {
		return social.MailToken{}, err
	}
	if d.Kind != kind || d.Void || !d.ExpiresAt.After(now) {
		return social.MailToken{}, social.ErrNotFound
	}
	return social.MailToken{Hash: hash, Kind: d.Kind, User: d.User, Address: d.Address, Mail: d.Mail, ExpiresAt: mdb.UTC(d.ExpiresAt)}, nil
}

// IssueMailToken implements social.Emails.
func (s *Store) IssueMailToken(ctx context.Context, t social.MailToken, most int, now time.Time) (issued bool, err error) {
	current := mdb.Doc("_id", t.User, "address", t.Address)
	if t.Kind == social.MailConfirm {
		current = mdb.Doc("_id", t.User, "pending", t.Address)
	}
	err = s.db.Write(ctx, "issue mail token", nil, func(ctx context.Context) error {
		issued = false
		if err := mdb.UpdateOne(ctx, s.emails, current, mdb.Doc("$inc", mdb.Doc("issued", 1))); err != nil {
			return err
		}
		earlier, err := mdb.FindAll[mailTokenDoc](ctx, s.mailTokens, mdb.Doc("user", t.User, "kind", t.Kind), most, options.Find().SetHint(byUser))
		if err != nil {
			return err
		}
		others, same := 0, []bson.Binary{}
		for i := range earlier {
			switch d := &earlier[i]; {
			case d.Mail == t.Mail:
				same = append(same, d.Hash)
			case d.ExpiresAt.After(now):
				others++
			}
		}
		if others >= most {
			return nil
		}
		if len(same) > 0 {
			if _, err := s.mailTokens.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", same))); err != nil {
				return err
			}
		}
		if err := s.voidMailTokens(ctx, t.User, t.Kind); err != nil {
			return err
		}
		_, err = s.mailTokens.InsertOne(ctx, mailTokenDoc{
			Hash: mdb.HashKey(t.Hash), Version: mdb.FirstVersion, Kind: t.Kind, User: t.User, Address: t.Address, Mail: t.Mail, ExpiresAt: t.ExpiresAt,
		})
		issued = err == nil
		return err
	})
	return issued && err == nil, err
}

// voidMailTokens makes a user's tokens of some kinds void, in a transaction.
func (s *Store) voidMailTokens(ctx context.Context, user social.UserID, kinds ...social.MailKind) error {
	filter := mdb.Doc("user", user, "kind", mdb.Doc("$in", kinds), "void", nil)
	tokens, err := mdb.FindAll[mailTokenDoc](ctx, s.mailTokens, filter, 1, options.Find().SetHint(byUser))
	if err != nil || len(tokens) == 0 {
		return err
	}
	hashes := mdb.Map(tokens, func(d *mailTokenDoc) bson.Binary { return d.Hash })
	_, err = s.mailTokens.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", hashes)), mdb.Doc("$set", mdb.Doc("void", true)))
	return err
}

// useResetToken uses up the token of a change of a password, and makes the user's other ones void,
// in a transaction.
func (s *Store) useResetToken(ctx context.Context, c social.PasswordChange) error {
	if c.Reset != [32]byte{} {
		valid := mdb.Doc("_id", mdb.HashKey(c.Reset), "user", c.User, "kind", social.MailReset, "void", nil, "expiresAt", mdb.Doc("$gt", c.At))
		if err := mdb.UpdateOne(ctx, s.mailTokens, valid, mdb.Doc("$set", mdb.Doc("void", true))); err != nil {
			return err
		}
	}
	return s.voidMailTokens(ctx, c.User, social.MailReset)
}

// ForgetEmail removes a deleted user's addresses, the mails to be sent there, and the tokens in
// those that were.
func (s *Store) ForgetEmail(ctx context.Context, user social.UserID) error {
	if _, err := s.emails.DeleteOne(ctx, mdb.Doc("_id", user)); err != nil {
		return err
	}
	tokens, err := mdb.FindAll[mailTokenDoc](ctx, s.mailTokens, mdb.Doc("user", user), 1, options.Find().SetHint(byUser))
	if err == nil && len(tokens) > 0 {
		_, err = s.mailTokens.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Map(tokens, func(d *mailTokenDoc) bson.Binary { return d.Hash }))))
	}
	if err != nil {
		return err
	}
	return s.removeMailsOf(ctx, user)
}
