package users

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// identityDoc is a document of identities.
type identityDoc struct {
	Key     bson.Binary   `bson:"_id"`
	Version int           `bson:"v"`
	User    social.UserID `bson:"user,omitempty"`    // absent: the account is deleted
	EndedAt time.Time     `bson:"endedAt,omitempty"` // absent: all tokens are accepted
	Away    bool          `bson:"away,omitempty"`
}

func (d *identityDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Binary(v, &d.Key)
	case "v":
		r.Int(v, &d.Version)
	case "user":
		r.ID(v, &d.User.ID)
	case "endedAt":
		r.Time(v, &d.EndedAt)
	case "away":
		r.Bool(v, &d.Away)
	}
}

func (d *identityDoc) identity() social.Identity {
	return social.Identity{Key: [32]byte(d.Key.Data), User: d.User, EndedAt: d.EndedAt, Away: d.Away}
}

// addIdentity stores whose identity a key is, in a transaction; the zero key is none.
func (s *Store) addIdentity(ctx context.Context, key [32]byte, user social.UserID) error {
	if key == [32]byte{} {
		return nil
	}
	_, err := s.identities.InsertOne(ctx, identityDoc{Key: mdb.HashKey(key), Version: mdb.FirstVersion, User: user})
	if err = mdb.OrTaken(err); errors.Is(err, social.ErrTaken) {
		return social.ErrIdentityKnown
	}
	return err
}

// Identities implements social.Identities.
func (s *Store) Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]social.Identity, error) {
	found := make(map[[32]byte]social.Identity, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	err := s.db.ReadAcknowledged(ctx, "identities", func(ctx context.Context) error {
		docs, err := mdb.FindIn[identityDoc](ctx, s.acknowledgedIdentities, "_id", mdb.Map(keys, func(key *[32]byte) bson.Binary { return mdb.HashKey(*key) }))
		for i := range docs {
			identity := docs[i].identity()
			found[identity.Key] = identity
		}
		return err
	})
	return found, err
}

// EndIdentities implements social.Identities.
func (s *Store) EndIdentities(ctx context.Context, user social.UserID, issuedUpTo time.Time) error {
	return s.db.Write(ctx, "end identities", nil, func(ctx context.Context) error {
		return s.changeIdentities(ctx, user, mdb.Doc("$max", mdb.Doc("endedAt", issuedUpTo)))
	})
}

// abandonIdentities reduces a deleted user's identities to their keys, in a transaction.
func (s *Store) abandonIdentities(ctx context.Context, user social.UserID) error {
	return s.changeIdentities(ctx, user, mdb.Doc("$unset", mdb.Doc("user", 1, "endedAt", 1, "away", 1)))
}

// changeIdentities ends the tokens of a user's identities by an update, in a transaction.
func (s *Store) changeIdentities(ctx context.Context, user social.UserID, update bson.D) error {
	docs, err := mdb.FindAll[identityDoc](ctx, s.identities, mdb.Doc("user", user), 1, options.Find().SetHint(byUser))
	if err != nil || len(docs) == 0 {
		return err
	}
	keys := mdb.Map(docs, func(d *identityDoc) bson.Binary { return d.Key })
	if _, err := s.identities.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", keys)), update); err != nil {
		return err
	}
	ended := mdb.Map(docs, func(d *identityDoc) [32]byte { return [32]byte(d.Key.Data) })
	events := mdb.Map(ended, func(key *[32]byte) social.Event { return social.NewSessionEnded(user, *key) })
	return s.log.AppendWith(ctx, social.SessionsEnded(ended...), events...)
}

// ReadmitIdentity implements social.Identities.
func (s *Store) ReadmitIdentity(ctx context.Context, key [32]byte) error {
	return s.db.Write(ctx, "readmit identity", nil, func(ctx context.Context) error {
		if err := mdb.DeleteOne(ctx, s.identities, mdb.Doc("_id", mdb.HashKey(key), "user", nil)); err != nil {
			return err
		}
		return s.log.Note(ctx, social.SessionsEnded(key))
	})
}
