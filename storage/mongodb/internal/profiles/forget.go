package profiles

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// JobForget removes the values of a property that was removed.
const JobForget jobs.Kind = "forget"

// One job takes values from forgetSize profiles at a time, forgetRounds times, and leaves the rest
// to another job.
const (
	forgetSize   = 500
	forgetRounds = 20
)

// Do makes an attempt at JobForget.
func (s *Store) Do(ctx context.Context, j *jobs.Job) error {
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
	return s.jobs.AddNext(ctx, *j, jobs.Job{Kind: JobForget, Property: j.Property})
}
