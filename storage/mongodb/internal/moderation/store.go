package moderation

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// Store implements social.Cases and social.Decisions on a database.
type Store struct {
	calls     *mdb.DB
	cases     *mongo.Collection
	reports   *mongo.Collection
	decisions *mongo.Collection
	sequences *mongo.Collection
	writes    func(collection string) int
	carryOut  CarryOut
}

var (
	_ social.Cases     = (*Store)(nil)
	_ social.Decisions = (*Store)(nil)
)

// New returns the store for the cases in a database; calls makes its reads and writes, and writes
// is the version in which documents are written now.
func New(db *mongo.Database, calls *mdb.DB, writes func(collection string) int, carryOut CarryOut) *Store {
	return &Store{
		calls: calls, cases: db.Collection(casesName), reports: db.Collection(reportsName), decisions: db.Collection(decisionsName),
		sequences: db.Collection("sequences"), writes: writes, carryOut: carryOut,
	}
}

// The names of the collections.
const (
	casesName     = "cases"
	reportsName   = "reports"
	decisionsName = "decisions"
)

// The indexes that queries name as hints.
const (
	byState    = "state"
	byAuthor   = "author"
	byOpening  = "opening" // newest first
	byReporter = "reporterByTime"
	byTold     = "told"
)

// caseSequence is the _id of the document of sequences that numbers the openings of cases, and
// decisions.
const caseSequence = "cases"

// Indexes are the declared indexes of each collection.
func (s *Store) Indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{
		s.cases: {
			mdb.Index(byState, mdb.Doc("state", 1, "opened", 1)),
			mdb.Index(byAuthor, mdb.Doc("author", 1)),
		},
		s.reports: {
			mdb.Index(byOpening, mdb.Doc("opened", 1, "at", -1)),
			mdb.Index(byReporter, mdb.Doc("reporter", 1, "at", 1, "_id", 1)),
			mdb.Index(byAuthor, mdb.Doc("author", 1)),
		},
		s.decisions: {mdb.IndexHaving("to", byTold, mdb.Doc("to", 1, "_id", -1))},
	}
}

// ShardKeys are the shard keys of the collections, as those of the other packages.
func ShardKeys() map[string]bson.D {
	return map[string]bson.D{
		casesName:   nil, // few: people report little of what they read
		reportsName: nil, // the same

		decisionsName: nil, // few, made by people
	}
}

// Report implements social.Cases.
func (s *Store) Report(ctx context.Context, r social.Report, maximum int) (reported bool, err error) {
	err = s.calls.Write(ctx, "report", nil, func(ctx context.Context) error {
		serial, err := serials.Next(ctx, s.sequences, caseSequence, 0, 1, true)
		if err != nil {
			return err
		}
		opened, did, err := s.count(ctx, &r, social.CaseID{ID: id.WithSerial(serial)})
		if reported = did; err != nil || !did {
			return err
		}
		others := mdb.Doc("reporter", r.Reporter, "at", mdb.Doc("$gte", r.At.Add(-24*time.Hour)), "_id", mdb.Doc("$ne", reportKey(&r)))
		if err := mdb.MustHaveRoom(ctx, s.reports, others, byReporter, maximum); err != nil {
			return err
		}
		_, err = s.reports.ReplaceOne(ctx, mdb.Doc("_id", reportKey(&r)), newReportDoc(&r, opened), options.Replace().SetUpsert(true))
		return err
	})
	return reported && err == nil, err
}

// count counts a report at its case, which it opens with a new number if it must, and returns the
// number that the case has. False: the reporter is counted already.
func (s *Store) count(ctx context.Context, r *social.Report, next social.CaseID) (opened social.CaseID, did bool, err error) {
	var known caseDoc
	err = mdb.OrNotFound(s.cases.FindOne(ctx, mdb.Doc("_id", r.Subject.Case())).Decode(&known))
	switch {
	case errors.Is(err, social.ErrNotFound):
		_, err = s.cases.InsertOne(ctx, newCaseDoc(r, next, s.writes(casesName)))
		return next, true, err
	case err != nil:
		return next, false, err
	case known.State == social.CaseDecided:
		again := mdb.Doc("state", social.CaseOpen, "opened", next, "reasons", reasonCounts{r.Reason: 1}, "firstAt", r.At, "lastAt", r.At)
		return next, true, mdb.UpdateOne(ctx, s.cases, mdb.Doc("_id", known.ID), mdb.Doc("$set", again))
	}
	mine := mdb.Doc("_id", reportKey(r), "opened", known.Opened)
	err = mdb.OrNotFound(s.reports.FindOne(ctx, mine, options.FindOne().SetProjection(mdb.Doc("_id", 1))).Err())
	if !errors.Is(err, social.ErrNotFound) {
		return next, false, err
	}
	one := mdb.Doc("$inc", mdb.Doc("reasons."+string(r.Reason), 1), "$max", mdb.Doc("lastAt", r.At))
	return known.Opened, true, mdb.UpdateOne(ctx, s.cases, mdb.Doc("_id", known.ID), one)
}

// ReportsBy implements social.Cases. It reads two ranges of the index: the rest of the position's
// moment, and what is after that.
func (s *Store) ReportsBy(ctx context.Context, reporter social.UserID, after social.ReportPosition, limit int) (found []social.Report, err error) {
	behind := social.Report{Subject: social.SubjectOf(social.SubjectUser, after.Case.ID), Reporter: reporter}
	ranges := []bson.D{
		mdb.Doc("reporter", reporter, "at", after.At, "_id", mdb.Doc("$gt", reportKey(&behind))),
		mdb.Doc("reporter", reporter, "at", mdb.Doc("$gt", after.At)),
	}
	err = s.calls.Read(ctx, "reports by a user", func(ctx context.Context) error {
		found = nil
		for _, filter := range ranges {
			left := limit - len(found)
			if left == 0 {
				return nil
			}
			docs, err := mdb.FindAll[reportDoc](ctx, s.reports, filter, left,
				options.Find().SetSort(mdb.Doc("at", 1, "_id", 1)).SetLimit(int64(left)).SetHint(byReporter))
			if err != nil {
				return err
			}
			found = append(found, mdb.Map(docs, (*reportDoc).report)...)
		}
		return nil
	})
	return found, err
}

// Cases implements social.Cases.
func (s *Store) Cases(ctx context.Context, ids []social.CaseID) (map[social.CaseID]*social.Case, error) {
	found := make(map[social.CaseID]*social.Case, len(ids))
	err := s.calls.Read(ctx, "cases", func(ctx context.Context) error {
		docs, err := mdb.FindIn[caseDoc](ctx, s.cases, "_id", ids)
		for i := range docs {
			found[docs[i].ID] = docs[i].toCase()
		}
		return err
	})
	return found, err
}

// CasesIn implements social.Cases.
func (s *Store) CasesIn(ctx context.Context, state social.CaseState, p social.Page) (found []*social.Case, err error) {
	q := mdb.ListQuery{Filter: mdb.Doc("state", state), Key: "opened", Value: mdb.IDKey, Hint: byState, Page: p}
	err = s.calls.Read(ctx, "cases in a state", func(ctx context.Context) error {
		docs, err := mdb.ReadList[caseDoc](ctx, s.cases, q)
		found = mdb.Map(docs, (*caseDoc).toCase)
		return err
	})
	return found, err
}

// NewestReports implements social.Cases.
func (s *Store) NewestReports(ctx context.Context, cases []*social.Case, n int) (map[social.CaseID][]social.Report, error) {
	found := make(map[social.CaseID][]social.Report, len(cases))
	if len(cases) == 0 {
		return found, nil
	}
	queries := make([]mdb.ListQuery, len(cases))
	for i, c := range cases {
		queries[i] = mdb.ListQuery{Filter: mdb.Doc("opened", c.Order), Key: "at", Desc: true, Hint: byOpening, Page: social.Page{Limit: n}}
	}
	err := s.calls.Read(ctx, "newest reports", func(ctx context.Context) error {
		pages, err := mdb.ReadLists[reportDoc](ctx, s.reports, queries)
		for i, docs := range pages {
			found[cases[i].ID] = mdb.Map(docs, (*reportDoc).report)
		}
		return err
	})
	return found, err
}

// forgotten is how many documents one call of Forget removes.
const forgotten = 500

// Forget removes some of the reports by or about a deleted user, or then the cases about them, and
// returns whether there was any.
func (s *Store) Forget(ctx context.Context, user social.UserID) (did bool, err error) {
	for _, f := range []struct {
		from        *mongo.Collection
		field, hint string
	}{{s.reports, "reporter", byReporter}, {s.reports, "author", byAuthor}, {s.cases, "author", byAuthor}} {
		if did, err = s.forget(ctx, f.from, f.field, f.hint, user); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

func (s *Store) forget(ctx context.Context, from *mongo.Collection, field, hint string, user social.UserID) (did bool, err error) {
	err = s.calls.Read(ctx, "forget reports", func(ctx context.Context) error {
		docs, err := mdb.FindAll[bson.M](ctx, from, mdb.Doc(field, user), forgotten,
			options.Find().SetLimit(forgotten).SetHint(hint).SetProjection(mdb.Doc("_id", 1)))
		if did = len(docs) > 0; err != nil || !did {
			return err
		}
		_, err = from.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Map(docs, func(d *bson.M) any { return (*d)["_id"] }))))
		return err
	})
	return did && err == nil, err
}
