package mongodb

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
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
	return handleDoc{Handle: u.User.Handle, Version: version, User: u.User.ID, PasswordHash: u.PasswordHash}
}

// InsertUser implements social.Users.
func (s *Store) InsertUser(ctx context.Context, u social.NewUser, e social.Event) error {
	return s.write(ctx, "insert user", nil, func(ctx context.Context) error {
		// The handle first: it is what others may want at the same time.
		if _, err := s.handles.InsertOne(ctx, newHandleDoc(&u)); err != nil {
			return inserted(err)
		}
		if _, err := s.users.InsertOne(ctx, newUserDoc(&u.User, s.writes("users"))); err != nil {
			return err
		}
		if _, err := s.circles.InsertOne(ctx, newCircleDoc(&u.Following)); err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// UpdateProfile implements social.Users.
func (s *Store) UpdateProfile(ctx context.Context, user social.UserID, change social.ProfileChange, e social.Event) error {
	profile := doc()
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
	update := doc("$set", profile)
	if len(profile) == 0 {
		update = doc("$setOnInsert", doc("v", s.writes("users"))) // nothing: it only has to be there
	}
	return s.write(ctx, "update profile", []id.ID{user.ID}, func(ctx context.Context) error {
		if err := updateOne(ctx, s.users, doc("_id", user), update); err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// GrantRight implements social.Users.
func (s *Store) GrantRight(ctx context.Context, user social.UserID, right social.Right, e social.Event) (bool, error) {
	return s.changeRight(ctx, user, doc("$addToSet", doc("rights", right)), e)
}

// RevokeRight implements social.Users.
func (s *Store) RevokeRight(ctx context.Context, user social.UserID, right social.Right, e social.Event) (bool, error) {
	return s.changeRight(ctx, user, doc("$pull", doc("rights", right)), e)
}

// UsersWithRights implements social.Users.
func (s *Store) UsersWithRights(ctx context.Context) (users []*social.User, err error) {
	err = s.read(ctx, "users with rights", func(ctx context.Context) error {
		anyRight := doc("rights", doc("$gt", ""))
		docs, err := findAll[userDoc](ctx, s.users, anyRight, usualHolders, options.Find().SetHint(byRights))
		users = each(docs, (*userDoc).user)
		return err
	})
	return users, err
}

// usualHolders is about how many people have rights.
const usualHolders = 100

func (s *Store) changeRight(ctx context.Context, user social.UserID, change bson.D, e social.Event) (changed bool, err error) {
	err = s.write(ctx, "change right", []id.ID{user.ID}, func(ctx context.Context) error {
		result, err := s.users.UpdateOne(ctx, doc("_id", user), change)
		if err != nil {
			return err
		}
		if result.MatchedCount == 0 {
			return social.ErrNotFound
		}
		if changed = result.ModifiedCount > 0; !changed {
			return nil
		}
		return s.append(ctx, e)
	})
	return changed && err == nil, err
}

// updateOne is ErrNotFound where nothing matches.
func updateOne(ctx context.Context, c *mongo.Collection, filter, update bson.D) error {
	result, err := c.UpdateOne(ctx, filter, update)
	if err == nil && result.MatchedCount == 0 {
		return social.ErrNotFound
	}
	return err
}

// Users implements social.Users.
func (s *Store) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	all := make(map[social.UserID]*social.User, len(ids))
	err := s.read(ctx, "users", func(ctx context.Context) error {
		docs, err := findIn[userDoc](ctx, s.users, "_id", ids)
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
	err := s.read(ctx, "users by handle", func(ctx context.Context) error {
		for batch := range slices.Chunk(handles, inBatch) {
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
	if !s.routed {
		return findAll[userDoc](ctx, s.users, doc("handle", doc("$in", handles)), len(handles), options.Find().SetHint(byHandle))
	}
	return aggregateAll[userDoc](ctx, s.handles, bson.A{
		doc("$match", doc("_id", doc("$in", handles))),
		doc("$lookup", doc("from", s.users.Name(), "localField", "user", "foreignField", "_id", "as", "user")),
		doc("$unwind", "$user"),
		doc("$replaceRoot", doc("newRoot", "$user")),
	}, len(handles))
}

// HasUsers implements social.Users.
func (s *Store) HasUsers(ctx context.Context) (has bool, err error) {
	err = s.read(ctx, "any user", func(ctx context.Context) error {
		has, err = hasDocuments(ctx, s.users)
		return err
	})
	return has, err
}

// UsersNamed implements social.Users.
func (s *Store) UsersNamed(ctx context.Context, prefix string, p social.Page) ([]*social.User, error) {
	q := listQuery{
		key: "nameOrder", value: func(k social.Key) any { return string(k) }, hint: byName, page: p,
		bounds: doc("$gte", prefix, "$lt", prefix+"\U0010ffff"), // greater than the runes of all names
	}
	if string(p.Before) > prefix+"\U0010ffff" {
		q.page.Before = ""
	}
	var users []*social.User
	err := s.read(ctx, "users by name", func(ctx context.Context) error {
		docs, err := readList[userDoc](ctx, s.users, q)
		users = each(docs, (*userDoc).user)
		return err
	})
	return users, err
}

// PasswordHash implements social.Users.
func (s *Store) PasswordHash(ctx context.Context, handle string) (social.UserID, string, error) {
	var d handleDoc
	err := s.read(ctx, "password hash", func(ctx context.Context) error {
		return found(s.handles.FindOne(ctx, doc("_id", handle)).Decode(&d))
	})
	return d.User, d.PasswordHash, err
}

// found makes the driver's word for nothing the contract's.
func found(err error) error {
	if errors.Is(err, mongo.ErrNoDocuments) {
		return social.ErrNotFound
	}
	return err
}

// count adds to the counters of one document for each id: ErrNotFound where one is absent.
func count[K comparable](ctx context.Context, c *mongo.Collection, changes map[K]bson.D) error {
	if len(changes) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, 0, len(changes))
	for key, change := range changes {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(doc("_id", key)).SetUpdate(doc("$inc", change)))
	}
	result, err := c.BulkWrite(ctx, models)
	if err == nil && result.MatchedCount < int64(len(changes)) {
		return social.ErrNotFound
	}
	return err
}
