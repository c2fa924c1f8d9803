package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// circleDoc is a document of circles. Who is in them stands on the edges.
type circleDoc struct {
	ID        social.CircleID `bson:"_id"`
	Version   int             `bson:"v"`
	Owner     social.UserID   `bson:"owner"`
	Name      string          `bson:"name"`
	NameKey   string          `bson:"nameKey"` // the same for names that differ in case alone
	IsDefault bool            `bson:"isDefault,omitempty"`
	Members   int             `bson:"members"`
}

func (d *circleDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "owner":
		r.ID(v, &d.Owner.ID)
	case "name":
		r.Text(v, &d.Name)
	case "nameKey":
		r.Text(v, &d.NameKey)
	case "isDefault":
		r.Bool(v, &d.IsDefault)
	case "members":
		r.Int(v, &d.Members)
	}
}

func (d *circleDoc) Evolve() error { return known("circles", d.Version) }

func newCircleDoc(c *social.Circle) circleDoc {
	return circleDoc{
		ID: c.ID, Version: mdb.FirstVersion, Owner: c.Owner, Name: c.Name, NameKey: social.NameKey(c.Name),
		IsDefault: c.IsDefault, Members: c.MembersCount,
	}
}

func (d *circleDoc) circle() *social.Circle {
	return &social.Circle{ID: d.ID, Owner: d.Owner, Name: d.Name, IsDefault: d.IsDefault, MembersCount: d.Members}
}

// InsertCircle implements social.Circles.
func (s *Store) InsertCircle(ctx context.Context, c *social.Circle, e social.Event) error {
	stored := *c
	err := s.db.Write(ctx, "insert circle", []id.ID{c.Owner.ID}, func(ctx context.Context) (err error) {
		if c.ID.IsZero() {
			if stored.ID, err = s.nextCircle(ctx, c.Owner); err != nil {
				return err
			}
			e.Circle = stored.ID
		}
		if _, err := s.circles.InsertOne(ctx, newCircleDoc(&stored)); err != nil {
			return mdb.OrTaken(err)
		}
		return s.log.Append(ctx, e)
	})
	if err == nil {
		c.ID = stored.ID
	}
	return err
}

// nextCircle is the id of a new circle, behind those that its owner has. ErrAccountGone: there is no such owner.
func (s *Store) nextCircle(ctx context.Context, owner social.UserID) (social.CircleID, error) {
	var last circleDoc
	err := s.circles.FindOne(ctx, mdb.Doc("owner", owner), options.FindOne().SetSort(mdb.Doc("_id", -1)).SetHint(byOwnerID).
		SetProjection(mdb.Doc("_id", 1))).Decode(&last)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return social.CircleID{}, err
	}
	serial, err := serials.Next(ctx, s.users, owner, last.ID.Serial(), 1, false)
	if errors.Is(err, social.ErrNotFound) {
		err = social.ErrAccountGone
	}
	return social.CircleID{ID: id.WithSerial(serial)}, err
}

// RenameCircle implements social.Circles.
func (s *Store) RenameCircle(ctx context.Context, circle social.CircleID, name string, e social.Event) error {
	change := mdb.Doc("$set", mdb.Doc("name", name, "nameKey", social.NameKey(name)))
	return s.db.Write(ctx, "rename circle", []id.ID{circle.ID}, func(ctx context.Context) error {
		if err := mdb.UpdateOne(ctx, s.circles, mdb.Doc("_id", circle), change); err != nil {
			return mdb.OrTaken(err)
		}
		return s.log.Append(ctx, e)
	})
}

// DeleteCircle implements social.Circles.
func (s *Store) DeleteCircle(ctx context.Context, circle social.CircleID, e social.Event) error {
	return s.db.Write(ctx, "delete circle", []id.ID{circle.ID}, func(ctx context.Context) error {
		var d circleDoc
		if err := mdb.OrNotFound(s.circles.FindOne(ctx, mdb.Doc("_id", circle)).Decode(&d)); err != nil {
			return err
		}
		// Its owner is the shard key. Whoever else removes or changes the circle meanwhile is in conflict.
		if _, err := s.circles.DeleteOne(ctx, mdb.Doc("_id", circle, "owner", d.Owner)); err != nil {
			return err
		}
		if err := s.emptyCircle(ctx, d.Owner, circle); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.AroundChanged(d.Owner), e)
	})
}

// emptyCircle takes everybody out of a circle, and ends the follows that rested on it alone.
func (s *Store) emptyCircle(ctx context.Context, owner social.UserID, circle social.CircleID) error {
	members := mdb.Doc("owner", owner, "circles", circle)
	edges, err := mdb.FindAll[edgeDoc](ctx, s.edges, members, mdb.InBatch,
		options.Find().SetProjection(mdb.Doc("_id", 0, "owner", 1, "other", 1, "follow", 1, "circles", 1)).SetHint(byMember))
	if err != nil {
		return err
	}
	var ended []social.UserID
	for i := range edges {
		if edges[i].leave(circle); edges[i].Follow.IsZero() {
			ended = append(ended, edges[i].Other)
		}
	}
	if err := s.endFollows(ctx, owner, ended); err != nil {
		return err
	}
	if err := s.graph.followsChanged(ctx, edges...); err != nil {
		return err
	}
	_, err = s.edges.UpdateMany(ctx, members, withoutCircle(circle))
	return err
}

// endFollows counts the ends of the owner's follows of others.
func (s *Store) endFollows(ctx context.Context, owner social.UserID, others []social.UserID) error {
	if len(others) == 0 {
		return nil
	}
	if err := mdb.UpdateOne(ctx, s.users, mdb.Doc("_id", owner), mdb.Doc("$inc", mdb.Doc("following", -len(others)))); err != nil {
		return err
	}
	if _, err := s.users.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", others)), mdb.Doc("$inc", mdb.Doc("followers", -1))); err != nil {
		return err
	}
	if err := s.log.Note(ctx, social.UsersChanged(others...)); err != nil {
		return err
	}
	return s.feeds.FollowsChanged(ctx, owner)
}

// Circles implements social.Circles.
func (s *Store) Circles(ctx context.Context, ids []social.CircleID) (map[social.CircleID]*social.Circle, error) {
	all := make(map[social.CircleID]*social.Circle, len(ids))
	err := s.db.Read(ctx, "circles", func(ctx context.Context) error {
		docs, err := mdb.FindIn[circleDoc](ctx, s.circles, "_id", ids)
		for i := range docs {
			all[docs[i].ID] = docs[i].circle()
		}
		return err
	})
	return all, err
}

// CirclesOf implements social.Circles.
func (s *Store) CirclesOf(ctx context.Context, owner social.UserID, p social.Page) (circles []*social.Circle, err error) {
	q := mdb.ListQuery{Filter: mdb.Doc("owner", owner), Key: "_id", Value: mdb.IDKey, Hint: byOwnerID, Page: p}
	err = s.db.Read(ctx, "circles of", func(ctx context.Context) error {
		docs, err := mdb.ReadList[circleDoc](ctx, s.circles, q)
		circles = mdb.Map(docs, (*circleDoc).circle)
		return err
	})
	return circles, err
}

// AddToCircle implements social.Circles.
func (s *Store) AddToCircle(ctx context.Context, m social.Membership, edge social.EdgeID, e social.Event) (added bool, err error) {
	hot := []id.ID{m.Owner.ID, m.Member.ID}
	err = s.db.Write(ctx, "add to circle", hot, func(ctx context.Context) error {
		added = false
		edge, err := s.followID(ctx, edge, m.Owner, m.Member)
		if err != nil {
			return err
		}
		before, err := s.changeEdge(ctx, m.Owner, m.Member, withCircle(m.Circle, edge))
		switch {
		case err != nil:
			return err
		case !before.Block.IsZero() || before.BlockedBy:
			return social.ErrBlocked
		case before.isIn(m.Circle):
			return nil
		}
		added = true
		if err := s.graph.followsChanged(ctx, before.joined(m, edge)); err != nil {
			return err
		}
		return s.countMember(ctx, m, before.Follow.IsZero(), e)
	})
	return added && err == nil, err
}

// countMember counts a new membership, and the follow if that is new too.
func (s *Store) countMember(ctx context.Context, m social.Membership, isFollow bool, e social.Event) error {
	filter := mdb.Doc("_id", m.Circle, "owner", m.Owner)
	if err := mdb.UpdateOne(ctx, s.circles, filter, mdb.Doc("$inc", mdb.Doc("members", 1))); err != nil {
		return err
	}
	events := []social.Event{e}
	if isFollow {
		if err := s.countFollow(ctx, m.Owner, m.Member, 1); err != nil {
			return err
		}
		events = append(events, social.NewFollowed(m))
	}
	return s.log.AppendWith(ctx, social.BothChanged(m.Owner, m.Member), events...)
}

// countFollow adds n to what the two users count, and changes the owner's feed. ErrNotFound: there is no such user.
func (s *Store) countFollow(ctx context.Context, owner, other social.UserID, n int) error {
	err := mdb.Increment(ctx, s.users, map[social.UserID]bson.D{owner: mdb.Doc("following", n), other: mdb.Doc("followers", n)})
	if err != nil {
		return err
	}
	return s.feeds.FollowsChanged(ctx, owner)
}

// RemoveFromCircle implements social.Circles.
func (s *Store) RemoveFromCircle(ctx context.Context, m social.Membership, e social.Event) (removed bool, err error) {
	hot := []id.ID{m.Owner.ID, m.Member.ID}
	err = s.db.Write(ctx, "remove from circle", hot, func(ctx context.Context) error {
		filter := append(edgeKey(m.Owner, m.Member), bson.E{Key: "circles", Value: m.Circle})
		before, err := s.updateEdge(ctx, filter, withoutCircle(m.Circle))
		if removed = before != nil; err != nil || !removed {
			return err
		}
		isLast := len(before.Circles) == 1
		before.leave(m.Circle)
		if err := s.graph.followsChanged(ctx, *before); err != nil {
			return err
		}
		return s.uncount(ctx, m.Owner, m.Member, []social.CircleID{m.Circle}, isLast, e)
	})
	return removed && err == nil, err
}

// Unfollow implements social.Circles.
func (s *Store) Unfollow(ctx context.Context, owner, member social.UserID, e social.Event) (unfollowed bool, err error) {
	err = s.db.Write(ctx, "unfollow", []id.ID{owner.ID, member.ID}, func(ctx context.Context) error {
		filter := append(edgeKey(owner, member), bson.E{Key: "follow", Value: mdb.Doc("$exists", true)})
		before, err := s.updateEdge(ctx, filter, mdb.Doc("$unset", mdb.Doc("follow", 1, "circles", 1, "joined", 1)))
		if unfollowed = before != nil; err != nil || !unfollowed {
			return err
		}
		if err := s.graph.followsChanged(ctx, ended(*before)...); err != nil {
			return err
		}
		return s.uncount(ctx, owner, member, before.Circles, true, e)
	})
	return unfollowed && err == nil, err
}

// uncountMembers counts a member less in each of the circles, which are the owners'.
func (s *Store) uncountMembers(ctx context.Context, circles []social.CircleID, owners ...social.UserID) error {
	_, err := s.circles.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", circles), "owner", mdb.Doc("$in", owners)), mdb.Doc("$inc", mdb.Doc("members", -1)))
	return err
}

// uncount counts memberships that ended, and the follow if that ended too.
func (s *Store) uncount(ctx context.Context, owner, member social.UserID, circles []social.CircleID, isFollow bool, e social.Event) error {
	if err := s.uncountMembers(ctx, circles, owner); err != nil {
		return err
	}
	if isFollow {
		if err := s.countFollow(ctx, owner, member, -1); err != nil {
			return err
		}
	}
	return s.log.AppendWith(ctx, social.BothChanged(owner, member), e)
}
