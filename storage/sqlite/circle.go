package sqlite

import (
	"context"
	"maps"
	"slices"

	"plaza/id"
	"plaza/social"
)

const circleColumns = `id, owner, name, is_default, members_count`

var (
	insertCircle = define(`INSERT INTO circles (id, owner, name, folded_name, is_default) VALUES (?, ?, ?, ?, ?)`)
	renameCircle = define(`UPDATE circles SET name = ?, folded_name = ? WHERE id = ?`)
	deleteCircle = define(`DELETE FROM circles WHERE id = ?`)
	circleOwner  = define(`SELECT owner FROM circles WHERE id = ?`)
	circlesByID  = define(`SELECT ` + circleColumns + ` FROM circles WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	circlesOf    = defineDirected(`SELECT ` + circleColumns + ` FROM circles INDEXED BY circles_by_owner
		WHERE owner = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	newestCircle  = define(`SELECT id FROM circles INDEXED BY circles_by_owner WHERE owner = ? ORDER BY id DESC LIMIT 1`)
	circleMembers = define(`SELECT member FROM circle_members WHERE circle = ?`)
	members       = defineDirected(`SELECT edge, owner, member FROM circle_members INDEXED BY circle_members_by_edge
		WHERE circle = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	countMembers  = define(`UPDATE circles SET members_count = members_count + ? WHERE id = ?`)
	insertMember  = define(`INSERT INTO circle_members (circle, member, owner, edge) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteMember  = define(`DELETE FROM circle_members WHERE circle = ? AND member = ? AND owner = ?`)
	uncountMember = define(`UPDATE circles SET members_count = members_count - 1
		WHERE id IN (SELECT circle FROM circle_members WHERE member = ? AND owner = ?)`)
	deleteMemberships = define(`DELETE FROM circle_members WHERE member = ? AND owner = ?`)
)

// InsertCircle implements social.Circles.
func (s *Store) InsertCircle(ctx context.Context, c *social.Circle, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(c.Owner, social.ErrAccountGone); err != nil {
			return err
		}
		stored := *c
		if c.ID.IsZero() {
			next, err := s.nextCircle(w, c.Owner)
			if err != nil {
				return err
			}
			stored.ID, e.Circle = next, next
		}
		if err := w.insertCircle(&stored); err != nil {
			return err
		}
		if err := w.append(e); err != nil {
			return err
		}
		c.ID = stored.ID
		return nil
	})
}

// nextCircle returns the id of a new circle. It sorts after the owner's other circles, also if one
// has an id from a clock that is ahead. That concerns this owner alone, so the sequence, from which
// all posts get their times, does not follow.
func (s *Store) nextCircle(w *work, owner social.UserID) (social.CircleID, error) {
	var last social.CircleID
	if _, err := w.row(newestCircle, []any{into(&last.ID)}, owner.Bytes()); err != nil {
		return social.CircleID{}, err
	}
	next, err := s.nextID(w, id.ID{})
	if next.Serial() <= last.Serial() {
		next = id.WithSerial(last.Serial() + 1)
	}
	return social.CircleID{ID: next}, err
}

func (w *work) insertCircle(c *social.Circle) error {
	_, err := w.exec(insertCircle, c.ID.Bytes(), c.Owner.Bytes(), c.Name, social.NameKey(c.Name), c.IsDefault)
	return taken(err)
}

// RenameCircle implements social.Circles.
func (s *Store) RenameCircle(ctx context.Context, id social.CircleID, name string, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(renameCircle, name, social.NameKey(name), id.Bytes())
		if err := changed(rows, taken(err), social.ErrNotFound); err != nil {
			return err
		}
		return w.append(e)
	})
}

// DeleteCircle implements social.Circles. Posts that list the circle keep its id, which no longer
// grants access to anyone.
func (s *Store) DeleteCircle(ctx context.Context, id social.CircleID, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		var owner social.UserID
		if err := known(w.row(circleOwner, []any{into(&owner.ID)}, id.Bytes())); err != nil {
			return err
		}
		left, err := all(w, circleMembers, scanUserID, id.Bytes())
		if err != nil {
			return err
		}
		if _, err := w.exec(deleteCircle, id.Bytes()); err != nil { // with its memberships
			return err
		}
		counts := newCounts()
		for _, member := range left {
			if _, err := w.endFollow(owner, member, counts); err != nil {
				return err
			}
		}
		if err := counts.store(w); err != nil {
			return err
		}
		return w.appendWith(social.AroundChanged(owner), e)
	})
}

// Circles implements social.Circles.
func (s *Store) Circles(ctx context.Context, ids []social.CircleID) (map[social.CircleID]*social.Circle, error) {
	return read(ctx, s, func(w *work) (map[social.CircleID]*social.Circle, error) {
		return byKey(w, circlesByID, func(scan scan) (social.CircleID, *social.Circle, error) {
			c, err := scanCircle(scan)
			return c.ID, c, err
		}, hexList(ids))
	})
}

// CirclesOf implements social.Circles.
func (s *Store) CirclesOf(ctx context.Context, owner social.UserID, p social.Page) ([]*social.Circle, error) {
	return read(ctx, s, func(w *work) ([]*social.Circle, error) {
		sp := ascendingSpan(p)
		found, err := all(w, circlesOf.along(sp), scanCircle, owner.Bytes(), sp.low, sp.high, sp.limit)
		return inListOrder(sp, found), err
	})
}

func scanCircle(scan scan) (*social.Circle, error) {
	c := &social.Circle{}
	return c, scan(into(&c.ID.ID), into(&c.Owner.ID), &c.Name, &c.IsDefault, &c.MembersCount)
}

func scanUserID(scan scan) (user social.UserID, err error) {
	err = scan(into(&user.ID))
	return user, err
}

// Members implements social.Circles.
func (s *Store) Members(ctx context.Context, lists []social.List[social.CircleID]) (map[social.List[social.CircleID]][]social.Edge, error) {
	return pages(ctx, s, lists, func(w *work, list social.List[social.CircleID]) ([]social.Edge, error) {
		sp := ascendingSpan(list.Page)
		found, err := all(w, members.along(sp), scanEdge, list.Of.Bytes(), sp.low, sp.high, sp.limit)
		return inListOrder(sp, found), err
	})
}

// AddToCircle implements social.Circles.
func (s *Store) AddToCircle(ctx context.Context, m social.Membership, edge social.EdgeID, e social.Event) (added bool, err error) {
	err = s.update(ctx, func(w *work) error {
		named, err := s.nextID(w, edge.ID)
		if err != nil {
			return err
		}
		var follows bool
		added, follows, err = w.addMember(m, social.EdgeID{ID: named})
		if err != nil || !added {
			return err
		}
		if err := w.appendWith(social.BothChanged(m.Owner, m.Member), e); err != nil || !follows {
			return err
		}
		return w.append(social.NewFollowed(m))
	})
	return added && err == nil, err
}

// addMember stores a membership, and returns whether it is new, and whether a follow began.
func (w *work) addMember(m social.Membership, edge social.EdgeID) (added, follows bool, err error) {
	if err := w.refuseDeleted(m.Owner, social.ErrAccountGone); err != nil {
		return false, false, err
	}
	if err := w.requireCircle(m.Circle, m.Owner); err != nil {
		return false, false, err
	}
	if err := w.requireUser(m.Member); err != nil {
		return false, false, err
	}
	if blocked, err := w.blocked(m.Owner, m.Member); err != nil {
		return false, false, err
	} else if blocked {
		return false, false, social.ErrBlocked
	}
	counts := newCounts()
	if added, err = w.join(m, edge, counts); err != nil {
		return false, false, err
	}
	return added, counts.following[m.Owner] > 0, counts.store(w)
}

// requireCircle returns social.ErrNotFound unless the owner has this circle.
func (w *work) requireCircle(circle social.CircleID, owner social.UserID) error {
	var of social.UserID
	found, err := w.row(circleOwner, []any{into(&of.ID)}, circle.Bytes())
	return known(found && of == owner, err)
}

// join stores the membership and the follow, unless they exist.
func (w *work) join(m social.Membership, edge social.EdgeID, counts *counts) (bool, error) {
	rows, err := w.exec(insertMember, m.Circle.Bytes(), m.Member.Bytes(), m.Owner.Bytes(), edge.Bytes())
	if err != nil || rows == 0 {
		return false, err
	}
	counts.members[m.Circle]++
	w.changes.Pairs = append(w.changes.Pairs, social.Pair{Viewer: m.Owner, Other: m.Member})
	return true, w.beginFollow(m.Owner, m.Member, edge, counts)
}

// RemoveFromCircle implements social.Circles.
func (s *Store) RemoveFromCircle(ctx context.Context, m social.Membership, e social.Event) (removed bool, err error) {
	err = s.update(ctx, func(w *work) error {
		rows, err := w.exec(deleteMember, m.Circle.Bytes(), m.Member.Bytes(), m.Owner.Bytes())
		if err != nil || rows == 0 {
			return err
		}
		removed = true
		counts := newCounts()
		counts.members[m.Circle]--
		if _, err := w.endFollow(m.Owner, m.Member, counts); err != nil {
			return err
		}
		if err := counts.store(w); err != nil {
			return err
		}
		return w.appendWith(social.BothChanged(m.Owner, m.Member), e)
	})
	return removed && err == nil, err
}

// Unfollow implements social.Circles.
func (s *Store) Unfollow(ctx context.Context, owner, member social.UserID, e social.Event) (unfollowed bool, err error) {
	err = s.update(ctx, func(w *work) error {
		unfollowed, err = w.leaveAll(owner, member)
		if err != nil || !unfollowed {
			return err
		}
		return w.appendWith(social.BothChanged(owner, member), e)
	})
	return unfollowed && err == nil, err
}

// leaveAll removes the member from all of the owner's circles, and says whether there was a follow.
func (w *work) leaveAll(owner, member social.UserID) (bool, error) {
	if _, err := w.exec(uncountMember, member.Bytes(), owner.Bytes()); err != nil {
		return false, err
	}
	if _, err := w.exec(deleteMemberships, member.Bytes(), owner.Bytes()); err != nil {
		return false, err
	}
	counts := newCounts()
	ended, err := w.endFollow(owner, member, counts)
	if err != nil {
		return false, err
	}
	return ended, counts.store(w)
}

// counts adds up the changes of counts, so that each count is stored once, however large an import
// is.
type counts struct {
	followers, following map[social.UserID]int
	members              map[social.CircleID]int
}

func newCounts() *counts {
	return &counts{map[social.UserID]int{}, map[social.UserID]int{}, map[social.CircleID]int{}}
}

func (c *counts) store(w *work) error {
	w.changes.Users = slices.AppendSeq(w.changes.Users, maps.Keys(c.followers))
	w.changes.Users = slices.AppendSeq(w.changes.Users, maps.Keys(c.following))
	if err := storeCounts(w, countFollowers, c.followers); err != nil {
		return err
	}
	if err := storeCounts(w, countFollowing, c.following); err != nil {
		return err
	}
	return storeCounts(w, countMembers, c.members)
}

func storeCounts[K interface {
	comparable
	rawID
}](w *work, st *statement, changes map[K]int) error {
	for of, by := range changes {
		if _, err := w.exec(st, by, of.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
