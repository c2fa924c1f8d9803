package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	// A pair is 64 hexadecimal digits: the viewer's id and the other user's.
	relations = sqldb.Define(`
		WITH pairs AS MATERIALIZED (
			SELECT unhex(substr(value, 1, 32)) AS viewer, unhex(substr(value, 33)) AS other FROM json_each(?))
		SELECT viewer, other,
			EXISTS (SELECT 1 FROM follows WHERE follower = viewer AND followed = other),
			EXISTS (SELECT 1 FROM mutes WHERE muter = viewer AND muted = other),
			EXISTS (SELECT 1 FROM blocks WHERE blocker = viewer AND blocked = other),
			EXISTS (SELECT 1 FROM blocks WHERE blocker = other AND blocked = viewer),
			EXISTS (SELECT 1 FROM deleted_users WHERE id IN (viewer, other)),
			EXISTS (SELECT 1 FROM users INDEXED BY users_away WHERE away = 1 AND id IN (viewer, other)),
			coalesce((SELECT group_concat(hex(circle), '') FROM circle_members WHERE member = viewer AND owner = other), '')
		FROM pairs`)
	followers = sqldb.DefineDirected(`SELECT edge, follower, followed FROM follows INDEXED BY follows_by_followed
		WHERE followed = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	following = sqldb.DefineDirected(`SELECT edge, follower, followed FROM follows INDEXED BY follows_by_follower
		WHERE follower = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	blocksOf = sqldb.DefineDirected(`SELECT edge, blocker, blocked FROM blocks INDEXED BY blocks_by_blocker
		WHERE blocker = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)
	mutesOf = sqldb.DefineDirected(`SELECT edge, muter, muted FROM mutes INDEXED BY mutes_by_muter
		WHERE muter = ? AND edge > ? AND edge < ? ORDER BY edge $order LIMIT ?`)

	insertBlock = sqldb.Define(`INSERT INTO blocks (blocker, blocked, edge) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteBlock = sqldb.Define(`DELETE FROM blocks WHERE blocker = ? AND blocked = ?`)
	insertMute  = sqldb.Define(`INSERT INTO mutes (muter, muted, edge) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteMute  = sqldb.Define(`DELETE FROM mutes WHERE muter = ? AND muted = ?`)
	isBlocked   = sqldb.Define(`SELECT 1 FROM blocks WHERE blocker = ?1 AND blocked = ?2
		UNION ALL SELECT 1 FROM blocks WHERE blocker = ?2 AND blocked = ?1`)
	someBlocks = sqldb.Define(`DELETE FROM blocks WHERE (blocker, blocked) IN (
		SELECT blocker, blocked FROM blocks INDEXED BY blocks_by_blocker WHERE blocker = ? LIMIT ?)`)
	someBlockers = sqldb.Define(`DELETE FROM blocks WHERE (blocker, blocked) IN (
		SELECT blocker, blocked FROM blocks INDEXED BY blocks_by_blocked WHERE blocked = ? LIMIT ?)`)
	someMutes = sqldb.Define(`DELETE FROM mutes WHERE (muter, muted) IN (
		SELECT muter, muted FROM mutes INDEXED BY mutes_by_muter WHERE muter = ? LIMIT ?)`)
	someMuters = sqldb.Define(`DELETE FROM mutes WHERE (muter, muted) IN (
		SELECT muter, muted FROM mutes INDEXED BY mutes_by_muted WHERE muted = ? LIMIT ?)`)
)

// Relations implements social.Graph.
func (s *Store) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.Pair]social.Relation, error) {
		return sqldb.ByKey(tx, relations, scanRelation, hexPairs(pairs, idsOfPair))
	})
}

// People implements social.Graph, in one transaction.
func (s *Store) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	pairs := make([]social.Pair, len(ids))
	for i, other := range ids {
		pairs[i] = social.Pair{Viewer: viewer, Other: other}
	}
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.UserID]social.Person, error) {
		known, err := sqldb.ByKey(tx, relations, scanRelation, hexPairs(pairs, idsOfPair))
		if err != nil {
			return nil, err
		}
		users, err := readUsers(tx, ids)
		people := make(map[social.UserID]social.Person, len(ids))
		for _, pair := range pairs {
			people[pair.Other] = social.Person{User: users[pair.Other], Relation: known[pair]}
		}
		return people, err
	})
}

func hexPairs[T any](pairs []T, ids func(T) (first, second id.ID)) string {
	var list strings.Builder
	list.WriteByte('[')
	for i, pair := range pairs {
		if i > 0 {
			list.WriteByte(',')
		}
		first, second := ids(pair)
		fmt.Fprintf(&list, `"%x%x"`, first[:], second[:])
	}
	list.WriteByte(']')
	return list.String()
}

func idsOfPair(p social.Pair) (viewer, other id.ID) { return p.Viewer.ID, p.Other.ID }

func scanRelation(scan sqldb.Scan) (pair social.Pair, r social.Relation, err error) {
	var circles string
	err = scan(sqldb.Into(&pair.Viewer.ID), sqldb.Into(&pair.Other.ID), &r.Follows, &r.Mutes, &r.Blocks, &r.BlockedBy, &r.Gone, &r.Away, &circles)
	if err != nil || circles == "" {
		return pair, r, err
	}
	raw, err := hex.DecodeString(circles)
	if err != nil {
		return pair, r, err
	}
	r.Circles, err = sqldb.SplitIDs[social.CircleID](raw)
	return pair, r, err
}

// Followers implements social.Graph.
func (s *Store) Followers(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return sqldb.Pages(ctx, s.db, lists, func(tx sqldb.Reader, list social.List[social.UserID]) ([]social.Edge, error) {
		return readEdges(tx, followers, list.Of, list.Page)
	})
}

// Following implements social.Graph.
func (s *Store) Following(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return sqldb.Pages(ctx, s.db, lists, func(tx sqldb.Reader, list social.List[social.UserID]) ([]social.Edge, error) {
		return readEdges(tx, following, list.Of, list.Page)
	})
}

// Blocked implements social.Graph.
func (s *Store) Blocked(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.Edge, error) { return readEdges(tx, blocksOf, from, p) })
}

// Muted implements social.Graph.
func (s *Store) Muted(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.Edge, error) { return readEdges(tx, mutesOf, from, p) })
}

func readEdges(tx sqldb.Reader, list sqldb.Directed, of social.UserID, p social.Page) ([]social.Edge, error) {
	sp := sqldb.Descending(p)
	found, err := sqldb.All(tx, list.Along(sp), scanEdge, of.Bytes(), sp.Low, sp.High, sp.Limit)
	return sqldb.InListOrder(sp, found), err
}

func scanEdge(scan sqldb.Scan) (e social.Edge, err error) {
	err = scan(sqldb.Into(&e.ID.ID), sqldb.Into(&e.From.ID), sqldb.Into(&e.To.ID))
	return e, err
}

// Block implements social.Graph.
func (s *Store) Block(ctx context.Context, block social.Edge, e social.Event) (bool, error) {
	return s.insertEdge(ctx, insertBlock, block, e, func(tx *eventlog.Tx) error {
		if _, err := leaveAll(tx, block.From, block.To); err != nil {
			return err
		}
		_, err := leaveAll(tx, block.To, block.From)
		return err
	})
}

// Mute implements social.Graph.
func (s *Store) Mute(ctx context.Context, mute social.Edge, e social.Event) (bool, error) {
	return s.insertEdge(ctx, insertMute, mute, e, func(*eventlog.Tx) error { return nil })
}

func (s *Store) insertEdge(ctx context.Context, st *sqldb.Statement, edge social.Edge, e social.Event, then func(*eventlog.Tx) error) (bool, error) {
	inserted := false
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := requireUser(tx, edge.To); err != nil {
			return err
		}
		if err := refuseDeleted(tx, edge.From, social.ErrAccountGone); err != nil {
			return err
		}
		named, err := s.nextID(tx, edge.ID.ID)
		if err != nil {
			return err
		}
		rows, err := tx.Exec(st, edge.From.Bytes(), edge.To.Bytes(), named.Bytes())
		if err != nil || rows == 0 {
			return err
		}
		inserted = true
		if err := then(tx); err != nil {
			return err
		}
		return tx.AppendWith(social.BothChanged(edge.From, edge.To), e)
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

func (s *Store) deleteEdge(ctx context.Context, st *sqldb.Statement, from, to social.UserID, e social.Event) (bool, error) {
	deleted := false
	err := s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(st, from.Bytes(), to.Bytes())
		if err != nil || rows == 0 {
			return err
		}
		deleted = true
		return tx.AppendWith(social.BothChanged(from, to), e)
	})
	return deleted && err == nil, err
}

// isEitherBlocked reports whether either has blocked the other.
func isEitherBlocked(tx sqldb.Reader, one, other social.UserID) (bool, error) {
	return tx.Exists(isBlocked, one.Bytes(), other.Bytes())
}

func cutOtherEdges(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	return sqldb.DeleteSome(tx.Tx, user, someBlocks, someBlockers, someMutes, someMuters)
}
