package profiles

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// SetProfileValue implements social.Properties.
func (s *Store) SetProfileValue(ctx context.Context, user social.UserID, v social.ProfileValue, e social.Event) error {
	others := mdb.Doc("$filter", mdb.Doc("input", mdb.Doc("$ifNull", bson.A{"$properties", bson.A{}}),
		"cond", mdb.Doc("$ne", bson.A{"$$this.k", v.Property})))
	return s.db.Write(ctx, "set profile value", []id.ID{user.ID}, func(ctx context.Context) error {
		var p propertyDoc
		if err := mdb.OrNotFound(s.properties.FindOne(ctx, mdb.Doc("_id", v.Property), options.FindOne().SetProjection(mdb.Doc("visibility", 1))).Decode(&p)); err != nil {
			return err
		}
		own := mdb.Doc("$literal", newProfileValueDoc(v)) // a value may begin with a dollar sign
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

// storedVisibility returns the visibility of a profile's value, or the property's default if there
// is none.
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
