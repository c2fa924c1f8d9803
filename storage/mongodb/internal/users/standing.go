package users

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// standingDoc is the part of a user whose account is not active.
type standingDoc struct {
	Sanction social.Sanction `bson:"sanction,omitempty"`
	Until    time.Time       `bson:"until,omitempty"`
	Reason   string          `bson:"reason,omitempty"`
	Left     bool            `bson:"left,omitempty"`
}

func (d *standingDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "sanction":
		mdb.ReadText(r, v, &d.Sanction)
	case "until":
		r.Time(v, &d.Until)
	case "reason":
		r.Text(v, &d.Reason)
	case "left":
		r.Bool(v, &d.Left)
	}
}

func (d *Document) standing() social.Standing {
	if d.Standing == nil {
		return social.Standing{}
	}
	s := social.Standing(*d.Standing)
	s.Until = mdb.UTC(s.Until)
	return s
}

// Leave implements social.Standings.
func (s *Store) Leave(ctx context.Context, user social.UserID, at time.Time, e social.Event) error {
	return s.db.Write(ctx, "leave", []id.ID{user.ID}, func(ctx context.Context) error {
		_, err := s.changeStanding(ctx, user, at, e, func(before social.Standing) social.Standing {
			before.Left = true
			return before
		})
		return err
	})
}

// Return implements social.Standings.
func (s *Store) Return(ctx context.Context, user social.UserID, e social.Event) (did bool, err error) {
	err = s.db.Write(ctx, "return", []id.ID{user.ID}, func(ctx context.Context) (err error) {
		did, err = s.changeStanding(ctx, user, time.Time{}, e, func(before social.Standing) social.Standing {
			before.Left = false
			return before
		})
		return err
	})
	return did && err == nil, err
}

// Sanction carries a decision out, as a part of a transaction. ErrNotFound.
func (s *Store) Sanction(ctx context.Context, d *social.Decision, e social.Event) error {
	_, err := s.changeStanding(ctx, d.Author, d.At, e, func(before social.Standing) social.Standing { return before.Sanctioned(d) })
	return err
}

// changeStanding changes the standing of a user at a time, as social.Standings says. False: it is
// the same as before.
func (s *Store) changeStanding(ctx context.Context, user social.UserID, at time.Time, e social.Event, change func(social.Standing) social.Standing) (bool, error) {
	var d Document
	if err := mdb.OrNotFound(s.users.FindOne(ctx, mdb.Doc("_id", user)).Decode(&d)); err != nil {
		return false, err
	}
	before := d.standing()
	after := change(before)
	if after == before {
		return false, nil
	}
	update := mdb.Doc("$set", mdb.Doc("standing", standingDoc(after)))
	if after == (social.Standing{}) {
		update = mdb.Doc("$unset", mdb.Doc("standing", 1))
	}
	err := mdb.UpdateOne(ctx, s.users, mdb.Doc("_id", user), update)
	if isAway := social.IsAway(after); err == nil && isAway != social.IsAway(before) {
		err = s.applyAway(ctx, user, at, isAway)
	}
	if err != nil {
		return false, err
	}
	return true, s.log.AppendWith(ctx, social.AroundChanged(user), e)
}

// applyAway changes what depends on whether an account is away.
func (s *Store) applyAway(ctx context.Context, user social.UserID, at time.Time, isAway bool) error {
	if err := s.markAway(ctx, user, isAway); err != nil {
		return err
	}
	if !isAway {
		return s.changeIdentities(ctx, user, mdb.Doc("$unset", mdb.Doc("away", 1)))
	}
	if err := s.EndAllSessions(ctx, user); err != nil {
		return err
	}
	update := append(mdb.Doc("$set", mdb.Doc("away", true)), bson.E{Key: "$max", Value: mdb.Doc("endedAt", at)})
	return s.changeIdentities(ctx, user, update)
}
