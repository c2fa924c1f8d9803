package mongodb

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Relations implements social.Graph: both edges of all pairs, and who is gone, in one command.
func (s *Store) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	edges := edgeMap{}
	err := s.db.ReadAcknowledged(ctx, "relations", func(ctx context.Context) error {
		for batch := range slices.Chunk(pairs, mdb.InBatch/2) {
			docs, err := mdb.FindAll[edgeDoc](ctx, s.acknowledged.edges, edgesOf(batch), 4*len(batch), options.Find().SetHint(mdb.Doc("_id", 1)))
			if err != nil {
				return err
			}
			for i := range docs {
				edges.add(&docs[i])
			}
		}
		return nil
	})
	relations := make(map[social.Pair]social.Relation, len(pairs))
	for _, pair := range pairs {
		if r, ok := edges.relation(pair); ok {
			relations[pair] = r
		}
	}
	return relations, err
}

// People implements social.Graph: users, the edges between them and the viewer, and who is gone, in one command.
func (s *Store) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	users, edges := make(map[social.UserID]*social.User, len(ids)), edgeMap{}
	err := s.db.ReadAcknowledged(ctx, "people", func(ctx context.Context) error {
		for batch := range slices.Chunk(ids, mdb.InBatch/2) {
			docs, err := s.usersAndEdges(ctx, viewer, batch)
			if err != nil {
				return err
			}
			for _, d := range docs {
				if d.user != nil {
					users[d.user.ID] = d.user.user()
				} else {
					edges.add(d.edge)
				}
			}
		}
		return nil
	})
	people := make(map[social.UserID]social.Person, len(ids))
	for _, other := range ids {
		relation, ok := edges.relation(social.Pair{Viewer: viewer, Other: other})
		if user := users[other]; ok || user != nil {
			people[other] = social.Person{User: user, Relation: relation}
		}
	}
	return people, err
}

// usersAndEdges reads users and the edges between them and the viewer.
func (s *Store) usersAndEdges(ctx context.Context, viewer social.UserID, ids []social.UserID) ([]personDoc, error) {
	pairs := mdb.Map(ids, func(other *social.UserID) social.Pair { return social.Pair{Viewer: viewer, Other: *other} })
	users := bson.A{mdb.Doc("$match", mdb.Doc("_id", mdb.Doc("$in", mdb.Values(ids))))}
	return mdb.AggregateAll[personDoc](ctx, s.acknowledged.edges, bson.A{
		mdb.Doc("$match", edgesOf(pairs)), mdb.Doc("$unionWith", mdb.Doc("coll", s.users.Name(), "pipeline", users)),
	}, 4*len(ids), options.Aggregate().SetHint(mdb.Doc("_id", 1)))
}

// personDoc is a user, or an edge between one and the viewer; the other is nil.
type personDoc struct {
	user *userDoc
	edge *edgeDoc
}

// SetField finds out by the _id, with which every document begins, which of the two it is.
func (d *personDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if subtype, _, ok := v.BinaryOK(); ok && string(field) == "_id" {
		if subtype == bson.TypeBinaryUUID {
			d.user = &userDoc{}
		} else {
			d.edge = &edgeDoc{}
		}
	}
	switch {
	case d.user != nil:
		d.user.SetField(r, field, v)
	case d.edge != nil:
		d.edge.SetField(r, field, v)
	}
}

func (d *personDoc) Evolve() error {
	switch {
	case d.user != nil:
		return d.user.Evolve()
	case d.edge != nil:
		return d.edge.Evolve()
	}
	return errNoPerson
}

// errNoPerson says that a document does not begin with an id.
var errNoPerson = errors.New("neither a user nor an edge")

// edgeMap has edges by whom they lead from and to.
type edgeMap map[social.Pair]*edgeDoc

func (m edgeMap) add(d *edgeDoc) { m[social.Pair{Viewer: d.Owner, Other: d.Other}] = d }

// relation is what the edges say of a pair; not ok: there is none.
func (m edgeMap) relation(pair social.Pair) (r social.Relation, ok bool) {
	there, back := m[pair], m[social.Pair{Viewer: pair.Other, Other: pair.Viewer}]
	r = relation(there, back)
	r.Gone = m.gone(pair.Viewer) || m.gone(pair.Other)
	return r, there != nil || back != nil || r.Gone
}

// gone says whether a user has deleted their account.
func (m edgeMap) gone(user social.UserID) bool {
	d := m[social.Pair{Viewer: user, Other: user}]
	return d != nil && d.Gone
}

// edgesOf matches both edges of all pairs, and those that say who is gone. A viewer who is nobody has no edges. The owners are the
// shard key; on one shard they exclude nothing.
func edgesOf(pairs []social.Pair) bson.D {
	owners, edges := make([]social.UserID, 0, 2*len(pairs)), make([]social.Pair, 0, 4*len(pairs))
	add := func(user social.UserID) {
		owners, edges = append(owners, user), append(edges, social.Pair{Viewer: user, Other: user})
	}
	for i, p := range pairs {
		add(p.Other)
		if p.Viewer.IsZero() {
			continue
		}
		edges = append(edges, p, social.Pair{Viewer: p.Other, Other: p.Viewer})
		if i == 0 || pairs[i-1].Viewer != p.Viewer { // mostly there is one viewer
			add(p.Viewer)
		}
	}
	return edgesAmong(edges, owners)
}

func keysOf[K comparable, V any](set map[K]V) []K {
	keys := make([]K, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	return keys
}

func relation(there, back *edgeDoc) social.Relation {
	var r social.Relation
	if there != nil {
		r.Follows, r.Mutes = !there.Follow.IsZero(), !there.Mute.IsZero()
		r.Blocks, r.BlockedBy = !there.Block.IsZero(), there.BlockedBy
	}
	if back != nil {
		r.Circles = back.Circles
	}
	return r
}

// edgeList lists the edges with this owner (or other) that have the field, newest first, from the index alone.
func edgeList(side string, user social.UserID, field, hint string) mdb.ListQuery {
	return mdb.ListQuery{
		Filter: mdb.Doc(side, user), Key: field, Value: mdb.IDKey, Bounds: mdb.Doc("$gt", mdb.ZeroKey), Desc: true,
		Project: mdb.Doc("_id", 0, "owner", 1, "other", 1, field, 1), Hint: hint,
	}
}

func (d *edgeDoc) followEdge() social.Edge {
	return social.Edge{ID: d.Follow, From: d.Owner, To: d.Other}
}

func (d *edgeDoc) muteEdge() social.Edge {
	return social.Edge{ID: d.Mute, From: d.Owner, To: d.Other}
}

func (d *edgeDoc) blockEdge() social.Edge {
	return social.Edge{ID: d.Block, From: d.Owner, To: d.Other}
}

// Followers implements social.Graph.
func (s *Store) Followers(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return s.follows(ctx, s.graph.followers(ctx), lists, "other", byFollowed)
}

// Following implements social.Graph.
func (s *Store) Following(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return s.follows(ctx, s.edges, lists, "owner", byFollower)
}

func (s *Store) follows(ctx context.Context, from *mongo.Collection, lists []social.List[social.UserID], side, hint string) (edges map[social.List[social.UserID]][]social.Edge, err error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery { return edgeList(side, list.Of, "follow", hint) }
	err = s.db.ReadSnapshot(ctx, hint, func(ctx context.Context) error {
		edges, err = mdb.Pages(ctx, from, lists, query, (*edgeDoc).followEdge)
		return err
	})
	return edges, err
}

// Blocked implements social.Graph.
func (s *Store) Blocked(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return s.edgePage(ctx, edgeList("owner", from, "block", byBlock), p, (*edgeDoc).blockEdge)
}

// Muted implements social.Graph.
func (s *Store) Muted(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return s.edgePage(ctx, edgeList("owner", from, "mute", byMute), p, (*edgeDoc).muteEdge)
}

func (s *Store) edgePage(ctx context.Context, q mdb.ListQuery, p social.Page, edge func(*edgeDoc) social.Edge) (edges []social.Edge, err error) {
	q.Page = p
	err = s.db.ReadSnapshot(ctx, q.Hint, func(ctx context.Context) error {
		docs, err := mdb.ReadList[edgeDoc](ctx, s.edges, q)
		edges = mdb.Map(docs, edge)
		return err
	})
	return edges, err
}

// Block implements social.Graph.
func (s *Store) Block(ctx context.Context, block social.Edge, e social.Event) (blocked bool, err error) {
	back := mdb.Pipeline{mdb.Doc("$set", mdb.Doc("follow", "$$REMOVE", "circles", "$$REMOVE", "joined", "$$REMOVE", "blockedBy", true))}
	err = s.db.Write(ctx, "block", []id.ID{block.From.ID, block.To.ID}, func(ctx context.Context) error {
		blocked = false
		if err := s.userExists(ctx, block.To); err != nil {
			return err
		}
		edge, err := s.edgeID(ctx, block.ID, block.From)
		if err != nil {
			return err
		}
		there := mdb.Pipeline{mdb.Doc("$set", append(mdb.Doc("follow", "$$REMOVE", "circles", "$$REMOVE", "joined", "$$REMOVE"), begin("block", edge)))}
		first, err := s.changeEdge(ctx, block.From, block.To, there)
		if err != nil || !first.Block.IsZero() {
			return err
		}
		second, err := s.changeEdge(ctx, block.To, block.From, back)
		if err != nil {
			return err
		}
		blocked = true
		if err := s.endBoth(ctx, block, first, second); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.BothChanged(block.From, block.To), e)
	})
	return blocked && err == nil, err
}

// endBoth ends and counts the follows between the two of a new block.
func (s *Store) endBoth(ctx context.Context, block social.Edge, there, back edgeDoc) error {
	circles := slices.Concat(there.Circles, back.Circles)
	if len(circles) == 0 {
		return nil
	}
	if err := s.graph.followsChanged(ctx, ended(there, back)...); err != nil {
		return err
	}
	if err := s.uncountMembers(ctx, circles, block.From, block.To); err != nil {
		return err
	}
	out, in := 0, 0
	if !there.Follow.IsZero() {
		out = -1
	}
	if !back.Follow.IsZero() {
		in = -1
	}
	err := mdb.Increment(ctx, s.users, map[social.UserID]bson.D{
		block.From: mdb.Doc("following", out, "followers", in),
		block.To:   mdb.Doc("followers", out, "following", in),
	})
	if err != nil {
		return err
	}
	return s.feeds.FollowsChanged(ctx, block.From, block.To)
}

func (s *Store) userExists(ctx context.Context, user social.UserID) error {
	return mdb.OrNotFound(s.users.FindOne(ctx, mdb.Doc("_id", user), options.FindOne().SetProjection(mdb.Doc("_id", 1))).Err())
}

// Unblock implements social.Graph.
func (s *Store) Unblock(ctx context.Context, from, to social.UserID, e social.Event) (unblocked bool, err error) {
	err = s.db.Write(ctx, "unblock", []id.ID{from.ID, to.ID}, func(ctx context.Context) error {
		before, err := s.endEdge(ctx, from, to, "block")
		if unblocked = before; err != nil || !unblocked {
			return err
		}
		back := edgeKey(to, from)
		if err := mdb.UpdateOne(ctx, s.edges, back, mdb.Doc("$unset", mdb.Doc("blockedBy", 1))); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.BothChanged(from, to), e)
	})
	return unblocked && err == nil, err
}

// endEdge takes a block or mute off an edge; it says whether there was one.
func (s *Store) endEdge(ctx context.Context, from, to social.UserID, field string) (bool, error) {
	filter := append(edgeKey(from, to), bson.E{Key: field, Value: mdb.Doc("$exists", true)})
	result, err := s.edges.UpdateOne(ctx, filter, mdb.Doc("$unset", mdb.Doc(field, 1)))
	return err == nil && result.ModifiedCount > 0, err
}

// Mute implements social.Graph.
func (s *Store) Mute(ctx context.Context, mute social.Edge, e social.Event) (muted bool, err error) {
	err = s.db.Write(ctx, "mute", []id.ID{mute.From.ID, mute.To.ID}, func(ctx context.Context) error {
		muted = false
		if err := s.userExists(ctx, mute.To); err != nil {
			return err
		}
		edge, err := s.edgeID(ctx, mute.ID, mute.From)
		if err != nil {
			return err
		}
		before, err := s.changeEdge(ctx, mute.From, mute.To, mdb.Pipeline{mdb.Doc("$set", bson.D{begin("mute", edge)})})
		if err != nil || !before.Mute.IsZero() {
			return err
		}
		muted = true
		return s.log.AppendWith(ctx, social.BothChanged(mute.From, mute.To), e)
	})
	return muted && err == nil, err
}

// Unmute implements social.Graph.
func (s *Store) Unmute(ctx context.Context, from, to social.UserID, e social.Event) (unmuted bool, err error) {
	err = s.db.Write(ctx, "unmute", []id.ID{from.ID, to.ID}, func(ctx context.Context) error {
		if unmuted, err = s.endEdge(ctx, from, to, "mute"); err != nil || !unmuted {
			return err
		}
		return s.log.AppendWith(ctx, social.BothChanged(from, to), e)
	})
	return unmuted && err == nil, err
}
