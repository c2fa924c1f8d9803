package graph

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Document is a document of edges: whether owner follows, mutes or blocks other, and whether other
// blocks owner. There is one for each ordered pair. A block writes both documents of a pair, so it
// conflicts with every concurrent change of either.
type Document struct {
	ID        bson.Binary       `bson:"_id"` // mdb.PairKey(owner, other)
	Version   int               `bson:"v"`
	Owner     social.UserID     `bson:"owner"`
	Other     social.UserID     `bson:"other"`
	Follow    social.EdgeID     `bson:"follow,omitempty"`
	Listed    []social.CircleID `bson:"circles,omitempty"` // use Circles, which completes it
	Mute      social.EdgeID     `bson:"mute,omitempty"`
	Block     social.EdgeID     `bson:"block,omitempty"`
	BlockedBy bool              `bson:"blockedBy,omitempty"`
	Gone      bool              `bson:"gone,omitempty"` // only on the edge of a user to themselves: they have deleted their account
	Away      bool              `bson:"away,omitempty"` // the same: their account is away
}

// SetField implements mdb.Document.
func (d *Document) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Binary(v, &d.ID)
	case "v":
		r.Int(v, &d.Version)
	case "owner":
		r.ID(v, &d.Owner.ID)
	case "other":
		r.ID(v, &d.Other.ID)
	case "follow":
		r.ID(v, &d.Follow.ID)
	case "circles":
		mdb.ReadIDs(r, v, &d.Listed)
	case "mute":
		r.ID(v, &d.Mute.ID)
	case "block":
		r.ID(v, &d.Block.ID)
	case "blockedBy":
		r.Bool(v, &d.BlockedBy)
	case "gone":
		r.Bool(v, &d.Gone)
	case "away":
		r.Bool(v, &d.Away)
	}
}

// Evolve implements mdb.Evolving.
func (d *Document) Evolve() error { return readable.Known("edges", d.Version) }

// Circles returns the owner's circles that contain the other. If there is a follow and no circle is
// listed, the other is only in the built-in circle, and has been since the follow began.
func (d *Document) Circles() []social.CircleID {
	if !d.isImplied() {
		return d.Listed
	}
	return []social.CircleID{social.BuiltInCircleID(d.Owner)}
}

// isImplied reports whether the follow alone says that the other is in the built-in circle.
func (d *Document) isImplied() bool { return !d.Follow.IsZero() && len(d.Listed) == 0 }

// ended returns the edges that had a follow, without the follow and its circles.
func ended(before ...Document) []Document {
	var edges []Document
	for _, d := range before {
		if !d.Follow.IsZero() {
			edges = append(edges, Document{Owner: d.Owner, Other: d.Other})
		}
	}
	return edges
}

func (d *Document) isIn(circle social.CircleID) bool { return slices.Contains(d.Circles(), circle) }

// joined returns the edge with a membership added, as withCircle does it.
func (d Document) joined(m social.Membership, edge social.EdgeID) Document {
	d.Owner, d.Other = m.Owner, m.Member
	d.Listed = append(d.Circles(), m.Circle)
	if d.Follow.IsZero() {
		d.Follow = edge
	}
	return d
}

// leave changes the edge like withoutCircle.
func (d *Document) leave(circle social.CircleID) {
	d.Listed = slices.DeleteFunc(d.Circles(), func(c social.CircleID) bool { return c == circle })
	if len(d.Listed) == 0 {
		d.Follow = social.EdgeID{}
	}
}

// joinedKey returns the field of an edge with the id of the membership in a circle, which contains
// the time of joining. There is one field for each circle instead of an array, because an index on
// an array cannot sort.
func joinedKey(circle social.CircleID) string { return "joined." + circle.String() }

// edgeKey matches one edge by its _id and, as writes must, by its shard key.
func edgeKey(owner, other social.UserID) bson.D {
	return mdb.Doc("_id", mdb.PairKey(owner.ID, other.ID), "owner", owner, "other", other)
}

// withCircle adds a circle to an edge, with the id of the membership, and begins the follow if
// there is none. version is that in which edges are written.
func withCircle(m social.Membership, edge social.EdgeID, version int) mdb.Pipeline {
	before, builtIn := circlesOf(m.Owner), social.BuiltInCircleID(m.Owner)
	isIn := mdb.Doc("$in", bson.A{m.Circle, before})
	since := mdb.Doc("$cond", bson.A{isIn, mdb.Doc("$ifNull", bson.A{"$" + joinedKey(m.Circle), "$follow"}), edge})
	circles := mdb.Doc("$cond", bson.A{isIn, before, mdb.Doc("$concatArrays", bson.A{before, bson.A{m.Circle}})})
	joined := mdb.Doc("$mergeObjects", bson.A{
		"$joined", mdb.Doc("$cond", bson.A{isImplied, mdb.Doc(builtIn.String(), "$follow"), nil}), mdb.Doc(m.Circle.String(), since),
	})
	if canImply(m, version) {
		circles = mdb.Doc("$cond", bson.A{isListed, circles, "$$REMOVE"})
		joined = mdb.Doc("$cond", bson.A{isListed, joined, "$$REMOVE"})
	}
	return mdb.Pipeline{mdb.Doc("$set", mdb.Doc("follow", mdb.Doc("$ifNull", bson.A{"$follow", edge}), "circles", circles, "joined", joined))}
}

// canImply reports whether a follow in edges of a version can say by itself that the member is in
// the circle.
func canImply(m social.Membership, version int) bool {
	return version >= impliedVersion && m.Circle == social.BuiltInCircleID(m.Owner)
}

// These are isImplied and Circles in the database.
var (
	isListed  = mdb.Doc("$gt", bson.A{"$circles", nil})
	isImplied = mdb.Doc("$and", bson.A{mdb.Doc("$gt", bson.A{"$follow", nil}), mdb.Doc("$not", isListed)})
)

func circlesOf(owner social.UserID) bson.D {
	implied := mdb.Doc("$cond", bson.A{isImplied, bson.A{social.BuiltInCircleID(owner)}, bson.A{}})
	return mdb.Doc("$ifNull", bson.A{"$circles", implied})
}

// having returns the conditions on the edges of an owner whose other is in a circle.
func having(owner social.UserID, circle social.CircleID) bson.D {
	follow := bson.E{Key: "follow", Value: mdb.Doc("$gt", mdb.ZeroKey)}
	if circle != social.BuiltInCircleID(owner) {
		return bson.D{follow, {Key: "circles", Value: circle}}
	}
	return bson.D{follow, {Key: "circles", Value: mdb.Doc("$in", bson.A{circle, nil})}} // nil: none is listed
}

// withoutCircle removes a circle from an edge, and ends the follow if it was the last one.
func withoutCircle(owner social.UserID, circle social.CircleID) mdb.Pipeline {
	circles := circlesOf(owner)
	isLast := mdb.Doc("$eq", bson.A{circles, bson.A{circle}})
	return mdb.Pipeline{mdb.Doc("$set", mdb.Doc(
		"follow", mdb.Doc("$cond", bson.A{isLast, "$$REMOVE", "$follow"}),
		"circles", mdb.Doc("$cond", bson.A{isLast, "$$REMOVE", mdb.Doc("$setDifference", bson.A{circles, bson.A{circle}})}),
		"joined", mdb.Doc("$cond", bson.A{isLast, "$$REMOVE", "$joined"}),
	)), mdb.Doc("$unset", joinedKey(circle))}
}

// begin sets a field to an edge's id if it has none.
func begin(field string, edge social.EdgeID) bson.E {
	return bson.E{Key: field, Value: mdb.Doc("$ifNull", bson.A{"$" + field, edge})}
}

// edgesAmong matches edges by their _ids and their owners.
func edgesAmong(edges []social.Pair, owners []social.UserID) bson.D {
	keys := mdb.Binaries(len(edges), func(list []byte, i int) []byte {
		return bsoncore.AppendBinary(list, bson.TypeBinaryGeneric, mdb.PairKey(edges[i].Viewer.ID, edges[i].Other.ID).Data)
	})
	return mdb.Doc("_id", mdb.Doc("$in", keys), "owner", mdb.Doc("$in", mdb.Values(owners)))
}
