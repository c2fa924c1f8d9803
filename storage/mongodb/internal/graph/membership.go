package graph

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// newEdgeDoc is an edge with all its fields. Other readers of edges do not need joined.
type newEdgeDoc struct {
	Edge   Document                 `bson:",inline"`
	Joined map[string]social.EdgeID `bson:"joined,omitempty"` // by the circle's id as text; since version 2
}

// join changes the edge like withCircle.
func (d *newEdgeDoc) join(m social.Membership, edge social.EdgeID, version int) {
	isImplied := d.Edge.isImplied()
	if d.Edge.Follow.IsZero() {
		d.Edge.Follow = edge
		if canImply(m, version) {
			return
		}
	}
	if d.Joined == nil {
		d.Joined = map[string]social.EdgeID{}
	}
	if isImplied {
		builtIn := social.BuiltInCircleID(m.Owner)
		d.Edge.Listed, d.Joined[builtIn.String()] = []social.CircleID{builtIn}, d.Edge.Follow
	}
	d.Edge.Listed = append(d.Edge.Listed, m.Circle)
	d.Joined[m.Circle.String()] = edge
}

// memberDoc is the part of an edge that a list of members reads.
type memberDoc struct {
	Owner, Other social.UserID
	Follow       social.EdgeID // if the follow implies the membership
	Joined       joinedDoc     // otherwise
}

func (d *memberDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "owner":
		r.ID(v, &d.Owner.ID)
	case "other":
		r.ID(v, &d.Other.ID)
	case "follow":
		r.ID(v, &d.Follow.ID)
	case "joined":
		r.Inner(v, &d.Joined)
	}
}

func (d *memberDoc) edge() social.Edge {
	since := d.Joined.Since
	if since.IsZero() {
		since = d.Follow
	}
	return social.Edge{ID: since, From: d.Owner, To: d.Other}
}

// joinedDoc is the part of joined for one circle.
type joinedDoc struct{ Since social.EdgeID }

func (d *joinedDoc) SetField(r *mdb.Reader, _ []byte, v bsoncore.Value) { r.ID(v, &d.Since.ID) }

// Members implements social.Circles.
func (s *Store) Members(ctx context.Context, lists []social.List[social.CircleID]) (members map[social.List[social.CircleID]][]social.Edge, err error) {
	err = s.db.ReadSnapshot(ctx, "members", func(ctx context.Context) error {
		if s.allJoined.Load() {
			members, err = s.mergedMembers(ctx, lists)
		} else {
			members, err = s.sortedMembers(ctx, lists)
		}
		return err
	})
	return members, err
}

// mergedMembers reads the members of each circle from two indexes, with one command: those whose
// edges have the time of joining, and those whose follow implies it, who are in a built-in circle.
// Only a built-in circle has the id of an owner, so other circles have none of the latter.
func (s *Store) mergedMembers(ctx context.Context, lists []social.List[social.CircleID]) (map[social.List[social.CircleID]][]social.Edge, error) {
	queries := make([]mdb.ListQuery, 0, 2*len(lists))
	for _, list := range lists {
		queries = append(queries, memberList(list), impliedList(list))
	}
	pages, err := mdb.ReadLists[memberDoc](ctx, s.edges, queries)
	if err != nil {
		return nil, err
	}
	members := make(map[social.List[social.CircleID]][]social.Edge, len(lists))
	for i, list := range lists {
		both := mdb.Map(slices.Concat(pages[2*i], pages[2*i+1]), (*memberDoc).edge)
		slices.SortFunc(both, func(a, b social.Edge) int { return a.ID.Compare(b.ID.ID) })
		members[list] = mdb.Cut(both, list.Page)
	}
	return members, nil
}

// impliedList lists the members of a built-in circle whose follow implies that they are.
func impliedList(list social.List[social.CircleID]) mdb.ListQuery {
	q := edgeList("owner", social.UserID(list.Of), "follow", byFollower)
	q.Filter, q.Desc, q.Page = append(q.Filter, bson.E{Key: "circles", Value: nil}), false, list.Page
	return q
}

func memberList(list social.List[social.CircleID]) mdb.ListQuery {
	key := joinedKey(list.Of)
	return mdb.ListQuery{
		Filter: bson.D{}, Key: key, Value: mdb.IDKey, Bounds: mdb.Doc("$gt", mdb.ZeroKey), Hint: byJoined, Page: list.Page,
		Project: mdb.Doc("_id", 0, "owner", 1, "other", 1, key, 1),
	}
}

// membersOf matches the edges to the members of a circle, and returns the index that finds them.
// Edges of version 1 and implied memberships are missing in the one that lists members: where there
// may be any, it is the index of everyone the owner follows.
func (s *Store) membersOf(owner social.UserID, circle social.CircleID) (filter bson.D, hint string) {
	own := append(mdb.Doc("owner", owner), having(owner, circle)...)
	if s.allJoined.Load() && circle != social.BuiltInCircleID(owner) {
		return append(own, bson.E{Key: joinedKey(circle), Value: mdb.Doc("$gt", mdb.ZeroKey)}), byJoined
	}
	return own, byFollower
}

// sortedMembers reads whole circles and sorts them. It is needed while there are edges of version
// 1. For these it uses the beginning of the follow, as the upgrade does.
func (s *Store) sortedMembers(ctx context.Context, lists []social.List[social.CircleID]) (map[social.List[social.CircleID]][]social.Edge, error) {
	members := make(map[social.List[social.CircleID]][]social.Edge, len(lists))
	circles := mdb.Map(lists, func(l *social.List[social.CircleID]) social.CircleID { return l.Of })
	owners, err := s.circleOwners(ctx, mdb.Doc("_id", mdb.Doc("$in", circles)), len(circles))
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		q := memberList(list)
		filter, hint := s.membersOf(owners[list.Of], list.Of)
		since := mdb.Doc("$ifNull", bson.A{"$" + q.Key, "$follow"})
		docs, err := mdb.AggregateAll[memberDoc](ctx, s.edges, bson.A{
			mdb.Doc("$match", filter), mdb.Doc("$project", mdb.Doc("_id", 0, "owner", 1, "other", 1, q.Key, since)),
			mdb.Doc("$match", q.Match()), mdb.Doc("$sort", q.Sort()), mdb.Doc("$limit", list.Limit),
		}, list.Limit, options.Aggregate().SetHint(hint))
		if err != nil {
			return nil, err
		}
		if list.Last {
			slices.Reverse(docs)
		}
		members[list] = mdb.Map(docs, (*memberDoc).edge)
	}
	return members, nil
}

// FindJoined determines, when the store is opened, whether all edges have the times of joining
// circles. reached are the versions that all documents have reached.
func (s *Store) FindJoined(ctx context.Context, reached cluster.Versions) error {
	s.NoteUpgraded(reached)
	if s.allJoined.Load() || s.writes("edges") < joinedVersion {
		return nil
	}
	return s.db.Read(ctx, "members", func(ctx context.Context) error {
		has, err := mdb.HasDocuments(ctx, s.edges)
		s.allJoined.Store(err == nil && !has)
		return err
	})
}

// NoteUpgraded records the versions that all documents have reached.
func (s *Store) NoteUpgraded(reached cluster.Versions) {
	if reached.Of("edges") >= joinedVersion {
		s.allJoined.Store(true)
	}
}
