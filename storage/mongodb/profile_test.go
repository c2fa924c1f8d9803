package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/profiles"
)

// Forget runs the job for a property that was removed.
func (s *Store) Forget(ctx context.Context, property social.PropertyID) error {
	return s.profiles.Do(ctx, &jobs.Job{Kind: profiles.JobForget, Property: property})
}

// FillProfiles stores the profiles of n users, as fast as possible.
func (s *Store) FillProfiles(ctx context.Context, n int, values func(i int) []social.ProfileValue) error {
	docs := make([]bson.D, n)
	for i := range docs {
		docs[i] = mdb.Doc("_id", social.UserID{ID: id.New()}, "v", mdb.FirstVersion, "properties", mdb.Map(values(i), profileValue))
	}
	_, err := collectionOf(s, "profiles").InsertMany(ctx, docs)
	return err
}

// profileValue returns the stored form of a value that is compared as it was entered.
func profileValue(v *social.ProfileValue) bson.D {
	sought := any(v.Sought.Text)
	if v.Sought.IsNumber {
		sought = v.Sought.Number
	}
	return mdb.Doc("k", v.Property, "a", v.Visibility, "v", sought)
}
