package mongodb

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/social"
)

// userDoc is a document of users.
type userDoc struct {
	ID         social.UserID     `bson:"_id"`
	Version    int               `bson:"v"`
	Handle     string            `bson:"handle"`
	Name       string            `bson:"name"`
	Bio        string            `bson:"bio,omitempty"`
	AvatarURL  string            `bson:"avatarUrl,omitempty"`
	WallPolicy social.WallPolicy `bson:"wallPolicy"`
	Rights     []social.Right    `bson:"rights,omitempty"`
	Followers  int               `bson:"followers"`
	Following  int               `bson:"following"`
}

// handleDoc is a document of handles: it makes them unique, and keeps the hash away from ordinary reads.
type handleDoc struct {
	Handle       string        `bson:"_id"`
	Version      int           `bson:"v"`
	User         social.UserID `bson:"user"`
	PasswordHash string        `bson:"passwordHash"`
}

func newUserDoc(u *social.User) userDoc {
	return userDoc{
		ID: u.ID, Version: version, Handle: u.Handle, Name: u.Name, Bio: u.Bio, AvatarURL: u.AvatarURL,
		WallPolicy: u.WallPolicy, Rights: u.Rights, Followers: u.FollowersCount, Following: u.FollowingCount,
	}
}

func (d *userDoc) user() *social.User {
	return &social.User{
		ID: d.ID, Handle: d.Handle, Name: d.Name, Bio: d.Bio, AvatarURL: d.AvatarURL,
		WallPolicy: d.WallPolicy, Rights: d.Rights, FollowersCount: d.Followers, FollowingCount: d.Following,
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
		if _, err := s.users.InsertOne(ctx, newUserDoc(&u.User)); err != nil {
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
	profile := doc("v", version)
	for name, value := range map[string]*string{
		"name": change.Name, "bio": change.Bio, "avatarUrl": change.AvatarURL, "wallPolicy": (*string)(change.WallPolicy),
	} {
		if value != nil {
			profile = append(profile, bson.E{Key: name, Value: *value})
		}
	}
	return s.write(ctx, "update profile", []id.ID{user.ID}, func(ctx context.Context) error {
		if err := updateOne(ctx, s.users, doc("_id", user), doc("$set", profile)); err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// SetRight implements social.Users.
func (s *Store) SetRight(ctx context.Context, user social.UserID, right social.Right, has bool, e social.Event) (changed bool, err error) {
	err = s.write(ctx, "set right", []id.ID{user.ID}, func(ctx context.Context) error {
		changed = false
		var d userDoc
		if err := found(s.users.FindOne(ctx, doc("_id", user)).Decode(&d)); err != nil {
			return err
		}
		if slices.Contains(d.Rights, right) == has {
			return nil
		}
		update := doc("$pull", doc("rights", right))
		if has {
			update = doc("$push", doc("rights", doc("$each", []social.Right{right}, "$sort", 1)))
		}
		if err := updateOne(ctx, s.users, doc("_id", user), update); err != nil {
			return err
		}
		changed = true
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
		docs, err := findIn[userDoc](ctx, s.users, "handle", handles)
		for i := range docs {
			all[docs[i].Handle] = docs[i].user()
		}
		return err
	})
	return all, err
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
