package users

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// mailDoc is a document of mails: those that are to be sent.
type mailDoc struct {
	ID        social.MailID   `bson:"_id"`
	Version   int             `bson:"v"`
	Kind      social.MailKind `bson:"kind"`
	User      social.UserID   `bson:"user,omitempty"`
	Account   string          `bson:"account,omitempty"`
	Due       time.Time       `bson:"due"` // until then, a server that has taken it may be sending it
	ExpiresAt time.Time       `bson:"expiresAt"`
}

// QueueMail implements social.Emails.
func (s *Store) QueueMail(ctx context.Context, m social.Mail) error {
	return s.db.Read(ctx, "queue mail", func(ctx context.Context) error { return s.addMail(ctx, m) })
}

func (s *Store) addMail(ctx context.Context, m social.Mail) error {
	_, err := s.mails.InsertOne(ctx, mailDoc{
		ID: m.ID, Version: mdb.FirstVersion, Kind: m.Kind, User: m.User, Account: m.Account, Due: time.Unix(0, 0), ExpiresAt: m.ExpiresAt,
	})
	return err
}

// TakeMail implements social.Emails.
func (s *Store) TakeMail(ctx context.Context, now, until time.Time) (m social.Mail, err error) {
	err = s.db.Read(ctx, "take mail", func(ctx context.Context) error {
		var d mailDoc
		err := s.mails.FindOneAndUpdate(ctx, mdb.Doc("due", mdb.Doc("$lte", now), "expiresAt", mdb.Doc("$gt", now)), mdb.Doc("$set", mdb.Doc("due", until)),
			options.FindOneAndUpdate().SetSort(mdb.Doc("due", 1)).SetHint(byDue)).Decode(&d)
		m = social.Mail{ID: d.ID, Kind: d.Kind, User: d.User, Account: d.Account, ExpiresAt: mdb.UTC(d.ExpiresAt)}
		return mdb.OrNotFound(err)
	})
	if errors.Is(err, social.ErrNotFound) {
		m = social.Mail{}
	}
	return m, err
}

// EndMail implements social.Emails.
func (s *Store) EndMail(ctx context.Context, mail social.MailID) error {
	return s.db.Read(ctx, "end mail", func(ctx context.Context) error {
		_, err := s.mails.DeleteOne(ctx, mdb.Doc("_id", mail))
		return err
	})
}

func (s *Store) removeMailsOf(ctx context.Context, user social.UserID) error {
	_, err := s.mails.DeleteMany(ctx, mdb.Doc("user", user), options.DeleteMany().SetHint(byUser))
	return err
}
