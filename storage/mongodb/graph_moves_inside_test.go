package mongodb

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// FollowersTogether is exported for tests that copy several pages.
const FollowersTogether = graph.FollowersTogether

// SpoilCopies damages the copies of a user's followers in every way: one is missing, one is extra,
// one has other circles. It returns how many follows then differ.
func (s *Store) SpoilCopies(t *testing.T, followed social.UserID) int {
	t.Helper()
	ctx, mirror := t.Context(), s.graph.Layouts()[GraphTwo].Followers()
	own := mdb.Doc("other", followed)
	must(mirror.DeleteOne(ctx, own))(t)
	must(mirror.UpdateOne(ctx, own, mdb.Doc("$set", mdb.Doc("circles", []social.CircleID{{ID: id.New()}}))))(t)
	stray := graph.Document{Owner: social.UserID{ID: id.New()}, Other: followed, Follow: social.EdgeID{ID: id.New()}}
	ok(t, s.graph.Layouts()[GraphTwo].FollowsChanged(ctx, stray))
	return 3
}

// TestAFollowThatEndsWhileItIsCopied: a transaction begins to unfollow, then the follow is copied,
// then the transaction continues. It does not see the copy, so deleting the copy must conflict.
// Otherwise the copy would remain.
func TestAFollowThatEndsWhileItIsCopied(t *testing.T) {
	t.Parallel()
	s, ctx := openAlone(t, Options{Heartbeat: 25 * time.Millisecond}), t.Context()
	author, followers := fans(t, s, 1)
	m := must(s.newMigration(Migration{Subject: MigrateGraph, To: GraphTwo, Goal: GoalSwitch}))(t)
	ok(t, m.Claim(ctx))
	for range 2 { // announced, copying
		ok(t, m.Agree(ctx))
		must(m.Step(ctx))(t)
	}
	ok(t, m.Agree(ctx))
	key := mdb.Doc("_id", mdb.PairKey(followers[0].ID, author.ID), "owner", followers[0], "other", author)
	attempts := 0
	ok(t, s.db.Write(ctx, "unfollow", nil, func(inside context.Context) error {
		attempts++
		ok(t, s.graph.Edges().FindOne(inside, key).Err()) // from here on the transaction's snapshot is fixed
		if attempts == 1 {
			ok(t, s.graphMover().Copy(ctx, m))
		}
		ends := graph.Document{Owner: followers[0], Other: author}
		if _, err := s.graph.Edges().UpdateOne(inside, key, mdb.Doc("$unset", mdb.Doc("follow", 1, "circles", 1))); err != nil {
			return err
		}
		return s.graph.Layouts()[GraphTwo].Filling().FollowsChanged(inside, ends)
	}))
	if attempts != 2 {
		t.Errorf("%d attempts, want 2", attempts)
	}
	if n := must(s.graph.Layouts()[GraphTwo].Followers().CountDocuments(ctx, mdb.Doc("other", author), options.Count()))(t); n != 0 {
		t.Errorf("%d copies of a follow that has ended", n)
	}
	ok(t, m.Drive(ctx))
	ok(t, m.Release(ctx))
	if m.Move().Fixed != 0 {
		t.Errorf("%d copies differed", m.Move().Fixed)
	}
}

// TestAFollowThatEndsBeforeTheCopy: while copying is announced, one server already keeps both
// layouts and copies a new follow. Another one, which does not know yet, ends that follow. Copying
// must remove the copy.
func TestAFollowThatEndsBeforeTheCopy(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	first := openIn(t, uri, Options{Heartbeat: 25 * time.Millisecond})
	second, ctx := openIn(t, uri, Options{Heartbeat: time.Hour}), t.Context()
	author, followers := fans(t, first, 2)
	stays, leaves := followers[0], followers[1]
	m := must(first.newMigration(Migration{Subject: MigrateGraph, To: GraphTwo, Goal: GoalSwitch}))(t)
	ok(t, m.Claim(ctx))
	must(m.Step(ctx))(t) // announced
	second.member.Hurry()
	ok(t, m.Agree(ctx))
	must(m.Step(ctx))(t) // copying
	testtime.Eventually(t, "the first server keeps both layouts", func() bool { return len(first.member.Now().InUse.graph.Indexes()) == 2 })

	friends := &social.Circle{ID: social.CircleID{ID: id.New()}, Owner: leaves, Name: "Friends"}
	ok(t, first.InsertCircle(ctx, friends, social.MaxCircles, anEvent(social.EventCircleCreated)))
	added := social.Membership{Circle: friends.ID, Owner: leaves, Member: author}
	must(first.AddToCircle(ctx, added, social.EdgeID{ID: id.New()}, anEvent(social.EventMemberAdded)))(t)
	must(second.Unfollow(ctx, leaves, author, anEvent(social.EventUnfollowed)))(t)

	second.member.Hurry()
	ok(t, m.Agree(ctx))
	ok(t, first.graphMover().Copy(ctx, m))
	copies := must(mdb.FindAll[graph.Document](ctx, first.graph.Layouts()[GraphTwo].Followers(), mdb.Doc("other", author), 2))(t)
	if len(copies) != 1 || copies[0].Owner != stays {
		t.Errorf("%d followers were copied, want one: %+v", len(copies), copies)
	}
	ok(t, m.Release(ctx))
}

// TestRepairsAreCountedOnce: the transaction that repairs copies conflicts with another change, and
// is retried.
func TestRepairsAreCountedOnce(t *testing.T) {
	t.Parallel()
	var s *Store
	var armed atomic.Bool
	change := func(_ context.Context, e *event.CommandStartedEvent) {
		collection, _ := e.Command.Lookup(e.CommandName).StringValueOK()
		if collection == "followers" && e.CommandName == "update" && armed.CompareAndSwap(true, false) {
			ok(t, s.Change(t.Context(), collection, mdb.Doc(), mdb.Doc("$set", mdb.Doc("touched", true))))
		}
	}
	s = openInside(t, Options{Heartbeat: 10 * time.Millisecond, Monitor: &event.CommandMonitor{Started: change}})
	author, _ := fans(t, s, 4)
	ok(t, s.Migrate(t.Context(), Migration{Subject: MigrateGraph, To: GraphTwo, Goal: GoalFinish}))
	lost, fixed := s.SpoilCopies(t, author), 0
	armed.Store(true)
	ok(t, s.Migrate(t.Context(), Migration{
		Subject: MigrateGraph, To: GraphReverse, Goal: GoalSwitch, Progress: func(s MigrationState) { fixed = s.Fixed },
	}))
	if armed.Load() || fixed != lost {
		t.Errorf("%d copies were repaired, want %d; nothing came in between: %t", fixed, lost, armed.Load())
	}
}
