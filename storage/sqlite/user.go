package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"plaza/social"
)

const userColumns = `id, handle, name, bio, avatar_url, wall_policy, followers_count, following_count, rights`

var (
	insertUser = define(`INSERT INTO users (id, handle, name, bio, avatar_url, wall_policy, password_hash, rights, name_order)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	updateProfile = define(`UPDATE users SET name = coalesce(?, name), name_order = coalesce(?, name_order), bio = coalesce(?, bio),
		avatar_url = coalesce(?, avatar_url), wall_policy = coalesce(?, wall_policy) WHERE id = ?`)
	rightsOf       = define(`SELECT rights FROM users WHERE id = ?`)
	setRights      = define(`UPDATE users SET rights = ? WHERE id = ?`)
	withRights     = define(`SELECT ` + userColumns + ` FROM users INDEXED BY users_with_rights WHERE rights <> '' AND rights > ''`)
	usersByID      = define(`SELECT ` + userColumns + ` FROM users WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	usersByHandle  = define(`SELECT ` + userColumns + ` FROM users WHERE handle IN (SELECT value FROM json_each(?))`)
	usersNamed     = defineDirected(`SELECT ` + userColumns + ` FROM users WHERE name_order > ? AND name_order < ? ORDER BY name_order $order LIMIT ?`)
	userExists     = define(`SELECT 1 FROM users WHERE id = ?`)
	anyUser        = define(`SELECT EXISTS (SELECT 1 FROM users WHERE name_order > '')`)
	passwordHash   = define(`SELECT id, password_hash FROM users WHERE handle = ?`)
	setPassword    = define(`UPDATE users SET password_hash = ? WHERE id = ? AND handle = ? AND password_hash = ?`)
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
	_, err := w.exec(insertUser, p.ID.Bytes(), p.Handle, p.Name, p.Bio, p.AvatarURL, string(p.WallPolicy), u.PasswordHash, joinRights(p.Rights), social.NameOrder(p.Name, p.ID))
	if err != nil {
		return taken(err)
	}
	return w.insertCircle(&u.Following)
}

// UpdateProfile implements social.Users.
func (s *Store) UpdateProfile(ctx context.Context, id social.UserID, change social.ProfileChange, e social.Event) error {
	var order *string
	if change.Name != nil {
		name := social.NameOrder(*change.Name, id)
		order = &name
	}
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(updateProfile, change.Name, order, change.Bio, change.AvatarURL, (*string)(change.WallPolicy), id.Bytes())
		if err := changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return w.appendWith(social.UsersChanged(id), e)
	})
}

// GrantRight implements social.Users.
func (s *Store) GrantRight(ctx context.Context, user social.UserID, right social.Right, e social.Event) (bool, error) {
	return s.changeRights(ctx, user, e, func(rights []social.Right) []social.Right {
		if slices.Contains(rights, right) {
			return rights
		}
		return append(rights, right)
	})
}

// RevokeRight implements social.Users.
func (s *Store) RevokeRight(ctx context.Context, user social.UserID, right social.Right, e social.Event) (bool, error) {
	return s.changeRights(ctx, user, e, func(rights []social.Right) []social.Right {
		return slices.DeleteFunc(rights, func(r social.Right) bool { return r == right })
	})
}

// UsersWithRights implements social.Users.
func (s *Store) UsersWithRights(ctx context.Context) ([]*social.User, error) {
	return read(ctx, s, func(w *work) ([]*social.User, error) { return all(w, withRights, scanUser) })
}

func (s *Store) changeRights(ctx context.Context, user social.UserID, e social.Event, change func([]social.Right) []social.Right) (changed bool, err error) {
	err = s.update(ctx, func(w *work) error {
		var rights string
		if err := known(w.row(rightsOf, []any{&rights}, user.Bytes())); err != nil {
			return err
		}
		after := joinRights(change(splitRights(rights)))
		if changed = after != rights; !changed {
			return nil
		}
		if _, err := w.exec(setRights, after, user.Bytes()); err != nil {
			return err
		}
		return w.appendWith(social.UsersChanged(user), e)
	})
	return changed && err == nil, err
}

// joinRights encodes rights as they are stored: their names, separated by spaces.
func joinRights(rights []social.Right) string {
	names := make([]string, len(rights))
	for i, right := range rights {
		names[i] = string(right)
	}
	return strings.Join(names, " ")
}

func splitRights(text string) []social.Right {
	var rights []social.Right
	for name := range strings.FieldsSeq(text) {
		rights = append(rights, social.Right(name))
	}
	return rights
}

// Users implements social.Users.
func (s *Store) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	return read(ctx, s, func(w *work) (map[social.UserID]*social.User, error) { return w.users(ids) })
}

func (w *work) users(ids []social.UserID) (map[social.UserID]*social.User, error) {
	return byKey(w, usersByID, func(scan scan) (social.UserID, *social.User, error) {
		u, err := scanUser(scan)
		return u.ID, u, err
	}, hexList(ids))
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

// HasUsers implements social.Users.
func (s *Store) HasUsers(ctx context.Context) (has bool, err error) {
	err = s.view(ctx, func(w *work) error {
		_, err := w.row(anyUser, []any{&has})
		return err
	})
	return has, err
}

// UsersNamed implements social.Users.
func (s *Store) UsersNamed(ctx context.Context, prefix string, p social.Page) ([]*social.User, error) {
	after, before := prefix, prefix+lastRune
	if p.After != "" {
		after = max(after, string(p.After))
	}
	if p.Before != "" {
		before = min(before, string(p.Before))
	}
	return read(ctx, s, func(w *work) ([]*social.User, error) {
		sp := span{descending: p.Last, reverse: p.Last}
		users, err := all(w, usersNamed.along(sp), scanUser, after, before, p.Limit)
		return inListOrder(sp, users), err
	})
}

// lastRune sorts after the runes of all names.
const lastRune = "\U0010ffff"

func scanUser(scan scan) (*social.User, error) {
	u, rights := &social.User{}, ""
	err := scan(into(&u.ID.ID), &u.Handle, &u.Name, &u.Bio, &u.AvatarURL, &u.WallPolicy, &u.FollowersCount, &u.FollowingCount, &rights)
	u.Rights = splitRights(rights)
	return u, err
}

// PasswordHash implements social.Users.
func (s *Store) PasswordHash(ctx context.Context, handle string) (user social.UserID, hash string, err error) {
	err = s.view(ctx, func(w *work) error {
		return known(w.row(passwordHash, []any{into(&user.ID), &hash}, handle))
	})
	return user, hash, err
}

// SetPassword implements social.Users.
func (s *Store) SetPassword(ctx context.Context, c social.PasswordChange) error {
	return s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(c.User, social.ErrNotFound); err != nil {
			return err
		}
		rows, err := w.exec(setPassword, c.To, c.User.Bytes(), c.Handle, c.From)
		if err != nil {
			return err
		}
		if rows == 0 {
			return social.ErrNotFound
		}
		return w.endSessions(c.User, c.Keep, social.AllSessions)
	})
}

// requireUser returns social.ErrNotFound unless the user exists.
func (w *work) requireUser(user social.UserID) error {
	return known(w.exists(userExists, user.Bytes()))
}
