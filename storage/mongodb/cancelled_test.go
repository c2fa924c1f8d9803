package mongodb

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/internal/testtime"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// TestCancelledTransactionsLockNothing: callers leave while MongoDB has not begun the first command
// of their transaction, which it therefore receives after the abort, and just before the commit.
func TestCancelledTransactionsLockNothing(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithArgs("--setParameter", "enableTestCommands=1"))
	s := openOn(t, server.URI(), Options{})
	admin, totals := s.client().Database("admin"), s.posts.Database().Collection("totals")
	must(totals.InsertOne(t.Context(), mdb.Doc("_id", 1, "total", 0)))(t)
	increment := func(ctx context.Context) error {
		return mdb.UpdateOne(ctx, totals, mdb.Doc("_id", 1), mdb.Doc("$inc", mdb.Doc("total", 1)))
	}
	cancelled := func(when string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", when, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), testtime.Scale(defaultTransactionLife/4))
		defer cancel()
		if err := increment(ctx); err != nil {
			t.Errorf("%s: the next write: %v", when, err)
		}
	}

	ctx, leave := context.WithCancel(t.Context())
	cancelled("before the commit", s.db.Write(ctx, "increment", nil, func(ctx context.Context) error {
		defer leave()
		return increment(ctx)
	}))

	late := mdb.Doc("configureFailPoint", "failCommand", "mode", mdb.Doc("times", 1), "data", mdb.Doc(
		"failCommands", bson.A{"update"}, "namespace", "plaza.totals", "appName", cluster.AppName(s.member.ID),
		"blockConnection", true, "blockTimeMS", 1000))
	ok(t, admin.RunCommand(t.Context(), late).Err())
	running := func() bool {
		pipeline := mdb.Pipeline{mdb.Doc("$currentOp", mdb.Doc()), mdb.Doc("$match", mdb.Doc("active", true, "command.update", "totals"))}
		return must(admin.Aggregate(t.Context(), pipeline))(t).Next(t.Context())
	}
	ctx, leave = context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- s.db.Write(ctx, "increment", nil, increment) }()
	testtime.Eventually(t, "the first command", running)
	leave()
	err := <-left
	testtime.Eventually(t, "the end of the first command", func() bool { return !running() })
	cancelled("during the first command", err)

	var stored struct{ Total int }
	ok(t, totals.FindOne(t.Context(), mdb.Doc("_id", 1)).Decode(&stored))
	if stored.Total != 2 {
		t.Errorf("the total is %d, want 2", stored.Total)
	}
}
