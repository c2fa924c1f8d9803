package users

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// sessionDoc is a document of sessions. MongoDB removes it some time after it expired, so readers
// compare the time.
type sessionDoc struct {
	TokenHash bson.Binary   `bson:"_id"`
	Version   int           `bson:"v"`
	User      social.UserID `bson:"user"`
	ExpiresAt time.Time     `bson:"expiresAt"`
	CreatedAt time.Time     `bson:"createdAt,omitempty"` // absent: unknown
	UsedAt    time.Time     `bson:"usedAt,omitempty"`    // absent: never or unknown
	Grant     *grantDoc     `bson:"grant,omitempty"`     // absent: a sign-in
}

// grantDoc is the part of a session that an access token has.
type grantDoc struct { // converts to social.Grant
	Name   string         `bson:"name"`
	Scopes []social.Scope `bson:"scopes"`
}

func (d *sessionDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Binary(v, &d.TokenHash)
	case "v":
		r.Int(v, &d.Version)
	case "user":
		r.ID(v, &d.User.ID)
	case "expiresAt":
		r.Time(v, &d.ExpiresAt)
	case "createdAt":
		r.Time(v, &d.CreatedAt)
	case "usedAt":
		r.Time(v, &d.UsedAt)
	case "grant":
		d.Grant = &grantDoc{}
		r.Inner(v, d.Grant)
	}
}

func (d *grantDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "name":
		r.Text(v, &d.Name)
	case "scopes":
		mdb.ReadArray(r, v, &d.Scopes, mdb.ReadText)
	}
}

func newSessionDoc(s social.Session) sessionDoc {
	return sessionDoc{
		TokenHash: mdb.HashKey(s.TokenHash), Version: mdb.FirstVersion, User: s.User,
		ExpiresAt: s.ExpiresAt, CreatedAt: s.CreatedAt, UsedAt: s.UsedAt, Grant: (*grantDoc)(s.Grant),
	}
}

func (d *sessionDoc) session() social.Session {
	return social.Session{
		TokenHash: [32]byte(d.TokenHash.Data), User: d.User,
		ExpiresAt: d.ExpiresAt, CreatedAt: d.CreatedAt, UsedAt: d.UsedAt, Grant: (*social.Grant)(d.Grant),
	}
}

// InsertSession implements social.Sessions.
func (s *Store) InsertSession(ctx context.Context, session social.Session) error {
	return s.db.Read(ctx, "insert session", func(ctx context.Context) error {
		_, err := s.sessions.InsertOne(ctx, newSessionDoc(session))
		return mdb.OrTaken(err)
	})
}

// InsertAccessToken implements social.Sessions. Taking a serial, which it does not use, makes
// concurrent calls conflict.
func (s *Store) InsertAccessToken(ctx context.Context, token social.Session, maximum int) error {
	return s.db.Write(ctx, "insert access token", []id.ID{token.User.ID}, func(ctx context.Context) error {
		if _, err := serials.Next(ctx, s.users, token.User, 0, 1, false); err != nil {
			return mdb.OrGone(err)
		}
		valid := mdb.Doc("user", token.User, "grant", mdb.Doc("$exists", true), "expiresAt", mdb.Doc("$gt", token.CreatedAt))
		if err := mdb.MustHaveRoom(ctx, s.sessions, valid, byUser, maximum); err != nil {
			return err
		}
		_, err := s.sessions.InsertOne(ctx, newSessionDoc(token))
		return mdb.OrTaken(err)
	})
}

// UseSession implements social.Sessions.
func (s *Store) UseSession(ctx context.Context, tokenHash [32]byte, at, expires time.Time) error {
	return s.db.Write(ctx, "use session", nil, func(ctx context.Context) error {
		result, err := s.sessions.UpdateOne(ctx, mdb.Doc("_id", mdb.HashKey(tokenHash)), mdb.Doc("$set", mdb.Doc("usedAt", at, "expiresAt", expires)))
		if err != nil || result.MatchedCount == 0 {
			return err
		}
		return s.log.Note(ctx, social.Change{Sessions: [][32]byte{tokenHash}})
	})
}

// Session implements social.Sessions.
func (s *Store) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	var d sessionDoc
	err := s.db.ReadAcknowledged(ctx, "session", func(ctx context.Context) error {
		// Only the _id, because MongoDB then reads the document without planning a query.
		raw, err := s.acknowledgedSessions.FindOne(ctx, mdb.Doc("_id", mdb.HashKey(tokenHash))).Raw()
		if err != nil {
			return mdb.OrNotFound(err)
		}
		if err := mdb.ReadDocument(raw, &d); err != nil {
			return err
		}
		if !d.ExpiresAt.After(now) {
			return social.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return social.Session{}, err
	}
	return d.session(), nil
}

// LiveSessions implements social.Sessions.
func (s *Store) LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error) {
	var live [][32]byte
	err := s.db.Read(ctx, "live sessions", func(ctx context.Context) error {
		docs, err := mdb.FindIn[sessionDoc](ctx, s.sessions, "_id", mdb.Map(tokenHashes, func(hash *[32]byte) bson.Binary { return mdb.HashKey(*hash) }))
		if err != nil {
			return err
		}
		live = live[:0]
		for i := range docs {
			if docs[i].ExpiresAt.After(now) {
				live = append(live, [32]byte(docs[i].TokenHash.Data))
			}
		}
		return nil
	})
	return live, err
}

// SessionsOf implements social.Sessions.
func (s *Store) SessionsOf(ctx context.Context, user social.UserID, now time.Time) ([]social.Session, error) {
	var found []social.Session
	err := s.db.Read(ctx, "sessions of a user", func(ctx context.Context) error {
		docs, err := mdb.FindAll[sessionDoc](ctx, s.sessions, mdb.Doc("user", user), mdb.InBatch, options.Find().SetHint(byUser))
		found = found[:0]
		for i := range docs {
			if docs[i].ExpiresAt.After(now) {
				found = append(found, docs[i].session())
			}
		}
		return err
	})
	return found, err
}

// DeleteSession implements social.Sessions. If the session is already gone, it stores no event.
func (s *Store) DeleteSession(ctx context.Context, tokenHash [32]byte, e social.Event) error {
	return s.db.Write(ctx, "delete session", nil, func(ctx context.Context) error {
		result, err := s.sessions.DeleteOne(ctx, mdb.Doc("_id", mdb.HashKey(tokenHash)))
		if err != nil || result.DeletedCount == 0 {
			return err
		}
		return s.log.AppendWith(ctx, social.SessionsEnded(tokenHash), e)
	})
}

// EndSessions implements social.Sessions. Two calls that keep different sessions conflict, because
// each takes a serial.
func (s *Store) EndSessions(ctx context.Context, user social.UserID, keep [32]byte, which social.SessionKinds) error {
	return s.db.Write(ctx, "end sessions", []id.ID{user.ID}, func(ctx context.Context) error {
		if keep != [32]byte{} {
			if _, err := serials.Next(ctx, s.users, user, 0, 1, false); err != nil {
				return err
			}
			if err := mdb.OrNotFound(s.sessions.FindOne(ctx, mdb.Doc("_id", mdb.HashKey(keep))).Err()); err != nil {
				return err
			}
		}
		return s.endSessions(ctx, user, keep, which)
	})
}

func (s *Store) endSessions(ctx context.Context, user social.UserID, keep [32]byte, which social.SessionKinds) error {
	sessions, err := mdb.FindAll[sessionDoc](ctx, s.sessions, mdb.Doc("user", user), mdb.InBatch, options.Find().SetHint(byUser))
	sessions = slices.DeleteFunc(sessions, func(d sessionDoc) bool {
		return bytes.Equal(d.TokenHash.Data, keep[:]) || which == social.SignIns && d.Grant != nil
	})
	if err != nil || len(sessions) == 0 {
		return err
	}
	ended := mdb.Map(sessions, func(d *sessionDoc) [32]byte { return [32]byte(d.TokenHash.Data) })
	events := mdb.Map(ended, func(token *[32]byte) social.Event { return social.NewSessionEnded(user, *token) })
	tokens := mdb.Map(sessions, func(d *sessionDoc) bson.Binary { return d.TokenHash })
	if _, err := s.sessions.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", tokens))); err != nil {
		return err
	}
	return s.log.AppendWith(ctx, social.SessionsEnded(ended...), events...)
}

// EndAllSessions ends all of a user's sessions, in a transaction.
func (s *Store) EndAllSessions(ctx context.Context, user social.UserID) error {
	return s.endSessions(ctx, user, [32]byte{}, social.AllSessions)
}
