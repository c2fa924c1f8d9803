package graph

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// ImportMemberships implements social.Importer.
func (s *Store) ImportMemberships(ctx context.Context, memberships []social.Membership, edges []social.EdgeID) (added int, err error) {
	if len(memberships) == 0 {
		return 0, nil
	}
	err = s.db.Write(ctx, "import memberships", nil, func(ctx context.Context) error {
		added = 0
		among, with, err := s.amongThere(ctx, memberships, edges)
		if err != nil || len(among) == 0 {
			return err
		}
		batch, err := s.newImport(ctx, among, with)
		if err != nil {
			return err
		}
		added = batch.added
		return batch.store(ctx, s)
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// amongThere omits memberships whose owner or member has deleted their account, or whose owner has
// no such circle.
func (s *Store) amongThere(ctx context.Context, memberships []social.Membership, edges []social.EdgeID) ([]social.Membership, []social.EdgeID, error) {
	people, circles, having := map[social.UserID]bool{}, map[social.CircleID]bool{}, map[social.UserID]bool{}
	for _, m := range memberships {
		people[m.Owner], people[m.Member] = true, true
		circles[m.Circle], having[m.Owner] = true, true
	}
	gone, err := s.Gone(ctx, keysOf(people))
	if err != nil {
		return nil, nil, err
	}
	own := mdb.Doc("_id", mdb.Doc("$in", keysOf(circles)), "owner", mdb.Doc("$in", keysOf(having)))
	owners, err := s.circleOwners(ctx, own, len(circles))
	if err != nil {
		return nil, nil, err
	}
	among, with := make([]social.Membership, 0, len(memberships)), make([]social.EdgeID, 0, len(edges))
	for i, m := range memberships {
		if !gone[m.Owner] && !gone[m.Member] && owners[m.Circle] == m.Owner {
			among, with = append(among, m), append(with, edges[i])
		}
	}
	return among, with, nil
}

// edgeImport collects what a batch of memberships changes.
type edgeImport struct {
	version int                      // of new edges
	edges   map[[2]id.ID]*newEdgeDoc // in their new state; joined has only what is new
	isNew   map[*newEdgeDoc]bool
	changed map[*newEdgeDoc]bool
	order   []*newEdgeDoc // the new and the changed ones
	users   map[social.UserID]*follows
	members map[social.CircleID]*members
	added   int
}

type follows struct{ followers, following int }

type members struct {
	owner social.UserID
	more  int
}

// newImport reads the existing edges, and adds the memberships to them.
func (s *Store) newImport(ctx context.Context, memberships []social.Membership, ids []social.EdgeID) (*edgeImport, error) {
	docs, err := s.edgesThere(ctx, memberships)
	if err != nil {
		return nil, err
	}
	b := &edgeImport{
		version: s.writes("edges"),
		edges:   map[[2]id.ID]*newEdgeDoc{}, isNew: map[*newEdgeDoc]bool{}, changed: map[*newEdgeDoc]bool{},
		users: map[social.UserID]*follows{}, members: map[social.CircleID]*members{},
	}
	for i := range docs {
		b.edges[[2]id.ID{docs[i].Owner.ID, docs[i].Other.ID}] = &newEdgeDoc{Edge: docs[i]}
	}
	for i, m := range memberships {
		b.add(m, ids[i])
	}
	return b, nil
}

// edgesThere reads the memberships' edges.
func (s *Store) edgesThere(ctx context.Context, memberships []social.Membership) (docs []Document, err error) {
	for batch := range slices.Chunk(memberships, mdb.InBatch) {
		keys, owners := make([]bson.Binary, len(batch)), make(map[social.UserID]bool)
		for i, m := range batch {
			keys[i], owners[m.Owner] = mdb.PairKey(m.Owner.ID, m.Member.ID), true
		}
		filter := mdb.Doc("_id", mdb.Doc("$in", mdb.Values(keys)), "owner", mdb.Doc("$in", mdb.Values(keysOf(owners))))
		some, err := mdb.FindAll[Document](ctx, s.edges, filter, len(keys), options.Find().SetHint(mdb.Doc("_id", 1)))
		if err != nil {
			return nil, err
		}
		docs = append(docs, some...)
	}
	return docs, nil
}

// circleOwners reads the owners of circles, up to most, which filter matches by _id.
func (s *Store) circleOwners(ctx context.Context, filter bson.D, most int) (map[social.CircleID]social.UserID, error) {
	docs, err := mdb.FindAll[circleDoc](ctx, s.circles, filter, most, options.Find().SetProjection(mdb.Doc("owner", 1)).SetHint(mdb.Doc("_id", 1)))
	owners := make(map[social.CircleID]social.UserID, len(docs))
	for i := range docs {
		owners[docs[i].ID] = docs[i].Owner
	}
	return owners, err
}

// add adds one membership to its edge, unless it exists or there is a block.
func (b *edgeImport) add(m social.Membership, edge social.EdgeID) {
	key := [2]id.ID{m.Owner.ID, m.Member.ID}
	d := b.edges[key]
	switch {
	case d == nil:
		d = &newEdgeDoc{Edge: Document{ID: mdb.PairKey(m.Owner.ID, m.Member.ID), Version: b.version, Owner: m.Owner, Other: m.Member}}
		b.edges[key], b.isNew[d] = d, true
	case !d.Edge.Block.IsZero() || d.Edge.BlockedBy || d.Edge.isIn(m.Circle):
		return
	}
	if !b.changed[d] {
		b.changed[d] = true
		b.order = append(b.order, d)
	}
	if d.Edge.Follow.IsZero() {
		b.user(m.Owner).following++
		b.user(m.Member).followers++
	}
	d.join(m, edge, b.version)
	if b.members[m.Circle] == nil {
		b.members[m.Circle] = &members{owner: m.Owner}
	}
	b.members[m.Circle].more++
	b.added++
}

func (b *edgeImport) user(user social.UserID) *follows {
	if b.users[user] == nil {
		b.users[user] = &follows{}
	}
	return b.users[user]
}

// store writes edges and counts. If an edge has changed since it was read, that is a conflict, and
// the batch is retried.
func (b *edgeImport) store(ctx context.Context, s *Store) error {
	var fresh []any
	var changes []mongo.WriteModel
	for _, d := range b.order {
		if b.isNew[d] {
			fresh = append(fresh, d)
			continue
		}
		changes = append(changes, mongo.NewUpdateOneModel().SetFilter(edgeKey(d.Edge.Owner, d.Edge.Other)).SetUpdate(d.update()))
	}
	if len(fresh) > 0 {
		if _, err := s.edges.InsertMany(ctx, fresh, options.InsertMany().SetOrdered(false)); err != nil {
			return mdb.OrRetry(err)
		}
	}
	if len(changes) > 0 {
		if _, err := s.edges.BulkWrite(ctx, changes, options.BulkWrite().SetOrdered(false)); err != nil {
			return err
		}
	}
	if err := s.followsChanged(ctx, mdb.Map(b.order, func(d **newEdgeDoc) Document { return (*d).Edge })...); err != nil {
		return err
	}
	if err := s.log.Note(ctx, b.change()); err != nil {
		return err
	}
	return b.count(ctx, s)
}

// update returns the update of an existing edge. A server of the first version has left the times
// of joining behind if it has ended an earlier follow: an implied membership began with this one.
func (d *newEdgeDoc) update() bson.D {
	if d.Edge.isImplied() {
		return mdb.Doc("$set", mdb.Doc("follow", d.Edge.Follow), "$unset", mdb.Doc("joined", 1))
	}
	set := mdb.Doc("follow", d.Edge.Follow, "circles", d.Edge.Listed)
	for circle, since := range d.Joined {
		set = append(set, bson.E{Key: "joined." + circle, Value: since})
	}
	return mdb.Doc("$set", set)
}

// change returns what the batch changes, for the caches of users and relations.
func (b *edgeImport) change() social.Change {
	c := social.Change{Users: keysOf(b.users)}
	for _, d := range b.order {
		c.Pairs = append(c.Pairs, social.Pair{Viewer: d.Edge.Owner, Other: d.Edge.Other})
	}
	return c
}

func (b *edgeImport) count(ctx context.Context, s *Store) error {
	users := make(map[social.UserID]bson.D, len(b.users))
	var owners []social.UserID
	for user, f := range b.users {
		users[user] = mdb.Doc("followers", f.followers, "following", f.following)
		if f.following > 0 {
			owners = append(owners, user)
		}
	}
	if err := mdb.Increment(ctx, s.users.Collection(), users); err != nil {
		return err
	}
	if err := s.onChange(ctx, owners...); err != nil {
		return err
	}
	return b.countMembers(ctx, s)
}

func (b *edgeImport) countMembers(ctx context.Context, s *Store) error {
	if len(b.members) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, 0, len(b.members))
	for circle, m := range b.members {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", circle, "owner", m.owner)).
			SetUpdate(mdb.Doc("$inc", mdb.Doc("members", m.more))))
	}
	_, err := s.circles.BulkWrite(ctx, models)
	return err
}

func keysOf[K comparable, V any](set map[K]V) []K {
	keys := make([]K, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	return keys
}
