package mongodb

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// TestInterruptedTransactionsLockNothing: callers leave, or have no time left, just before the
// commit, and while MongoDB has not begun the first command of their transaction. It begins that
// command after the abort.
func TestInterruptedTransactionsLockNothing(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints(), mongotest.WithParameter("transactionLifetimeLimitSeconds=3600"))
	s := openOn(t, server.URI(), Options{})
	admin, totals := s.client().Database("admin"), s.posts.Database().Collection("totals")
	must(totals.InsertOne(t.Context(), mdb.Doc("_id", 1, "total", 0)))(t)
	increment := func(ctx context.Context) error {
		return mdb.UpdateOne(ctx, totals, mdb.Doc("_id", 1), mdb.Doc("$inc", mdb.Doc("total", 1)))
	}
	late := testtime.Scale(time.Second)
	beginLate := func(ctx context.Context) error {
		mongotest.FailCommand(t, s.client(), mdb.Doc("times", 1), mdb.Doc(
			"failCommands", bson.A{"update"}, "namespace", "plaza.totals", "appName", cluster.AppName(s.member.ID),
			"blockConnection", true, "blockTimeMS", late.Milliseconds()))
		err := s.db.Write(ctx, "increment", nil, increment)
		testtime.Eventually(t, "the end of the first command", func() bool {
			running := mdb.Pipeline{mdb.Doc("$currentOp", mdb.Doc()), mdb.Doc("$match", mdb.Doc("active", true, "command.update", "totals"))}
			return !must(admin.Aggregate(t.Context(), running))(t).Next(t.Context())
		})
		return err
	}
	interrupted := map[string]func(ctx context.Context, leave func()) error{
		"before the commit": func(ctx context.Context, leave func()) error {
			return s.db.Write(ctx, "increment", nil, func(ctx context.Context) error {
				defer leave()
				return increment(ctx)
			})
		},
		"the caller leaves during the first command": func(ctx context.Context, leave func()) error {
			defer time.AfterFunc(late/3, leave).Stop()
			return beginLate(ctx)
		},
		"the deadline passes during the first command": func(ctx context.Context, _ func()) error {
			ctx, cancel := context.WithTimeout(ctx, late/3)
			defer cancel()
			return beginLate(ctx)
		},
	}
	for when, call := range interrupted {
		ctx, leave := context.WithCancel(t.Context())
		if err := call(ctx, leave); err == nil {
			t.Errorf("%s: no error", when)
		}
		leave()
		ctx, cancel := context.WithTimeout(t.Context(), testtime.Patience())
		if err := increment(ctx); err != nil {
			t.Errorf("%s: the next write: %v", when, err)
		}
		cancel()
	}
	var stored struct{ Total int }
	ok(t, totals.FindOne(t.Context(), mdb.Doc("_id", 1)).Decode(&stored))
	if stored.Total != len(interrupted) {
		t.Errorf("the total is %d, want one for each write after an interrupted one", stored.Total)
	}
}

// TestSharedWritesAreNotTriedAgainAfterTheirCommit: when a commit fails, nothing is known about the
// writes, so they are not stored by themselves.
func TestSharedWritesAreNotTriedAgainAfterTheirCommit(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	s := openOn(t, server.URI(), Options{})
	totals := s.posts.Database().Collection("totals")
	must(totals.InsertOne(t.Context(), mdb.Doc("_id", 1, "total", 0)))(t)
	tries := 0
	shared := mdb.NewSharedWrites(s.db, "test", func(ctx context.Context, _ []int) error {
		tries++
		return mdb.UpdateOne(ctx, totals, mdb.Doc("_id", 1), mdb.Doc("$inc", mdb.Doc("total", 1)))
	})
	const unknownError = 8
	mongotest.FailCommand(t, s.client(), mdb.Doc("times", 1), mdb.Doc(
		"failCommands", bson.A{"commitTransaction"}, "appName", cluster.AppName(s.member.ID), "errorCode", unknownError))
	if err := shared.Do(t.Context(), id.New(), 1); err == nil || tries != 1 {
		t.Errorf("%v after %d attempts, want an error after one", err, tries)
	}
}
