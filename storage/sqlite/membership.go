package sqlite

import (
	"context"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	members = sqldb.DefineDirected(`SELECT edge, owner, member FROM circle_members INDEXED BY circle_members_by_edge
		WHERE circle = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	insertMember = sqldb.Define(`INSERT INTO circle_members (circle, member, owner, edge) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteMember = sqldb.Define(`DELETE FROM circle_members WHERE circle = ? AND member = ? AND owner = ?`)
)

// Members implements social.Circles.
func (s *Store) Members(ctx context.Context, lists []social.List[social.CircleID]) (map[social.List[social.CircleID]][]social.Edge, error) {
	return sqldb.Pages(ctx, s.db, lists, func(tx sqldb.Reader, list social.List[social.CircleID]) ([]social.Edge, error) {
		sp := sqldb.Ascending(list.Page)
		found, err := sqldb.All(tx, members.Along(sp), scanEdge, list.Of.Bytes(), sp.Low, sp.High, sp.Limit)
		return sqldb.InListOrder(sp, found), err
	})
}

// AddToCircle implements social.Circles.
func (s *Store) AddToCircle(ctx context.Context, m social.Membership, edge social.EdgeID, e social.Event) (added bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		named, err := s.nextID(tx, edge.ID)
		if err != nil {
			return err
		}
		var follows bool
		added, follows, err = addMember(tx, m, social.EdgeID{ID: named})
		if err != nil || !added {
			return err
		}
		if err := tx.AppendWith(social.BothChanged(m.Owner, m.Member), e); err != nil || !follows {
			return err
		}
		return tx.Append(social.NewFollowed(m))
	})
	return added && err == nil, err
}

// addMember stores a membership, and returns whether it is new, and whether a follow began.
func addMember(tx *eventlog.Tx, m social.Membership, edge social.EdgeID) (added, follows bool, err error) {
	if err := refuseDeleted(tx, m.Owner, social.ErrAccountGone); err != nil {
		return false, false, err
	}
	if err := requireCircle(tx, m.Circle, m.Owner); err != nil {
		return false, false, err
	}
	if err := requireUser(tx, m.Member); err != nil {
		return false, false, err
	}
	if blocked, err := isEitherBlocked(tx, m.Owner, m.Member); err != nil {
		return false, false, err
	} else if blocked {
		return false, false, social.ErrBlocked
	}
	counts := newCounts()
	if added, err = join(tx, m, edge, counts); err != nil {
		return false, false, err
	}
	return added, counts.following[m.Owner] > 0, counts.store(tx)
}

// requireCircle returns social.ErrNotFound unless the owner has this circle.
func requireCircle(tx sqldb.Reader, circle social.CircleID, owner social.UserID) error {
	var of social.UserID
	found, err := tx.Row(circleOwner, []any{sqldb.Into(&of.ID)}, circle.Bytes())
	return sqldb.Known(found && of == owner, err)
}

// join stores the membership and the follow, unless they exist.
func join(tx *eventlog.Tx, m social.Membership, edge social.EdgeID, counts *counts) (bool, error) {
	rows, err := tx.Exec(insertMember, m.Circle.Bytes(), m.Member.Bytes(), m.Owner.Bytes(), edge.Bytes())
	if err != nil || rows == 0 {
		return false, err
	}
	counts.members[m.Circle]++
	tx.Changes.Pairs = append(tx.Changes.Pairs, social.Pair{Viewer: m.Owner, Other: m.Member})
	return true, beginFollow(tx, m.Owner, m.Member, edge, counts)
}

// RemoveFromCircle implements social.Circles.
func (s *Store) RemoveFromCircle(ctx context.Context, m social.Membership, e social.Event) (removed bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(deleteMember, m.Circle.Bytes(), m.Member.Bytes(), m.Owner.Bytes())
		if err != nil || rows == 0 {
			return err
		}
		removed = true
		counts := newCounts()
		counts.members[m.Circle]--
		if _, err := endFollow(tx, m.Owner, m.Member, counts); err != nil {
			return err
		}
		if err := counts.store(tx); err != nil {
			return err
		}
		return tx.AppendWith(social.BothChanged(m.Owner, m.Member), e)
	})
	return removed && err == nil, err
}
