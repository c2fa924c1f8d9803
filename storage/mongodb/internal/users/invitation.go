package users

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// invitationDoc is a document of invitations. MongoDB removes it some time after it expired, so
// readers compare the time.
type invitationDoc struct {
	ID        social.InvitationID `bson:"_id"`
	Version   int                 `bson:"v"`
	Inviter   social.UserID       `bson:"inviter,omitempty"` // absent: an operator
	MaxUses   int                 `bson:"maxUses"`
	Uses      int                 `bson:"uses"`
	CreatedAt time.Time           `bson:"createdAt"`
	ExpiresAt time.Time           `bson:"expiresAt"`
}

// inviterDoc is a document of inviters: a user who has invited others.
type inviterDoc struct {
	User     social.UserID `bson:"_id"`
	Version  int           `bson:"v"`
	Attempts int           `bson:"attempts"` // to create an invitation: each one conflicts with the others
}

func (d *invitationDoc) invitation() social.Invitation {
	return social.Invitation{
		ID: d.ID, Inviter: d.Inviter, MaxUses: d.MaxUses, Uses: d.Uses, CreatedAt: mdb.UTC(d.CreatedAt), ExpiresAt: mdb.UTC(d.ExpiresAt),
	}
}

// InsertInvitation implements social.Invitations. Invitations of a user who is being deleted are
// removed in the background.
func (s *Store) InsertInvitation(ctx context.Context, i social.Invitation, maximum int) error {
	return s.db.Write(ctx, "insert invitation", []id.ID{i.Inviter.ID}, func(ctx context.Context) error {
		if err := s.mayInvite(ctx, &i, maximum); err != nil {
			return err
		}
		_, err := s.invitations.InsertOne(ctx, invitationDoc{
			ID: i.ID, Version: mdb.FirstVersion, Inviter: i.Inviter, MaxUses: i.MaxUses, Uses: i.Uses, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt,
		})
		return err
	})
}

// mayInvite returns the error of a user who can't have another invitation, in a transaction. The
// document in inviters makes concurrent calls conflict. Operators always can.
func (s *Store) mayInvite(ctx context.Context, i *social.Invitation, maximum int) error {
	if i.Inviter.IsZero() {
		return nil
	}
	if err := s.mustHaveAccount(ctx, i.Inviter); err != nil {
		return err
	}
	count := mdb.Doc("$set", mdb.Doc("v", mdb.FirstVersion), "$inc", mdb.Doc("attempts", 1))
	if _, err := s.inviters.UpdateOne(ctx, mdb.Doc("_id", i.Inviter), count, options.UpdateOne().SetUpsert(true)); err != nil {
		return mdb.OrRetry(err)
	}
	return mdb.MustHaveRoom(ctx, s.invitations, unexpiredBy(i.Inviter, i.CreatedAt), byInviter, maximum)
}

// Invitation implements social.Invitations.
func (s *Store) Invitation(ctx context.Context, which social.InvitationID, now time.Time) (i social.Invitation, err error) {
	err = s.db.Read(ctx, "invitation", func(ctx context.Context) error {
		var d invitationDoc
		err := mdb.OrNotFound(s.invitations.FindOne(ctx, mdb.Doc("_id", which)).Decode(&d))
		if err == nil && !d.ExpiresAt.After(now) {
			err = social.ErrNotFound
		}
		i = d.invitation()
		return err
	})
	if err != nil {
		return social.Invitation{}, err
	}
	return i, nil
}

// InvitationsBy implements social.Invitations.
func (s *Store) InvitationsBy(ctx context.Context, inviter social.UserID, now time.Time) (found []social.Invitation, err error) {
	err = s.db.Read(ctx, "invitations by", func(ctx context.Context) (err error) {
		found, err = s.invitationsBy(ctx, inviter, now)
		return err
	})
	return found, err
}

func (s *Store) invitationsBy(ctx context.Context, inviter social.UserID, now time.Time) ([]social.Invitation, error) {
	docs, err := mdb.FindAll[invitationDoc](ctx, s.invitations, unexpiredBy(inviter, now), 1, options.Find().SetHint(byInviter))
	return mdb.Map(docs, (*invitationDoc).invitation), err
}

// unexpiredBy matches the invitations of a user (zero: of operators) that have not expired by now.
func unexpiredBy(inviter social.UserID, now time.Time) bson.D {
	var by any // nil: those of operators have no inviter
	if !inviter.IsZero() {
		by = inviter
	}
	return mdb.Doc("inviter", by, "expiresAt", mdb.Doc("$gt", now))
}

// DeleteInvitation implements social.Invitations.
func (s *Store) DeleteInvitation(ctx context.Context, which social.InvitationID, kind social.InvitationKind) error {
	filter := mdb.Doc("_id", which)
	if kind == social.UnusedInvitations {
		filter = mdb.Doc("_id", which, "uses", 0)
	}
	return s.db.Write(ctx, "delete invitation", nil, func(ctx context.Context) error { return mdb.DeleteOne(ctx, s.invitations, filter) })
}

// useInvitation counts the account that an invitation creates, in a transaction. Error:
// social.ErrInvitationOver.
func (s *Store) useInvitation(ctx context.Context, u *social.NewUser) error {
	if u.Invitation.IsZero() {
		return nil
	}
	valid := mdb.Doc("_id", u.Invitation, "expiresAt", mdb.Doc("$gt", u.At), "$expr", mdb.Doc("$lt", []string{"$uses", "$maxUses"}))
	err := mdb.UpdateOne(ctx, s.invitations, valid, mdb.Doc("$inc", mdb.Doc("uses", 1)))
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrInvitationOver
	}
	return err
}

// ForgetInvitations removes the invitations of a deleted user.
func (s *Store) ForgetInvitations(ctx context.Context, user social.UserID) error {
	if _, err := s.inviters.DeleteOne(ctx, mdb.Doc("_id", user)); err != nil {
		return err
	}
	docs, err := s.invitationsBy(ctx, user, time.Unix(0, 0))
	if err != nil || len(docs) == 0 {
		return err
	}
	ids := mdb.Map(docs, func(i *social.Invitation) social.InvitationID { return i.ID })
	_, err = s.invitations.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", ids)))
	return err
}
