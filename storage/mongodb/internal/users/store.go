package users

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/eventlog"
	"plaza/storage/mongodb/internal/mdb"
)

// Config is what users need from the rest of the engine.
type Config struct {
	Database *mongo.Database
	DB       *mdb.DB
	Log      *eventlog.Log
	Writes   func(collection string) int // the version in which documents are written now
	Routed   func() bool                 // whether the database may be sharded
	// AddCircles stores the first circles of new users, in their transaction.
	AddCircles func(ctx context.Context, circles []*social.Circle) error
	Deletion   Deletion
	// MarkAway records whether a user is away, in the transaction of what makes it so.
	MarkAway func(ctx context.Context, user social.UserID, isAway bool) error
}

// Deletion removes what belonged to users who delete their accounts.
type Deletion interface {
	// Begin is called inside the transaction that deletes a user.
	Begin(ctx context.Context, user social.UserID) error
	// IsUnderWay reports whether something may be left to remove.
	IsUnderWay(ctx context.Context, user social.UserID) (bool, error)
}

// Store implements social.Accounts on a database.
type Store struct {
	db         *mdb.DB
	log        *eventlog.Log
	writes     func(collection string) int
	routed     func() bool
	addCircles func(ctx context.Context, circles []*social.Circle) error
	deletion   Deletion
	markAway   func(ctx context.Context, user social.UserID, isAway bool) error

	users    *mongo.Collection
	handles  *mongo.Collection
	sessions *mongo.Collection

	identities *mongo.Collection

	emails, mailTokens, mails, leftHandles *mongo.Collection

	invitations, inviters *mongo.Collection

	// users, sessions and identities, for DB.ReadAcknowledged
	acknowledged, acknowledgedSessions, acknowledgedIdentities *mongo.Collection
}

var _ social.Accounts = (*Store)(nil)

// New returns the store for the users of a database.
func New(c Config) *Store {
	return &Store{
		db: c.DB, log: c.Log, writes: c.Writes, routed: c.Routed, addCircles: c.AddCircles, deletion: c.Deletion, markAway: c.MarkAway,
		users: c.Database.Collection("users"), handles: c.Database.Collection("handles"), sessions: c.Database.Collection("sessions"),
		identities: c.Database.Collection("identities"),
		emails:     c.Database.Collection("emails"), mailTokens: c.Database.Collection("mailTokens"), mails: c.Database.Collection("mails"),
		leftHandles: c.Database.Collection("leftHandles"),
		invitations: c.Database.Collection("invitations"), inviters: c.Database.Collection("inviters"),
		acknowledged: mdb.Acknowledged(c.Database, "users"), acknowledgedSessions: mdb.Acknowledged(c.Database, "sessions"),
		acknowledgedIdentities: mdb.Acknowledged(c.Database, "identities"),
	}
}

// Collection returns the collection of users.
func (s *Store) Collection() *mongo.Collection { return s.users }

// Exists returns ErrNotFound if there is no such user.
func (s *Store) Exists(ctx context.Context, user social.UserID) error {
	return mdb.OrNotFound(s.users.FindOne(ctx, mdb.Doc("_id", user), options.FindOne().SetProjection(mdb.Doc("_id", 1))).Err())
}

// mustHaveAccount returns ErrAccountGone if there is no such user.
func (s *Store) mustHaveAccount(ctx context.Context, user social.UserID) error {
	return mdb.OrGone(s.Exists(ctx, user))
}

// FollowersCount reads how many followers a user has. ErrNotFound.
func (s *Store) FollowersCount(ctx context.Context, user social.UserID) (int, error) {
	var d Document
	few := options.FindOne().SetProjection(mdb.Doc("followers", 1))
	err := mdb.OrNotFound(s.users.FindOne(ctx, mdb.Doc("_id", user), few).Decode(&d))
	return d.Followers, err
}

// The indexes that queries name as hints.
const (
	byHandle = "handle"
	byName   = "nameOrder"
	byRights = "rights"
	byUser   = "user"
	byKey    = "key"
	byDue    = "due"

	byInviter = "inviter"
)

// Indexes returns the declared indexes of each collection.
func (s *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		s.users: {
			mdb.Index(byHandle, mdb.Doc("handle", 1)),
			mdb.IndexHaving("nameOrder", byName, mdb.Doc("nameOrder", 1)),
			mdb.IndexHaving("rights", byRights, mdb.Doc("rights", 1)),
		},
		s.handles:  nil, // _id is the handle: unique also when users are sharded by id
		s.sessions: {mdb.ExpiringIndex("expiresAt", 0), mdb.Index(byUser, mdb.Doc("user", 1))},

		s.identities: {mdb.IndexHaving("user", byUser, mdb.Doc("user", 1))},

		s.leftHandles: {mdb.ExpiringIndex("expiresAt", 0)},
		s.emails:      {mdb.IndexHaving("key", byKey, mdb.Doc("key", 1, "_id", 1))},
		s.mailTokens:  {mdb.ExpiringIndex("expiresAt", 0), mdb.Index(byUser, mdb.Doc("user", 1, "kind", 1))},
		s.invitations: {mdb.ExpiringIndex("expiresAt", 0), mdb.Index(byInviter, mdb.Doc("inviter", 1, "expiresAt", 1))},
		s.inviters:    nil,
		s.mails:       {mdb.ExpiringIndex("expiresAt", 0), mdb.Index(byDue, mdb.Doc("due", 1)), mdb.IndexHaving("user", byUser, mdb.Doc("user", 1))},
	}
}

// ShardKeys returns the shard keys of the collections.
func ShardKeys() map[string]bson.D {
	own := mdb.Doc("_id", "hashed")
	return map[string]bson.D{
		"users": own, "handles": own /* the handle */, "sessions": own, "identities": own,
		"invitations": own, "inviters": own,
		"leftHandles": own, "emails": own, "mailTokens": own, "mails": nil, /* empty most of the time, and taken by the time at which they are due */
	}
}
