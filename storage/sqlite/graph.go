package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"plaza/id"
	"plaza/social"
)

var (
	// A pair is 64 hexadecimal digits: the viewer's id and the other user's.
	relations = define(`
		WITH pairs AS MATERIALIZED (
			SELECT unhex(substr(value, 1, 32)) AS viewer, unhex(substr(value, 33)) AS other FROM json_each(?))
		SELECT viewer, other,
			EXISTS (SELECT 1 FROM follows WHERE follower = viewer AND followed = other),
			EXISTS (SELECT 1 FROM mutes WHERE muter = viewer AND muted = other),
			EXISTS (SELECT 1 FROM blocks WHERE blocker = viewer AND blocked = other),
			EXISTS (SELECT 1 FROM blocks WHERE blocker = other AND blocked = viewer),
			EXISTS (SELECT 1 FROM deleted_users WHERE id IN (viewer, other)),
			coalesce((SELECT group_concat(hex(circle), '') FROM circle_members WHERE member = viewer AND owner = other), '')
		FROM pairs`)
	followers = defineDirected(`SELECT edge, follower, followed FROM follows INDEXED BY follows_by_followed
		WHERE followed = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	following = defineDirected(`SELECT edge, follower, followed FROM follows INDEXED BY follows_by_follower
		WHERE follower = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	blocksOf = defineDirected(`SELECT edge, blocker, blocked FROM blocks INDEXED BY blocks_by_blocker
		WHERE blocker = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	mutesOf = defineDirected(`SELECT edge, muter, muted FROM mutes INDEXED BY mutes_by_muter
		WHERE muter = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)

	insertFollow = define(`INSERT INTO follows (follower, followed, edge) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteFollow = define(`DELETE FROM follows WHERE follower = ?1 AND followed = ?2
		AND NOT EXISTS (SELECT 1 FROM circle_members WHERE member = ?2 AND owner = ?1)`)
	insertBlock = define(`INSERT INTO blocks (blocker, blocked, edge) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteBlock = define(`DELETE FROM blocks WHERE blocker = ? AND blocked = ?`)
	insertMute  = define(`INSERT INTO mutes (muter, muted, edge) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteMute  = define(`DELETE FROM mutes WHERE muter = ? AND muted = ?`)
	isBlocked   = define(`SELECT 1 FROM blocks WHERE blocker = ?1 AND blocked = ?2
		UNION ALL SELECT 1 FROM blocks WHERE blocker = ?2 AND blocked = ?1`)
)

// Relations implements social.Graph.
func (s *Store) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	return read(ctx, s, func(w *work) (map[social.Pair]social.Relation, error) {
		return byKey(w, relations, scanRelation, hexPairs(pairs))
	})
}

// People implements social.Graph, in one transaction.
func (s *Store) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	pairs := make([]social.Pair, len(ids))
	for i, other := range ids {
		pairs[i] = social.Pair{Viewer: viewer, Other: other}
	}
	return read(ctx, s, func(w *work) (map[social.UserID]social.Person, error) {
		known, err := byKey(w, relations, scanRelation, hexPairs(pairs))
		if err != nil {
			return nil, err
		}
		users, err := w.users(ids)
		people := make(map[social.UserID]social.Person, len(ids))
		for _, pair := range pairs {
			people[pair.Other] = social.Person{User: users[pair.Other], Relation: known[pair]}
		}
		return people, err
	})
}

func hexPairs(pairs []social.Pair) string {
	var list strings.Builder
	list.WriteByte('[')
	for i, pair := range pairs {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprintf(&list, `"%x%x"`, pair.Viewer.ID[:], pair.Other.ID[:])
	}
	list.WriteByte(']')
	return list.String()
}

func scanRelation(scan scan) (pair social.Pair, r social.Relation, err error) {
	var circles string
	err = scan(into(&pair.Viewer.ID), into(&pair.Other.ID), &r.Follows, &r.Mutes, &r.Blocks, &r.BlockedBy, &r.Gone, &circles)
	if err != nil || circles == "" {
		return pair, r, err
	}
	raw, err := hex.DecodeString(circles)
	if err != nil {
		return pair, r, err
	}
	r.Circles, err = splitCircles(raw)
	return pair, r, err
}

// splitCircles splits concatenated ids.
func splitCircles(raw []byte) ([]social.CircleID, error) {
	var circles []social.CircleID
	for size := len(id.ID{}); len(raw) > 0; raw = raw[size:] {
		circle, err := id.FromBytes(raw[:min(size, len(raw))])
		if err != nil {
			return nil, err
		}
		circles = append(circles, social.CircleID{ID: circle})
	}
	return circles, nil
}

// Followers implements social.Graph.
func (s *Store) Followers(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return pages(ctx, s, lists, func(w *work, list social.List[social.UserID]) ([]social.Edge, error) {
		return w.edges(followers, list.Of, list.Page)
	})
}

// Following implements social.Graph.
func (s *Store) Following(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return pages(ctx, s, lists, func(w *work, list social.List[social.UserID]) ([]social.Edge, error) {
		return w.edges(following, list.Of, list.Page)
	})
}

// Blocked implements social.Graph.
func (s *Store) Blocked(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return read(ctx, s, func(w *work) ([]social.Edge, error) { return w.edges(blocksOf, from, p) })
}

// Muted implements social.Graph.
func (s *Store) Muted(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return read(ctx, s, func(w *work) ([]social.Edge, error) { return w.edges(mutesOf, from, p) })
}

func (w *work) edges(list directed, of social.UserID, p social.Page) ([]social.Edge, error) {
	sp := descendingSpan(p)
	found, err := all(w, list.along(sp), scanEdge, of.Bytes(), sp.low, sp.high, sp.limit)
	return inListOrder(sp, found), err
}

func scanEdge(scan scan) (e social.Edge, err error) {
	err = scan(into(&e.ID.ID), into(&e.From.ID), into(&e.To.ID))
	return e, err
}

// Block implements social.Graph.
func (s *Store) Block(ctx context.Context, block social.Edge, e social.Event) (bool, error) {
	return s.insertEdge(ctx, insertBlock, block, e, func(w *work) error {
		if _, err := w.leaveAll(block.From, block.To); err != nil {
			return err
		}
		_, err := w.leaveAll(block.To, block.From)
		return err
	})
}

// Mute implements social.Graph.
func (s *Store) Mute(ctx context.Context, mute social.Edge, e social.Event) (bool, error) {
	return s.insertEdge(ctx, insertMute, mute, e, func(*work) error { return nil })
}

func (s *Store) insertEdge(ctx context.Context, st *statement, edge social.Edge, e social.Event, then func(*work) error) (bool, error) {
	inserted := false
	err := s.update(ctx, func(w *work) error {
		if err := w.requireUser(edge.To); err != nil {
			return err
		}
		if err := w.refuseDeleted(edge.From, social.ErrAccountGone); err != nil {
			return err
		}
		named, err := s.nextID(w, edge.ID.ID)
		if err != nil {
			return err
		}
		rows, err := w.exec(st, edge.From.Bytes(), edge.To.Bytes(), named.Bytes())
		if err != nil || rows == 0 {
			return err
		}
		inserted = true
		if err := then(w); err != nil {
			return err
		}
		return w.appendWith(social.BothChanged(edge.From, edge.To), e)
	})
	return inserted && err == nil, err
}

// Unblock implements social.Graph.
func (s *Store) Unblock(ctx context.Context, from, to social.UserID, e social.Event) (bool, error) {
	return s.deleteEdge(ctx, deleteBlock, from, to, e)
}

// Unmute implements social.Graph.
func (s *Store) Unmute(ctx context.Context, from, to social.UserID, e social.Event) (bool, error) {
	return s.deleteEdge(ctx, deleteMute, from, to, e)
}

func (s *Store) deleteEdge(ctx context.Context, st *statement, from, to social.UserID, e social.Event) (bool, error) {
	deleted := false
	err := s.update(ctx, func(w *work) error {
		rows, err := w.exec(st, from.Bytes(), to.Bytes())
		if err != nil || rows == 0 {
			return err
		}
		deleted = true
		return w.appendWith(social.BothChanged(from, to), e)
	})
	return deleted && err == nil, err
}

// blocked says whether either has blocked the other.
func (w *work) blocked(one, other social.UserID) (bool, error) {
	return w.exists(isBlocked, one.Bytes(), other.Bytes())
}

// beginFollow stores the follow unless it exists.
func (w *work) beginFollow(owner, member social.UserID, edge social.EdgeID, counts *counts) error {
	rows, err := w.exec(insertFollow, owner.Bytes(), member.Bytes(), edge.Bytes())
	if err == nil && rows > 0 {
		counts.following[owner]++
		counts.followers[member]++
	}
	return err
}

// endFollow removes the follow unless the member is still in one of the owner's circles.
func (w *work) endFollow(owner, member social.UserID, counts *counts) (bool, error) {
	rows, err := w.exec(deleteFollow, owner.Bytes(), member.Bytes())
	if err != nil || rows == 0 {
		return false, err
	}
	counts.following[owner]--
	counts.followers[member]--
	w.changes.Pairs = append(w.changes.Pairs, social.Pair{Viewer: owner, Other: member})
	return true, nil
}
