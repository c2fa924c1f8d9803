package users

import (
	"context"
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// InsertUser implements social.Users.
func (s *Store) InsertUser(ctx context.Context, u social.NewUser, e social.Event) error {
	var hot []id.ID
	if !u.Invitation.IsZero() {
		hot = []id.ID{u.Invitation.ID} // many may use the same one
	}
	return s.db.Write(ctx, "insert user", hot, func(ctx context.Context) error {
		if err := s.addIdentity(ctx, u.Identity, u.User.ID); err != nil {
			return err
		}
		if err := s.useInvitation(ctx, &u); err != nil {
			return err
		}
		if err := s.refuseKept(ctx, u); err != nil {
			return err
		}
		if err := s.insertAll(ctx, []social.NewUser{u}); err != nil {
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
		update = mdb.Doc("$setOnInsert", mdb.Doc("v", s.writes("users"))) // changes nothing: the document only has to exist
	}
	return s.db.Write(ctx, "update profile", []id.ID{user.ID}, func(ctx context.Context) error {
		if err := mdb.UpdateOne(ctx, s.users, mdb.Doc("_id", user), update); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.UsersChanged(user), e)
	})
}

// insertAll stores users, their handles and their first circles.
func (s *Store) insertAll(ctx context.Context, users []social.NewUser) error {
	// The handles come first, because other sign-ups may take them concurrently.
	if _, err := s.handles.InsertMany(ctx, mdb.Map(users, newHandleDoc), unordered); err != nil {
		return mdb.OrTaken(err)
	}
	accounts := mdb.Map(users, func(u *social.NewUser) Document { return newDocument(&u.User, s.writes("users")) })
	if _, err := s.users.InsertMany(ctx, accounts, unordered); err != nil {
		return mdb.OrTaken(err)
	}
	return s.addCircles(ctx, mdb.Map(users, func(u *social.NewUser) *social.Circle { return &u.Following }))
}

var unordered = options.InsertMany().SetOrdered(false)

// Import stores those of the users whose ids neither exist nor belong to deleted accounts, with
// everything that InsertUser stores, and returns how many it has stored. It is a part of a
// transaction.
func (s *Store) Import(ctx context.Context, users []social.NewUser, gone map[social.UserID]bool) (added int, err error) {
	known, err := mdb.Existing(ctx, s.users, mdb.Map(users, func(u *social.NewUser) social.UserID { return u.User.ID }))
	if err != nil {
		return 0, err
	}
	maps.Copy(known, gone)
	var fresh []social.NewUser
	for i := range users {
		if u := &users[i]; !known[u.User.ID] {
			known[u.User.ID] = true
			fresh = append(fresh, *u)
		}
	}
	if len(fresh) == 0 {
		return 0, nil
	}
	return len(fresh), s.insertAll(ctx, fresh)
}

// DeleteUser implements social.Users.
func (s *Store) DeleteUser(ctx context.Context, user social.UserID, e social.Event) error {
	return s.db.Write(ctx, "delete user", []id.ID{user.ID}, func(ctx context.Context) error {
		var d Document
		if err := mdb.OrNotFound(s.users.FindOneAndDelete(ctx, mdb.Doc("_id", user)).Decode(&d)); err != nil {
			return err
		}
		if _, err := s.handles.DeleteOne(ctx, mdb.Doc("_id", d.Handle, "user", user)); err != nil {
			return err
		}
		if err := s.leaveHandle(ctx, d.Handle); err != nil {
			return err
		}
		if err := s.EndAllSessions(ctx, user); err != nil {
			return err
		}
		if err := s.abandonIdentities(ctx, user); err != nil {
			return err
		}
		if err := s.ForgetEmail(ctx, user); err != nil {
			return err
		}
		if err := s.ForgetInvitations(ctx, user); err != nil {
			return err
		}
		if err := s.deletion.Begin(ctx, user); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.AroundChanged(user), e)
	})
}

// IsDeleting implements social.Users.
func (s *Store) IsDeleting(ctx context.Context, user social.UserID) (deleting bool, err error) {
	return s.deletion.IsUnderWay(ctx, user)
}
