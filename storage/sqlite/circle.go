package sqlite

import (
	"context"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

const circleColumns = `id, owner, name, is_default, members_count`

var (
	insertCircle = sqldb.Define(`INSERT INTO circles (id, owner, name, folded_name, is_default) VALUES (?, ?, ?, ?, ?)`)
	renameCircle = sqldb.Define(`UPDATE circles SET name = ?, folded_name = ? WHERE id = ?`)
	deleteCircle = sqldb.Define(`DELETE FROM circles WHERE id = ?`)
	circleOwner  = sqldb.Define(`SELECT owner FROM circles WHERE id = ?`)
	circlesByID  = sqldb.Define(`SELECT ` + circleColumns + ` FROM circles WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	circlesOf    = sqldb.DefineDirected(`SELECT ` + circleColumns + ` FROM circles INDEXED BY circles_by_owner
		WHERE owner = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	countCircles  = sqldb.Define(`SELECT count(*) FROM circles INDEXED BY circles_by_owner WHERE owner = ?`)
	newestCircle  = sqldb.Define(`SELECT id FROM circles INDEXED BY circles_by_owner WHERE owner = ? ORDER BY id DESC LIMIT 1`)
	circleMembers = sqldb.Define(`SELECT member FROM circle_members WHERE circle = ?`)
	someCircles   = sqldb.Define(`DELETE FROM circles WHERE id IN (
		SELECT id FROM circles INDEXED BY circles_by_owner WHERE owner = ? LIMIT ?)`)
)

// InsertCircle implements social.Circles.
func (s *Store) InsertCircle(ctx context.Context, c *social.Circle, maximum int, e social.Event) error {
	stored := *c
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, c.Owner, social.ErrAccountGone); err != nil {
			return err
		}
		if err := sqldb.MustHaveRoom(tx, maximum, countCircles, c.Owner.Bytes()); err != nil {
			return err
		}
		if c.ID.IsZero() {
			next, err := s.nextCircle(tx, c.Owner)
			if err != nil {
				return err
			}
			stored.ID, e.Circle = next, next
		}
		if err := addCircle(tx, &stored); err != nil {
			return err
		}
		return tx.Append(e)
	})
	if err == nil {
		c.ID = stored.ID
	}
	return err
}

// nextCircle returns the id of a new circle. It sorts after the owner's other circles, even if one
// has an id from a clock that is ahead. That must not affect other users, so it does not advance
// the sequence, from which all posts get their times.
func (s *Store) nextCircle(tx *eventlog.Tx, owner social.UserID) (social.CircleID, error) {
	var last social.CircleID
	if _, err := tx.Row(newestCircle, []any{sqldb.Into(&last.ID)}, owner.Bytes()); err != nil {
		return social.CircleID{}, err
	}
	next, err := s.nextID(tx, id.ID{})
	if next.Serial() <= last.Serial() {
		next = id.WithSerial(last.Serial() + 1)
	}
	return social.CircleID{ID: next}, err
}

func addCircle(tx *eventlog.Tx, c *social.Circle) error {
	_, err := tx.Exec(insertCircle, c.ID.Bytes(), c.Owner.Bytes(), c.Name, social.NameKey(c.Name), c.IsDefault)
	return sqldb.Taken(err)
}

// RenameCircle implements social.Circles.
func (s *Store) RenameCircle(ctx context.Context, id social.CircleID, name string, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(renameCircle, name, social.NameKey(name), id.Bytes())
		if err := sqldb.Changed(rows, sqldb.Taken(err), social.ErrNotFound); err != nil {
			return err
		}
		return tx.Append(e)
	})
}

// DeleteCircle implements social.Circles. Posts that list the circle keep its id, which no longer
// grants access to anyone.
func (s *Store) DeleteCircle(ctx context.Context, id social.CircleID, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		var owner social.UserID
		if err := sqldb.Known(tx.Row(circleOwner, []any{sqldb.Into(&owner.ID)}, id.Bytes())); err != nil {
			return err
		}
		left, err := sqldb.All(tx, circleMembers, scanUserID, id.Bytes())
		if err != nil {
			return err
		}
		if _, err := tx.Exec(deleteCircle, id.Bytes()); err != nil { // with its memberships
			return err
		}
		counts := newCounts()
		for _, member := range left {
			if _, err := endFollow(tx, owner, member, counts); err != nil {
				return err
			}
		}
		if err := counts.store(tx); err != nil {
			return err
		}
		return tx.AppendWith(social.AroundChanged(owner), e)
	})
}

// Circles implements social.Circles.
func (s *Store) Circles(ctx context.Context, ids []social.CircleID) (map[social.CircleID]*social.Circle, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.CircleID]*social.Circle, error) {
		return sqldb.ByKey(tx, circlesByID, func(scan sqldb.Scan) (social.CircleID, *social.Circle, error) {
			c, err := scanCircle(scan)
			return c.ID, c, err
		}, sqldb.HexList(ids))
	})
}

// CirclesOf implements social.Circles.
func (s *Store) CirclesOf(ctx context.Context, owner social.UserID, p social.Page) ([]*social.Circle, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Circle, error) {
		sp := sqldb.Ascending(p)
		found, err := sqldb.All(tx, circlesOf.Along(sp), scanCircle, owner.Bytes(), sp.Low, sp.High, sp.Limit)
		return sqldb.InListOrder(sp, found), err
	})
}

func scanCircle(scan sqldb.Scan) (*social.Circle, error) {
	c := &social.Circle{}
	return c, scan(sqldb.Into(&c.ID.ID), sqldb.Into(&c.Owner.ID), &c.Name, &c.IsDefault, &c.MembersCount)
}

// deleteCirclesOf removes some of a deleted user's circles.
func deleteCirclesOf(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	return sqldb.DeleteSome(tx.Tx, user, someCircles)
}
