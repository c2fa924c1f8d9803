package mongodb

import (
	"context"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// Forget does the job of a property that was removed.
func (s *Store) Forget(ctx context.Context, property social.PropertyID) error {
	return s.forgetProperty(ctx, &jobs.Job{Kind: jobForget, Property: property})
}

// FillProfiles stores the profiles of n users, as fast as it goes.
func (s *Store) FillProfiles(ctx context.Context, n int, values func(i int) []social.ProfileValue) error {
	docs := make([]profileDoc, n)
	for i := range docs {
		docs[i] = profileDoc{User: social.UserID{ID: id.New()}, Version: mdb.FirstVersion, Properties: mdb.Map(values(i), func(v *social.ProfileValue) profileValueDoc {
			return newProfileValueDoc(*v)
		})}
	}
	_, err := s.profiles.InsertMany(ctx, docs)
	return err
}
