package profiles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// FindProfiles implements social.Properties.
//
// It gives the index bounds explicitly (min and max), because with several conditions on one array
// the planner could choose the bounds of any of them. A multikey index can't provide a sort by
// fields of the array, so the query does not sort: it relies on the order of the index, and checks
// it.
func (s *Store) FindProfiles(ctx context.Context, where []social.PropertyCondition, after *social.ProfilePoint, limit int) ([]*social.Profile, error) {
	filter := mdb.Doc("$and", elems(where, mdb.Doc("$eq", social.VisibleToAll)))
	var profiles []*social.Profile
	err := s.db.Read(ctx, "find profiles", func(ctx context.Context) error {
		profiles = nil
		for _, in := range where[0].Intervals {
			if after != nil && (social.ProfilePoint{Value: in.Max, User: social.UserID{ID: mdb.LastID}}).Compare(*after) <= 0 {
				continue
			}
			docs, err := mdb.FindAll[profileDoc](ctx, s.profiles, filter, limit, options.Find().SetHint(byProperty).SetLimit(int64(limit-len(profiles))).
				SetMin(firstBehind(where[0].Property, in.Min, after)).SetMax(indexKey(where[0].Property, in.Max, bson.MaxKey{})))
			if err != nil {
				return err
			}
			if profiles = append(profiles, mdb.Map(docs, (*profileDoc).profile)...); len(profiles) == limit {
				break
			}
		}
		return checkOrder(profiles, where[0].Property)
	})
	return profiles, err
}

// indexKey returns a key of the index byProperty.
func indexKey(property social.PropertyID, value social.PropertyValue, user any) bson.D {
	return mdb.Doc("properties.k", property, "properties.a", social.VisibleToAll, "properties.v", stored(value), "_id", user)
}

// firstBehind returns the smallest key with that value, or the smallest after the point.
func firstBehind(property social.PropertyID, value social.PropertyValue, after *social.ProfilePoint) bson.D {
	if after == nil || after.Value.Compare(value) < 0 {
		return indexKey(property, value, bson.MinKey{})
	}
	next := mdb.NextID(after.User.ID)
	if next.IsZero() { // no id is greater
		return indexKey(property, after.Value, bson.MaxKey{})
	}
	return indexKey(property, after.Value, social.UserID{ID: next})
}

// elems returns a filter for each condition: the profile has a value that matches and has that
// visibility.
func elems(where []social.PropertyCondition, visibility bson.D) bson.A {
	all := make(bson.A, len(where))
	for i, c := range where {
		all[i] = mdb.Doc("properties", mdb.Doc("$elemMatch", mdb.Doc("k", c.Property, "a", visibility, "v", within(c.Intervals))))
	}
	return all
}

func within(intervals []social.Interval) bson.D {
	if len(intervals) > 1 { // several intervals are always points
		return mdb.Doc("$in", mdb.Map(intervals, func(in *social.Interval) any { return stored(in.Min) }))
	}
	return mdb.Doc("$gte", stored(intervals[0].Min), "$lte", stored(intervals[0].Max))
}

// errUnordered means that the database has not returned profiles in the order of the index, as may
// happen with several shards.
var errUnordered = errors.New("profiles came out of order")

func checkOrder(profiles []*social.Profile, property social.PropertyID) error {
	point := func(p *social.Profile) social.ProfilePoint {
		value, _ := p.Value(property)
		return social.ProfilePoint{Value: value.Sought, User: p.User}
	}
	for i := 1; i < len(profiles); i++ {
		if point(profiles[i-1]).Compare(point(profiles[i])) >= 0 {
			return fmt.Errorf("%w at %d", errUnordered, i)
		}
	}
	return nil
}

// FindProfilesOf implements social.Properties.
func (s *Store) FindProfilesOf(ctx context.Context, users []social.UserID, where []social.PropertyCondition) ([]*social.Profile, error) {
	var profiles []*social.Profile
	shared := mdb.Doc("$in", bson.A{social.VisibleToAll, social.VisibleToCircles})
	conditions := elems(where, shared)
	err := s.db.Read(ctx, "find profiles of users", func(ctx context.Context) error {
		profiles = nil
		for batch := range slices.Chunk(users, mdb.InBatch) {
			filter := mdb.Doc("_id", mdb.Doc("$in", mdb.Values(batch)), "$and", conditions)
			docs, err := mdb.FindAll[profileDoc](ctx, s.profiles, filter, len(batch), options.Find().SetHint("_id_"))
			if err != nil {
				return err
			}
			profiles = append(profiles, mdb.Map(docs, (*profileDoc).profile)...)
		}
		return nil
	})
	return profiles, err
}
