package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// profileDoc is a document of profiles: what a user has filled in. It lies apart from the user, which every page reads. One
// index over the array finds people by any property; the audience is a part of its keys, so that a search for public values
// meets no others.
type profileDoc struct {
	User       social.UserID     `bson:"_id"`
	Version    int               `bson:"v"`
	Properties []profileValueDoc `bson:"properties"`
}

func (d *profileDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.User.ID)
	case "v":
		r.Int(v, &d.Version)
	case "properties":
		mdb.ReadDocuments(r, v, &d.Properties)
	}
}

func (d *profileDoc) Evolve() error { return known("profiles", d.Version) }

func (d *profileValueDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "k":
		r.ID(v, &d.Property.ID)
	case "a":
		mdb.ReadText(r, v, &d.Visibility)
	case "v":
		if n, ok := v.DoubleOK(); ok {
			d.Value = n
			return
		}
		var text string
		r.Text(v, &text)
		d.Value = text
	case "t":
		r.Text(v, &d.Text)
	}
}

type profileValueDoc struct {
	Property   social.PropertyID `bson:"k"`
	Visibility social.Visibility `bson:"a"`
	Value      any               `bson:"v"`           // what is compared: a string or a double
	Text       string            `bson:"t,omitempty"` // as it was given, where that is another
}

func newProfileValueDoc(v social.ProfileValue) profileValueDoc {
	d := profileValueDoc{Property: v.Property, Visibility: v.Visibility, Value: stored(v.Sought)}
	if v.Sought != v.Value {
		d.Text = v.Value.Text
	}
	return d
}

func stored(v social.PropertyValue) any {
	if v.IsNumber {
		return v.Number
	}
	return v.Text
}

func (d *profileDoc) profile() *social.Profile {
	return &social.Profile{User: d.User, Values: mdb.Map(d.Properties, (*profileValueDoc).value)}
}

func (d *profileValueDoc) value() social.ProfileValue {
	v := social.ProfileValue{Property: d.Property, Visibility: d.Visibility}
	switch stored := d.Value.(type) {
	case float64:
		v.Sought = social.NumberValue(stored)
	case string:
		v.Sought = social.TextValue(stored)
	}
	v.Value = v.Sought
	if d.Text != "" {
		v.Value = social.TextValue(d.Text)
	}
	return v
}

// SetProfileValue implements social.Properties.
func (s *Store) SetProfileValue(ctx context.Context, user social.UserID, v social.ProfileValue, e social.Event) error {
	others := mdb.Doc("$filter", mdb.Doc("input", mdb.Doc("$ifNull", bson.A{"$properties", bson.A{}}),
		"cond", mdb.Doc("$ne", bson.A{"$$this.k", v.Property})))
	return s.db.Write(ctx, "set profile value", []id.ID{user.ID}, func(ctx context.Context) error {
		var p propertyDoc
		if err := mdb.OrNotFound(s.properties.FindOne(ctx, mdb.Doc("_id", v.Property), options.FindOne().SetProjection(mdb.Doc("visibility", 1))).Decode(&p)); err != nil {
			return err
		}
		own := mdb.Doc("$literal", newProfileValueDoc(v)) // what users write is data, also where it begins with a dollar
		if v.Visibility == "" {
			own = mdb.Doc("$mergeObjects", bson.A{own, mdb.Doc("a", storedVisibility(p))})
		}
		set := mdb.Doc("$set", mdb.Doc("v", mdb.FirstVersion, "properties", mdb.Doc("$concatArrays", bson.A{others, bson.A{own}})))
		if _, err := s.profiles.UpdateOne(ctx, mdb.Doc("_id", user), mdb.Pipeline{set}, options.UpdateOne().SetUpsert(true)); err != nil {
			return mdb.OrRetry(err)
		}
		return s.log.Append(ctx, e)
	})
}

// storedVisibility is that of a profile's value of a property, or else of the property.
func storedVisibility(p propertyDoc) bson.D {
	value := mdb.Doc("$first", mdb.Doc("$filter", mdb.Doc("input", "$properties", "cond", mdb.Doc("$eq", bson.A{"$$this.k", p.ID}))))
	return mdb.Doc("$ifNull", bson.A{mdb.Doc("$getField", mdb.Doc("field", "a", "input", value)), p.Visibility})
}

// ClearProfileValue implements social.Properties.
func (s *Store) ClearProfileValue(ctx context.Context, user social.UserID, property social.PropertyID, e social.Event) (cleared bool, err error) {
	err = s.db.Write(ctx, "clear profile value", []id.ID{user.ID}, func(ctx context.Context) error {
		result, err := s.profiles.UpdateOne(ctx, mdb.Doc("_id", user), withoutProperty(property))
		if err != nil {
			return err
		}
		if cleared = result.ModifiedCount > 0; !cleared {
			return nil
		}
		return s.log.Append(ctx, e)
	})
	return cleared && err == nil, err
}

func withoutProperty(property social.PropertyID) bson.D {
	return mdb.Doc("$pull", mdb.Doc("properties", mdb.Doc("k", property)))
}

// Profiles implements social.Properties.
func (s *Store) Profiles(ctx context.Context, users []social.UserID) (map[social.UserID]*social.Profile, error) {
	all := make(map[social.UserID]*social.Profile, len(users))
	err := s.db.Read(ctx, "profiles", func(ctx context.Context) error {
		docs, err := mdb.FindIn[profileDoc](ctx, s.profiles, "_id", users)
		for i := range docs {
			if len(docs[i].Properties) > 0 {
				all[docs[i].User] = docs[i].profile()
			}
		}
		return err
	})
	return all, err
}

// FindProfiles implements social.Properties.
//
// The bounds in the index are given outright: of several conditions on one array the planner would choose for itself which
// bounds it reads between. A multikey index provides no sort by what it has of the array; profiles come in its order, which is
// checked.
func (s *Store) FindProfiles(ctx context.Context, where []social.PropertyCondition, after *social.ProfilePoint, limit int) ([]*social.Profile, error) {
	filter := mdb.Doc("$and", elems(where, mdb.Doc("$eq", social.VisibleToAll)))
	var profiles []*social.Profile
	err := s.db.Read(ctx, "find profiles", func(ctx context.Context) error {
		profiles = nil
		for _, in := range where[0].Intervals {
			if after != nil && (social.ProfilePoint{Value: in.Max, User: lastUser}).Compare(*after) <= 0 {
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

// indexKey is a key of the index byProperty.
func indexKey(property social.PropertyID, value social.PropertyValue, user any) bson.D {
	return mdb.Doc("properties.k", property, "properties.a", social.VisibleToAll, "properties.v", stored(value), "_id", user)
}

// firstBehind is the least key with that value, or behind the point.
func firstBehind(property social.PropertyID, value social.PropertyValue, after *social.ProfilePoint) bson.D {
	if after == nil || after.Value.Compare(value) < 0 {
		return indexKey(property, value, bson.MinKey{})
	}
	next := after.User.ID
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			break
		}
	}
	if next.IsZero() { // no id is greater
		return indexKey(property, after.Value, bson.MaxKey{})
	}
	return indexKey(property, after.Value, social.UserID{ID: next})
}

// lastUser is greater than every user's id.
var lastUser = social.UserID{ID: id.ID(slices.Repeat([]byte{0xff}, 16))}

// elems are a filter for each condition: the profile has a value of that visibility which is sought.
func elems(where []social.PropertyCondition, visibility bson.D) bson.A {
	all := make(bson.A, len(where))
	for i, c := range where {
		all[i] = mdb.Doc("properties", mdb.Doc("$elemMatch", mdb.Doc("k", c.Property, "a", visibility, "v", within(c.Intervals))))
	}
	return all
}

func within(intervals []social.Interval) bson.D {
	if len(intervals) > 1 { // they are points
		return mdb.Doc("$in", mdb.Map(intervals, func(in *social.Interval) any { return stored(in.Min) }))
	}
	return mdb.Doc("$gte", stored(intervals[0].Min), "$lte", stored(intervals[0].Max))
}

// errUnordered says that the database has not read the index in its order, as several shards together do not.
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

// jobForget takes what users have filled in of a property that was removed.
const jobForget jobs.Kind = "forget"

// One job takes values from forgetSize profiles at a time, forgetRounds times, and leaves the rest to another job.
const (
	forgetSize   = 500
	forgetRounds = 20
)

func (s *Store) forgetProperty(ctx context.Context, j *jobs.Job) error {
	for range forgetRounds {
		holders, err := mdb.FindAll[profileDoc](ctx, s.profiles, mdb.Doc("properties", mdb.Doc("$elemMatch", mdb.Doc("k", j.Property))), forgetSize,
			options.Find().SetLimit(forgetSize).SetProjection(mdb.Doc("_id", 1)).SetHint(byProperty))
		if err != nil || len(holders) == 0 {
			return err
		}
		users := mdb.Map(holders, func(d *profileDoc) social.UserID { return d.User })
		if _, err := s.profiles.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(users))), withoutProperty(j.Property)); err != nil {
			return err
		}
	}
	return s.jobs.AddNext(ctx, *j, jobs.Job{Kind: jobForget, Property: j.Property})
}

// propertyDoc is a document of properties: a definition.
type propertyDoc struct {
	ID         social.PropertyID   `bson:"_id"`
	Version    int                 `bson:"v"`
	Key        string              `bson:"key"`
	Label      string              `bson:"label"`
	Type       social.PropertyType `bson:"type"`
	Choices    []string            `bson:"choices,omitempty"`
	Searchable bool                `bson:"searchable"`
	Visibility social.Visibility   `bson:"visibility"`
}

func newPropertyDoc(p *social.Property) propertyDoc {
	return propertyDoc{
		ID: p.ID, Version: mdb.FirstVersion, Key: p.Key, Label: p.Label, Type: p.Type, Choices: p.Choices,
		Searchable: p.Searchable, Visibility: p.Visibility,
	}
}

func (d *propertyDoc) property() *social.Property {
	return &social.Property{
		ID: d.ID, Key: d.Key, Label: d.Label, Type: d.Type, Choices: d.Choices, Searchable: d.Searchable, Visibility: d.Visibility,
	}
}

// InsertProperty implements social.Properties.
func (s *Store) InsertProperty(ctx context.Context, p *social.Property, e social.Event) error {
	return s.db.Write(ctx, "insert property", []id.ID{p.ID.ID}, func(ctx context.Context) error {
		if _, err := s.properties.InsertOne(ctx, newPropertyDoc(p)); err != nil {
			return mdb.OrTaken(err)
		}
		return s.log.Append(ctx, e)
	})
}

// UpdateProperty implements social.Properties.
func (s *Store) UpdateProperty(ctx context.Context, p *social.Property, e social.Event) error {
	change := mdb.Doc("v", mdb.FirstVersion, "label", p.Label, "choices", p.Choices, "searchable", p.Searchable, "visibility", p.Visibility)
	return s.db.Write(ctx, "update property", []id.ID{p.ID.ID}, func(ctx context.Context) error {
		if err := mdb.UpdateOne(ctx, s.properties, mdb.Doc("_id", p.ID), mdb.Doc("$set", change)); err != nil {
			return err
		}
		return s.log.Append(ctx, e)
	})
}

// DeleteProperty implements social.Properties.
func (s *Store) DeleteProperty(ctx context.Context, property social.PropertyID, e social.Event) error {
	err := s.db.Write(ctx, "delete property", []id.ID{property.ID}, func(ctx context.Context) error {
		result, err := s.properties.DeleteOne(ctx, mdb.Doc("_id", property))
		if err != nil {
			return err
		}
		if result.DeletedCount == 0 {
			return social.ErrNotFound
		}
		if err := s.jobs.Add(ctx, jobs.Job{Kind: jobForget, Property: property}); err != nil {
			return err
		}
		return s.log.Append(ctx, e)
	})
	if err == nil {
		s.jobs.Wake()
	}
	return err
}

// Properties implements social.Properties.
func (s *Store) Properties(ctx context.Context) ([]*social.Property, error) {
	var all []*social.Property
	err := s.db.Read(ctx, "properties", func(ctx context.Context) error {
		docs, err := mdb.FindAll[propertyDoc](ctx, s.properties, mdb.Doc(), social.MaxProperties,
			options.Find().SetSort(mdb.Doc("_id", 1)).SetHint("_id_"))
		all = mdb.Map(docs, (*propertyDoc).property)
		return err
	})
	return all, err
}
