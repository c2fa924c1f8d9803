package graph

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// edgeList lists the edges with this owner (or other) that have the field, newest first, from the
// index alone.
func edgeList(side string, user social.UserID, field, hint string) mdb.ListQuery {
	return mdb.ListQuery{
		Filter: mdb.Doc(side, user), Key: field, Value: mdb.IDKey, Bounds: mdb.Doc("$gt", mdb.ZeroKey), Desc: true,
		Project: mdb.Doc("_id", 0, "owner", 1, "other", 1, field, 1), Hint: hint,
	}
}

func (d *Document) followEdge() social.Edge {
	return social.Edge{ID: d.Follow, From: d.Owner, To: d.Other}
}

func (d *Document) muteEdge() social.Edge {
	return social.Edge{ID: d.Mute, From: d.Owner, To: d.Other}
}

func (d *Document) blockEdge() social.Edge {
	return social.Edge{ID: d.Block, From: d.Owner, To: d.Other}
}

// Followers implements social.Graph.
func (s *Store) Followers(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return s.follows(ctx, s.followers(ctx), lists, "other", byFollowed)
}

// Following implements social.Graph.
func (s *Store) Following(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return s.follows(ctx, s.edges, lists, "owner", byFollower)
}

func (s *Store) follows(ctx context.Context, from *mongo.Collection, lists []social.List[social.UserID], side, hint string) (edges map[social.List[social.UserID]][]social.Edge, err error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery { return edgeList(side, list.Of, "follow", hint) }
	err = s.db.ReadSnapshot(ctx, hint, func(ctx context.Context) error {
		edges, err = mdb.Pages(ctx, from, lists, query, (*Document).followEdge)
		return err
	})
	return edges, err
}

// Blocked implements social.Graph.
func (s *Store) Blocked(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return s.edgePage(ctx, edgeList("owner", from, "block", byBlock), p, (*Document).blockEdge)
}

// Muted implements social.Graph.
func (s *Store) Muted(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return s.edgePage(ctx, edgeList("owner", from, "mute", byMute), p, (*Document).muteEdge)
}

func (s *Store) edgePage(ctx context.Context, q mdb.ListQuery, p social.Page, edge func(*Document) social.Edge) (edges []social.Edge, err error) {
	q.Page = p
	err = s.db.ReadSnapshot(ctx, q.Hint, func(ctx context.Context) error {
		docs, err := mdb.ReadList[Document](ctx, s.edges, q)
		edges = mdb.Map(docs, edge)
		return err
	})
	return edges, err
}

// edgesFrom reads the edges of owners to one user.
func edgesFrom(ctx context.Context, edges *mongo.Collection, owners []social.UserID, other social.UserID) ([]Document, error) {
	pairs := mdb.Map(owners, func(owner *social.UserID) social.Pair { return social.Pair{Viewer: *owner, Other: other} })
	return mdb.FindAll[Document](ctx, edges, edgesAmong(pairs, owners), len(pairs), options.Find().SetHint(mdb.Doc("_id", 1)))
}
