package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// userDoc is a document of users.
type userDoc struct {
	ID         social.UserID     `bson:"_id"`
	Version    int               `bson:"v"`
	Handle     string            `bson:"handle"`
	Name       string            `bson:"name"`
	NameOrder  string            `bson:"nameOrder"` // social.NameOrder; since version 2
	Bio        string            `bson:"bio,omitempty"`
	AvatarURL  string            `bson:"avatarUrl,omitempty"`
	WallPolicy social.WallPolicy `bson:"wallPolicy"`
	Followers  int               `bson:"followers"`
	Following  int               `bson:"following"`
	Rights     []social.Right    `bson:"rights,omitempty"`
}

func (d *userDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "handle":
		r.Text(v, &d.Handle)
	case "name":
		r.Text(v, &d.Name)
	case "nameOrder":
		r.Text(v, &d.NameOrder)
	case "bio":
		r.Text(v, &d.Bio)
	case "avatarUrl":
		r.Text(v, &d.AvatarURL)
	case "wallPolicy":
		mdb.ReadText(r, v, &d.WallPolicy)
	case "followers":
		r.Int(v, &d.Followers)
	case "following":
		r.Int(v, &d.Following)
	case "rights":
		mdb.ReadArray(r, v, &d.Rights, mdb.ReadText[social.Right])
	}
}

func (d *userDoc) Evolve() error {
	if d.Version < 2 {
		d.NameOrder = social.NameOrder(d.Name, d.ID)
	}
	err := known("users", d.Version)
	d.Version = usersVersion
	return err
}

// handleDoc is a document of handles: it makes them unique, and keeps the hash away from ordinary reads.
type handleDoc struct {
	Handle       string        `bson:"_id"`
	Version      int           `bson:"v"`
	User         social.UserID `bson:"user"`
	PasswordHash string        `bson:"passwordHash"`
}

func newUserDoc(u *social.User, v int) userDoc {
	return userDoc{
		ID: u.ID, Version: v, Handle: u.Handle, Name: u.Name, NameOrder: social.NameOrder(u.Name, u.ID), Bio: u.Bio, AvatarURL: u.AvatarURL,
		WallPolicy: u.WallPolicy, Followers: u.FollowersCount, Following: u.FollowingCount, Rights: u.Rights,
	}
}

func (d *userDoc) user() *social.User {
	return &social.User{
		ID: d.ID, Handle: d.Handle, Name: d.Name, Bio: d.Bio, AvatarURL: d.AvatarURL,
		WallPolicy: d.WallPolicy, FollowersCount: d.Followers, FollowingCount: d.Following, Rights: d.Rights,
	}
}

func newHandleDoc(u *social.NewUser) handleDoc {
	return handleDoc{Handle: u.User.Handle, Version: mdb.FirstVersion, User: u.User.ID, PasswordHash: u.PasswordHash}
}

// InsertUser implements social.Users.
func (s *Store) InsertUser(ctx context.Context, u social.NewUser, e social.Event) error {
	return s.db.Write(ctx, "insert user", nil, func(ctx context.Context) error {
		// The handle first: it is what others may want at the same time.
		if _, err := s.handles.InsertOne(ctx, newHandleDoc(&u)); err != nil {
			return mdb.OrTaken(err)
		}
		if _, err := s.users.InsertOne(ctx, newUserDoc(&u.User, s.writes("users"))); err != nil {
			return err
		}
		if _, err := s.circles.InsertOne(ctx, newCircleDoc(&u.Following)); err != nil {
			return err
		}
		return s.log.Append(ctx, e)
	})
}

// UpdateProfile implements social.Users.
func (s *Store) UpdateProfile(ctx context.Context, user social.UserID, change social.ProfileChange, e social.Event) error {
	profile := mdb.Doc()
	for name, value := range map[string]*string{
		"name": change.Name, "bio": change.Bio, "avatarUrl": change.AvatarURL, "wallPolicy": (*string)(change.WallPolicy),
	} {
		if value != nil {
			profile = append(profile, bson.E{Key: name, Value: *value})
		}
	}
	if change.Name != nil {
		profile = append(profile, bson.E{Key: "nameOrder", Value: social.NameOrder(*change.Name, user)})
	}
	update := mdb.Doc("$set", profile)
	if len(profile) == 0 {
		update = mdb.Doc("$setOnInsert", mdb.Doc("v", s.writes("users"))) // nothing: it only has to be there
	}
	return s.db.Write(ctx, "update profile", []id.ID{user.ID}, func(ctx context.Context) error {
		if err := mdb.UpdateOne(ctx, s.users, mdb.Doc("_id", user), update); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.UsersChanged(user), e)
	})
}

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
		docs, err := mdb.FindAll[userDoc](ctx, s.users, anyRight, usualHolders, options.Find().SetHint(byRights))
		users = mdb.Map(docs, (*userDoc).user)
		return err
	})
	return users, err
}

// usualHolders is about how many people have rights.
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

// Users implements social.Users.
func (s *Store) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	all := make(map[social.UserID]*social.User, len(ids))
	err := s.db.ReadAcknowledged(ctx, "users", func(ctx context.Context) error {
		docs, err := mdb.FindIn[userDoc](ctx, s.acknowledged.users, "_id", ids)
		for i := range docs {
			all[docs[i].ID] = docs[i].user()
		}
		return err
	})
	return all, err
}

// UsersByHandle implements social.Users.
func (s *Store) UsersByHandle(ctx context.Context, handles []string) (map[string]*social.User, error) {
	all := make(map[string]*social.User, len(handles))
	err := s.db.Read(ctx, "users by handle", func(ctx context.Context) error {
		for batch := range slices.Chunk(handles, mdb.InBatch) {
			docs, err := s.usersNamed(ctx, batch)
			if err != nil {
				return err
			}
			for i := range docs {
				all[docs[i].Handle] = docs[i].user()
			}
		}
		return nil
	})
	return all, err
}

// usersNamed reads users by an index, or, on a sharded cluster, where a handle does not tell on which shard its user lies, through
// their handles' documents: that costs a single server more than twice as much.
func (s *Store) usersNamed(ctx context.Context, handles []string) ([]userDoc, error) {
	if !s.member.Routed {
		return mdb.FindAll[userDoc](ctx, s.users, mdb.Doc("handle", mdb.Doc("$in", handles)), len(handles), options.Find().SetHint(byHandle))
	}
	return mdb.AggregateAll[userDoc](ctx, s.handles, bson.A{
		mdb.Doc("$match", mdb.Doc("_id", mdb.Doc("$in", handles))),
		mdb.Doc("$lookup", mdb.Doc("from", s.users.Name(), "localField", "user", "foreignField", "_id", "as", "user")),
		mdb.Doc("$unwind", "$user"),
		mdb.Doc("$replaceRoot", mdb.Doc("newRoot", "$user")),
	}, len(handles))
}

// HasUsers implements social.Users.
func (s *Store) HasUsers(ctx context.Context) (has bool, err error) {
	err = s.db.Read(ctx, "any user", func(ctx context.Context) error {
		has, err = mdb.HasDocuments(ctx, s.users)
		return err
	})
	return has, err
}

// UsersNamed implements social.Users.
func (s *Store) UsersNamed(ctx context.Context, prefix string, p social.Page) ([]*social.User, error) {
	q := mdb.ListQuery{
		Key: "nameOrder", Value: func(k social.Key) any { return string(k) }, Hint: byName, Page: p,
		Bounds: mdb.Doc("$gte", prefix, "$lt", prefix+"\U0010ffff"), // greater than the runes of all names
	}
	if string(p.Before) > prefix+"\U0010ffff" {
		q.Page.Before = ""
	}
	var users []*social.User
	err := s.db.Read(ctx, "users by name", func(ctx context.Context) error {
		docs, err := mdb.ReadList[userDoc](ctx, s.users, q)
		users = mdb.Map(docs, (*userDoc).user)
		return err
	})
	return users, err
}

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
		return s.endSessions(ctx, c.User, c.Keep, social.AllSessions)
	})
}
