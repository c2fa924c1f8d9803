package sqlite

import (
	"context"
	"errors"
	"fmt"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

// ImportUsers implements social.Importer.
func (s *Store) ImportUsers(ctx context.Context, users []social.NewUser) (added int, err error) {
	return s.load(ctx, len(users), func(tx *eventlog.Tx, i int) (bool, error) {
		known, err := tx.Exists(userExistedOnce, users[i].User.ID.Bytes())
		if err != nil || known {
			return false, err
		}
		return true, addUser(tx, users[i])
	})
}

// ImportCircles implements social.Importer.
func (s *Store) ImportCircles(ctx context.Context, circles []*social.Circle) (added int, err error) {
	return s.load(ctx, len(circles), func(tx *eventlog.Tx, i int) (bool, error) {
		var owner social.UserID
		known, err := tx.Row(circleOwner, []any{sqldb.Into(&owner.ID)}, circles[i].ID.Bytes())
		if err != nil || known {
			return false, err
		}
		if gone, err := tx.Exists(isDeleted, circles[i].Owner.Bytes()); err != nil || gone {
			return false, err
		}
		return true, addCircle(tx, circles[i])
	})
}

// load stores n entries in one transaction. It skips those that exist.
func (s *Store) load(ctx context.Context, n int, each func(tx *eventlog.Tx, i int) (added bool, err error)) (int, error) {
	added := 0
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		for i := range n {
			stored, err := each(tx, i)
			if err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			if stored {
				added++
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// ImportMemberships implements social.Importer.
func (s *Store) ImportMemberships(ctx context.Context, memberships []social.Membership, edges []social.EdgeID) (int, error) {
	if len(edges) != len(memberships) {
		return 0, fmt.Errorf("%d memberships with %d edge ids", len(memberships), len(edges))
	}
	added := 0
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		load := loader{Tx: tx, counts: newCounts(), owners: map[social.CircleID]social.UserID{}, users: map[social.UserID]bool{}}
		for i, m := range memberships {
			stored, err := load.membership(m, edges[i])
			if err != nil {
				return fmt.Errorf("membership %d: %w", i, err)
			}
			if stored {
				added++
			}
		}
		return load.counts.store(tx)
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// loader caches a batch's look-ups, and stores each count once.
type loader struct {
	*eventlog.Tx
	counts *counts
	owners map[social.CircleID]social.UserID
	users  map[social.UserID]bool
}

func (l *loader) membership(m social.Membership, edge social.EdgeID) (added bool, err error) {
	if gone, err := l.Exists(isEitherDeleted, m.Owner.Bytes(), m.Member.Bytes()); err != nil || gone {
		return false, err
	}
	if has, err := l.hasCircle(m); err != nil || !has {
		return false, err
	}
	if err := l.requireMember(m.Member); err != nil {
		return false, err
	}
	if blocked, err := isEitherBlocked(l, m.Owner, m.Member); err != nil || blocked {
		return false, err
	}
	return join(l.Tx, m, edge, l.counts)
}

// hasCircle reports whether the owner has the circle.
func (l *loader) hasCircle(m social.Membership) (bool, error) {
	if owner, seen := l.owners[m.Circle]; seen && owner == m.Owner {
		return true, nil
	}
	err := requireCircle(l, m.Circle, m.Owner)
	if errors.Is(err, social.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		l.owners[m.Circle] = m.Owner
	}
	return err == nil, err
}

func (l *loader) requireMember(user social.UserID) error {
	if l.users[user] {
		return nil
	}
	err := requireUser(l, user)
	l.users[user] = err == nil
	return err
}
