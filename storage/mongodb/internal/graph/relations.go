package graph

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/users"
)

// Relations implements social.Graph. It reads both edges of all pairs, and who is gone or away, with one
// command.
func (s *Store) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	edges := edgeMap{}
	err := s.db.ReadAcknowledged(ctx, "relations", func(ctx context.Context) error {
		for batch := range slices.Chunk(pairs, mdb.InBatch/2) {
			docs, err := mdb.FindAll[Document](ctx, s.acknowledged, edgesOf(batch), 4*len(batch), options.Find().SetHint(mdb.Doc("_id", 1)))
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

// People implements social.Graph. It reads users, the edges between them and the viewer, and who is
// gone or away, with one command.
func (s *Store) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	accounts, edges := make(map[social.UserID]*social.User, len(ids)), edgeMap{}
	err := s.db.ReadAcknowledged(ctx, "people", func(ctx context.Context) error {
		for batch := range slices.Chunk(ids, mdb.InBatch/2) {
			docs, err := s.usersAndEdges(ctx, viewer, batch)
			if err != nil {
				return err
			}
			for _, d := range docs {
				if d.user != nil {
					accounts[d.user.ID] = d.user.User()
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
		if user := accounts[other]; ok || user != nil {
			people[other] = social.Person{User: user, Relation: relation}
		}
	}
	return people, err
}

// usersAndEdges reads users and the edges between them and the viewer.
func (s *Store) usersAndEdges(ctx context.Context, viewer social.UserID, ids []social.UserID) ([]personDoc, error) {
	pairs := mdb.Map(ids, func(other *social.UserID) social.Pair { return social.Pair{Viewer: viewer, Other: *other} })
	among := bson.A{mdb.Doc("$match", mdb.Doc("_id", mdb.Doc("$in", mdb.Values(ids))))}
	return mdb.AggregateAll[personDoc](ctx, s.acknowledged, bson.A{
		mdb.Doc("$match", edgesOf(pairs)), mdb.Doc("$unionWith", mdb.Doc("coll", s.users.Collection().Name(), "pipeline", among)),
	}, 4*len(ids), options.Aggregate().SetHint(mdb.Doc("_id", 1)))
}

// personDoc is either a user or an edge between a user and the viewer. The other field is nil.
type personDoc struct {
	user *users.Document
	edge *Document
}

// SetField determines which of the two it is from the _id, the first field of every document.
func (d *personDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if subtype, _, ok := v.BinaryOK(); ok && string(field) == "_id" {
		if subtype == bson.TypeBinaryUUID {
			d.user = &users.Document{}
		} else {
			d.edge = &Document{}
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

// errNoPerson means that a document does not begin with an id.
var errNoPerson = errors.New("neither a user nor an edge")

// edgeMap has edges by owner and other.
type edgeMap map[social.Pair]*Document

func (m edgeMap) add(d *Document) { m[social.Pair{Viewer: d.Owner, Other: d.Other}] = d }

// relation returns the relation of a pair. It returns false if there is no edge.
func (m edgeMap) relation(pair social.Pair) (r social.Relation, ok bool) {
	there, back := m[pair], m[social.Pair{Viewer: pair.Other, Other: pair.Viewer}]
	r = relation(there, back)
	viewer, other := m.mark(pair.Viewer), m.mark(pair.Other)
	r.Gone, r.Away = viewer.Gone || other.Gone, viewer.Away || other.Away
	return r, there != nil || back != nil || r.Gone || r.Away
}

// mark returns the edge that says whether a user is gone or away; the zero value: neither.
func (m edgeMap) mark(user social.UserID) Document {
	if d := m[social.Pair{Viewer: user, Other: user}]; d != nil {
		return *d
	}
	return Document{}
}

// edgesOf matches both edges of all pairs, and those that record who is gone or away. A signed-out viewer
// has no edges. The condition on owners is for the shard key, and excludes nothing.
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
		if i == 0 || pairs[i-1].Viewer != p.Viewer { // there is usually one viewer
			add(p.Viewer)
		}
	}
	return edgesAmong(edges, owners)
}

func relation(there, back *Document) social.Relation {
	var r social.Relation
	if there != nil {
		r.Follows, r.Mutes = !there.Follow.IsZero(), !there.Mute.IsZero()
		r.Blocks, r.BlockedBy = !there.Block.IsZero(), there.BlockedBy
	}
	if back != nil {
		r.Circles = back.Circles()
	}
	return r
}
