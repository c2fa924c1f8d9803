package sqlite

import (
	"context"
	"encoding/json"
	"slices"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/invitations"
	"plaza/storage/sqlite/internal/sqldb"
)

const userColumns = `id, handle, name, bio, avatar_url, wall_policy, followers_count, following_count, rights, ` + standingColumns

var (
	insertUser = sqldb.Define(`INSERT INTO users (id, handle, name, bio, avatar_url, wall_policy, password_hash, rights, name_order)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	updateProfile = sqldb.Define(`UPDATE users SET name = coalesce(?, name), name_order = coalesce(?, name_order), bio = coalesce(?, bio),
		avatar_url = coalesce(?, avatar_url), wall_policy = coalesce(?, wall_policy) WHERE id = ?`)
	rightsOf      = sqldb.Define(`SELECT rights FROM users WHERE id = ?`)
	setRights     = sqldb.Define(`UPDATE users SET rights = ? WHERE id = ?`)
	withRights    = sqldb.Define(`SELECT ` + userColumns + ` FROM users INDEXED BY users_with_rights WHERE rights <> '' AND rights > ''`)
	usersByID     = sqldb.Define(`SELECT ` + userColumns + ` FROM users WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	usersByHandle = sqldb.Define(`SELECT ` + userColumns + ` FROM users WHERE handle IN (SELECT value FROM json_each(?))`)
	usersNamed    = sqldb.DefineDirected(`SELECT ` + userColumns + ` FROM users WHERE name_order > ? AND name_order < ? ORDER BY name_order $order LIMIT ?`)
	userExists    = sqldb.Define(`SELECT 1 FROM users WHERE id = ?`)
	anyUser       = sqldb.Define(`SELECT EXISTS (SELECT 1 FROM users WHERE name_order > '')`)
	passwordHash  = sqldb.Define(`SELECT id, password_hash FROM users WHERE handle = ?`)
	setPassword   = sqldb.Define(`UPDATE users SET password_hash = ? WHERE id = ? AND handle = ? AND password_hash = ?`)
)

// InsertUser implements social.Users.
func (s *Store) InsertUser(ctx context.Context, u social.NewUser, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := addIdentity(tx, u.Identity, u.User.ID); err != nil {
			return err
		}
		if err := invitations.Use(tx, &u); err != nil {
			return err
		}
		if err := refuseKept(tx, u); err != nil {
			return err
		}
		if err := addUser(tx, u); err != nil {
			return err
		}
		return tx.Append(e)
	})
}

func addUser(tx *eventlog.Tx, u social.NewUser) error {
	p := u.User
	_, err := tx.Exec(insertUser, p.ID.Bytes(), p.Handle, p.Name, p.Bio, p.AvatarURL, string(p.WallPolicy), u.PasswordHash, sqldb.JoinWords(p.Rights), social.NameOrder(p.Name, p.ID))
	if err != nil {
		return sqldb.Taken(err)
	}
	return addCircle(tx, &u.Following)
}

// UpdateProfile implements social.Users.
func (s *Store) UpdateProfile(ctx context.Context, id social.UserID, change social.ProfileChange, e social.Event) error {
	var order *string
	if change.Name != nil {
		name := social.NameOrder(*change.Name, id)
		order = &name
	}
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(updateProfile, change.Name, order, change.Bio, change.AvatarURL, (*string)(change.WallPolicy), id.Bytes())
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return tx.AppendWith(social.UsersChanged(id), e)
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
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.User, error) { return sqldb.All(tx, withRights, scanUser) })
}

func (s *Store) changeRights(ctx context.Context, user social.UserID, e social.Event, change func([]social.Right) []social.Right) (changed bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		var rights string
		if err := sqldb.Known(tx.Row(rightsOf, []any{&rights}, user.Bytes())); err != nil {
			return err
		}
		after := sqldb.JoinWords(change(sqldb.SplitWords[social.Right](rights)))
		if changed = after != rights; !changed {
			return nil
		}
		if _, err := tx.Exec(setRights, after, user.Bytes()); err != nil {
			return err
		}
		return tx.AppendWith(social.UsersChanged(user), e)
	})
	return changed && err == nil, err
}

// Users implements social.Users.
func (s *Store) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.UserID]*social.User, error) { return readUsers(tx, ids) })
}

func readUsers(tx sqldb.Reader, ids []social.UserID) (map[social.UserID]*social.User, error) {
	return sqldb.ByKey(tx, usersByID, func(scan sqldb.Scan) (social.UserID, *social.User, error) {
		u, err := scanUser(scan)
		return u.ID, u, err
	}, sqldb.HexList(ids))
}

// UsersByHandle implements social.Users.
func (s *Store) UsersByHandle(ctx context.Context, handles []string) (map[string]*social.User, error) {
	list, err := json.Marshal(append([]string{}, handles...)) // never null
	if err != nil {
		return nil, err
	}
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[string]*social.User, error) {
		return sqldb.ByKey(tx, usersByHandle, func(scan sqldb.Scan) (string, *social.User, error) {
			u, err := scanUser(scan)
			return u.Handle, u, err
		}, string(list))
	})
}

// HasUsers implements social.Users.
func (s *Store) HasUsers(ctx context.Context) (has bool, err error) {
	err = s.db.View(ctx, func(tx sqldb.Reader) error {
		_, err := tx.Row(anyUser, []any{&has})
		return err
	})
	return has, err
}

// UsersNamed implements social.Users.
func (s *Store) UsersNamed(ctx context.Context, prefix string, p social.Page) ([]*social.User, error) {
	after, before := prefix, social.NameOrderEnd(prefix)
	if p.After != "" {
		after = max(after, string(p.After))
	}
	if p.Before != "" {
		before = min(before, string(p.Before))
	}
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.User, error) {
		sp := sqldb.Span{Descending: p.Last, Reverse: p.Last}
		users, err := sqldb.All(tx, usersNamed.Along(sp), scanUser, after, before, p.Limit)
		return sqldb.InListOrder(sp, users), err
	})
}

func scanUser(scan sqldb.Scan) (*social.User, error) {
	u, rights := &social.User{}, ""
	var until int64
	err := scan(sqldb.Into(&u.ID.ID), &u.Handle, &u.Name, &u.Bio, &u.AvatarURL, &u.WallPolicy, &u.FollowersCount, &u.FollowingCount, &rights,
		&u.Standing.Sanction, &until, &u.Standing.Reason, &u.Standing.Left)
	u.Standing.Until = sqldb.MomentOf(until)
	u.Rights = sqldb.SplitWords[social.Right](rights)
	return u, err
}

// PasswordHash implements social.Users.
func (s *Store) PasswordHash(ctx context.Context, handle string) (user social.UserID, hash string, err error) {
	err = s.db.View(ctx, func(tx sqldb.Reader) error {
		return sqldb.Known(tx.Row(passwordHash, []any{sqldb.Into(&user.ID), &hash}, handle))
	})
	return user, hash, err
}

// SetPassword implements social.Users.
func (s *Store) SetPassword(ctx context.Context, c social.PasswordChange) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, c.User, social.ErrNotFound); err != nil {
			return err
		}
		rows, err := tx.Exec(setPassword, c.To, c.User.Bytes(), c.Handle, c.From)
		if err != nil {
			return err
		}
		if rows == 0 {
			return social.ErrNotFound
		}
		if err := useResetToken(tx, c); err != nil {
			return err
		}
		return s.endSessions(tx, c.User, c.Keep, social.AllSessions)
	})
}

// requireUser returns social.ErrNotFound unless the user exists.
func requireUser(tx sqldb.Reader, user social.UserID) error {
	return sqldb.Known(tx.Exists(userExists, user.Bytes()))
}
