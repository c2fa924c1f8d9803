package graph

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// InsertCircle implements social.Circles.
func (s *Store) InsertCircle(ctx context.Context, c *social.Circle, maximum int, e social.Event) error {
	stored := *c
	err := s.db.Write(ctx, "insert circle", []id.ID{c.Owner.ID}, func(ctx context.Context) error {
		next, err := s.nextCircle(ctx, c.Owner)
		if err != nil {
			return err
		}
		if c.ID.IsZero() {
			stored.ID, e.Circle = next, next
		}
		if err := mdb.MustHaveRoom(ctx, s.circles, mdb.Doc("owner", c.Owner), byOwnerID, maximum); err != nil {
			return err
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

// nextCircle returns the id of a new circle, greater than those of its owner's other circles. It
// returns ErrAccountGone if there is no such owner.
func (s *Store) nextCircle(ctx context.Context, owner social.UserID) (social.CircleID, error) {
	var last circleDoc
	err := s.circles.FindOne(ctx, mdb.Doc("owner", owner), options.FindOne().SetSort(mdb.Doc("_id", -1)).SetHint(byOwnerID).
		SetProjection(mdb.Doc("_id", 1))).Decode(&last)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return social.CircleID{}, err
	}
	serial, err := serials.Next(ctx, s.users.Collection(), owner, last.ID.Serial(), 1, false)
	return social.CircleID{ID: id.WithSerial(serial)}, mdb.OrGone(err)
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

// removedTogether is how many members of a circle one transaction removes: it takes half a second,
// and must not take ten on a slow machine.
const removedTogether = 1_000

// DeleteCircle implements social.Circles. It removes most members of a large circle before the
// transaction that removes the circle. Only that one is the effect of an idempotency key: after an
// error before it, the client can repeat the request.
func (s *Store) DeleteCircle(ctx context.Context, circle social.CircleID, e social.Event) error {
	found, err := s.Circles(ctx, []social.CircleID{circle})
	if err != nil {
		return err
	}
	if found[circle] == nil {
		return social.ErrNotFound
	}
	for left := found[circle].MembersCount; left > removedTogether; left -= removedTogether {
		part := e // the members of this part may see fewer posts, even if the next part never comes
		part.ID = social.EventID{ID: id.New()}
		if err := s.removeSome(social.WithAttempts(ctx), circle, part); err != nil {
			return err
		}
	}
	return s.deleteRest(ctx, circle, e)
}

// removeSome removes removedTogether members from a circle, or all if it has fewer. Concurrent
// changes of the circle conflict with that.
func (s *Store) removeSome(ctx context.Context, circle social.CircleID, e social.Event) error {
	return s.changeCircle(ctx, circle, e, func(ctx context.Context, d *circleDoc) error {
		removed, err := s.removeMembers(ctx, d, removedTogether)
		if err != nil {
			return err
		}
		return mdb.UpdateOne(ctx, s.circles, d.key(), mdb.Doc("$inc", mdb.Doc("members", -removed)))
	})
}

// deleteRest removes all members from a circle, and the circle. Concurrent changes of the circle
// conflict with that.
func (s *Store) deleteRest(ctx context.Context, circle social.CircleID, e social.Event) error {
	return s.changeCircle(ctx, circle, e, func(ctx context.Context, d *circleDoc) error {
		if _, err := s.circles.DeleteOne(ctx, d.key()); err != nil {
			return err
		}
		_, err := s.removeMembers(ctx, d, 0)
		return err
	})
}

// changeCircle changes a circle and its members in one transaction with an event. ErrNotFound.
func (s *Store) changeCircle(ctx context.Context, circle social.CircleID, e social.Event, change func(context.Context, *circleDoc) error) error {
	return s.db.Write(ctx, "delete circle", []id.ID{circle.ID}, func(ctx context.Context) error {
		var d circleDoc
		if err := mdb.OrNotFound(s.circles.FindOne(ctx, mdb.Doc("_id", circle)).Decode(&d)); err != nil {
			return err
		}
		if err := change(ctx, &d); err != nil {
			return err
		}
		return s.log.AppendWith(ctx, social.AroundChanged(d.Owner), e)
	})
}

// removeMembers removes members from a circle, at most a number of them (0: all), ends the follows
// of those who are in no other circle, and returns how many it has removed.
func (s *Store) removeMembers(ctx context.Context, circle *circleDoc, most int) (int, error) {
	members, hint := s.membersOf(circle.Owner, circle.ID)
	edges, err := mdb.FindAll[Document](ctx, s.edges, members, removedTogether, options.Find().SetLimit(int64(most)).
		SetProjection(mdb.Doc("_id", 0, "owner", 1, "other", 1, "follow", 1, "circles", 1)).SetHint(hint))
	if err != nil || len(edges) == 0 {
		return 0, err
	}
	var pairs []social.Pair
	var ended []social.UserID
	for i := range edges {
		pairs = append(pairs, social.Pair{Viewer: circle.Owner, Other: edges[i].Other})
		if edges[i].leave(circle.ID); edges[i].Follow.IsZero() {
			ended = append(ended, edges[i].Other)
		}
	}
	if err := s.endFollows(ctx, circle.Owner, ended); err != nil {
		return 0, err
	}
	if err := s.followsChanged(ctx, edges...); err != nil {
		return 0, err
	}
	_, err = s.edges.UpdateMany(ctx, edgesAmong(pairs, []social.UserID{circle.Owner}), withoutCircle(circle.Owner, circle.ID),
		options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	return len(edges), err
}

// endFollows updates the counts after the owner's follows of others have ended.
func (s *Store) endFollows(ctx context.Context, owner social.UserID, others []social.UserID) error {
	if len(others) == 0 {
		return nil
	}
	if err := mdb.UpdateOne(ctx, s.users.Collection(), mdb.Doc("_id", owner), mdb.Doc("$inc", mdb.Doc("following", -len(others)))); err != nil {
		return err
	}
	if _, err := s.users.Collection().UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", others)), mdb.Doc("$inc", mdb.Doc("followers", -1))); err != nil {
		return err
	}
	if err := s.log.Note(ctx, social.UsersChanged(others...)); err != nil {
		return err
	}
	return s.onChange(ctx, owner)
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

// AddCircles stores circles with the given ids, as a part of a transaction. It may return ErrTaken.
func (s *Store) AddCircles(ctx context.Context, circles []*social.Circle) error {
	if len(circles) == 0 {
		return nil
	}
	docs := mdb.Map(circles, func(c **social.Circle) circleDoc { return newCircleDoc(*c) })
	_, err := s.circles.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	return mdb.OrTaken(err)
}
