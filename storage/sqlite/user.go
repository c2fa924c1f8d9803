package sqlite

import (
	"context"
	"encoding/json"
	"slices"

	"plaza/social"
)

const userColumns = `id, handle, name, bio, avatar_url, wall_policy, followers_count, following_count, rights`

var (
	insertUser = define(`INSERT INTO users (id, handle, name, bio, avatar_url, wall_policy, password_hash)
		VALUES (?, ?, ?, ?, ?, ?, ?)`)
	updateProfile = define(`UPDATE users SET name = coalesce(?, name), bio = coalesce(?, bio),
		avatar_url = coalesce(?, avatar_url), wall_policy = coalesce(?, wall_policy) WHERE id = ?`)
	usersByID      = define(`SELECT ` + userColumns + ` FROM users WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	usersByHandle  = define(`SELECT ` + userColumns + ` FROM users WHERE handle IN (SELECT value FROM json_each(?))`)
	userExists     = define(`SELECT 1 FROM users WHERE id = ?`)
	passwordHash   = define(`SELECT id, password_hash FROM users WHERE handle = ?`)
	setRights      = define(`UPDATE users SET rights = ? WHERE id = ?`)
	countFollowers = define(`UPDATE users SET followers_count = followers_count + ? WHERE id = ?`)
	countFollowing = define(`UPDATE users SET following_count = following_count + ? WHERE id = ?`)
)

// InsertUser implements social.Users.
func (s *Store) InsertUser(ctx context.Context, u social.NewUser, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		if err := w.insertUser(u); err != nil {
			return err
		}
		return w.append(e)
	})
}

func (w *work) insertUser(u social.NewUser) error {
	p := u.User
	_, err := w.exec(insertUser, p.ID.Bytes(), p.Handle, p.Name, p.Bio, p.AvatarURL, string(p.WallPolicy), u.PasswordHash)
	if err != nil {
		return taken(err)
	}
	return w.insertCircle(&u.Following)
}

// UpdateProfile implements social.Users.
func (s *Store) UpdateProfile(ctx context.Context, id social.UserID, change social.ProfileChange, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(updateProfile, change.Name, change.Bio, change.AvatarURL, (*string)(change.WallPolicy), id.Bytes())
		if err := changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return w.append(e)
	})
}

// noRights is the column of those who have none.
const noRights = "[]"

// SetRight implements social.Users.
func (s *Store) SetRight(ctx context.Context, id social.UserID, right social.Right, has bool, e social.Event) (changed bool, err error) {
	err = s.update(ctx, func(w *work) error {
		users, err := all(w, usersByID, scanUser, hexList([]social.UserID{id}))
		if err != nil {
			return err
		}
		if len(users) == 0 {
			return social.ErrNotFound
		}
		if changed = users[0].Has(right) != has; !changed {
			return nil
		}
		rights := slices.DeleteFunc(users[0].Rights, func(r social.Right) bool { return r == right })
		if has {
			rights = append(rights, right)
		}
		slices.Sort(rights)
		if _, err := w.exec(setRights, asJSON(append([]social.Right{}, rights...)), id.Bytes()); err != nil {
			return err
		}
		return w.append(e)
	})
	return changed && err == nil, err
}

// Users implements social.Users.
func (s *Store) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	return read(ctx, s, func(w *work) (map[social.UserID]*social.User, error) {
		return byKey(w, usersByID, func(scan scan) (social.UserID, *social.User, error) {
			u, err := scanUser(scan)
			return u.ID, u, err
		}, hexList(ids))
	})
}

// UsersByHandle implements social.Users.
func (s *Store) UsersByHandle(ctx context.Context, handles []string) (map[string]*social.User, error) {
	list, err := json.Marshal(append([]string{}, handles...)) // never null
	if err != nil {
		return nil, err
	}
	return read(ctx, s, func(w *work) (map[string]*social.User, error) {
		return byKey(w, usersByHandle, func(scan scan) (string, *social.User, error) {
			u, err := scanUser(scan)
			return u.Handle, u, err
		}, string(list))
	})
}

func scanUser(scan scan) (*social.User, error) {
	u, rights := &social.User{}, ""
	err := scan(into(&u.ID.ID), &u.Handle, &u.Name, &u.Bio, &u.AvatarURL, &u.WallPolicy, &u.FollowersCount, &u.FollowingCount, &rights)
	if err == nil && rights != noRights {
		err = json.Unmarshal([]byte(rights), &u.Rights)
	}
	return u, err
}

// PasswordHash implements social.Users.
func (s *Store) PasswordHash(ctx context.Context, handle string) (user social.UserID, hash string, err error) {
	err = s.view(ctx, func(w *work) error {
		return known(w.row(passwordHash, []any{into(&user.ID), &hash}, handle))
	})
	return user, hash, err
}

// requireUser is social.ErrNotFound where nobody has the id.
func (w *work) requireUser(user social.UserID) error {
	return known(w.exists(userExists, user.Bytes()))
}
