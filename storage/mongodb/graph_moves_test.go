package mongodb_test

import (
	"sync"
	"testing"

	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/storagetest"
)

// TestModelWhileGraphMoves plays the model's histories over two servers, with migrations of the
// follower graph between their steps.
func TestModelWhileGraphMoves(t *testing.T) {
	t.Parallel()
	stores := twoStores(t, mongodb.Options{})
	storagetest.RunModel(t, func(*testing.T) storage.Store { return storagetest.Several(stores...) }, 4,
		migrations(mongodb.MigrateGraph, stores, mongodb.GraphReverse, mongodb.GraphTwo))
}

// moveGraph moves the follower graph. No copy may differ.
func (w *town) moveGraph(to string, goal mongodb.Goal) {
	w.t.Helper()
	w.ok(w.Migrate(w.ctx, mongodb.Migration{Subject: mongodb.MigrateGraph, To: to, Goal: goal, Progress: func(s mongodb.MigrationState) {
		if s.Fixed > 0 {
			w.t.Errorf("%d copies differed", s.Fixed)
		}
	}}))
}

// TestTheGraphMovesWhilePeopleFollow moves the graph to copies and back over two servers, while
// people follow, unfollow, block and change circles. Both layouts and all counts must agree at
// every stop.
func TestTheGraphMovesWhilePeopleFollow(t *testing.T) {
	t.Parallel()
	one, two := twoTowns(t, mongodb.Options{})
	all := one.people(8)
	one.follow(all[7], all[:1]) // so that at least one follow remains
	churned := all[:7]
	quietly := func(move func()) {
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for _, w := range []*town{one, two, one, two} {
			writers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						churn(w, churned)
					}
				}
			})
		}
		move()
		close(stop)
		writers.Wait()
		checkGraph(one, all)
		checkCopies(two)
	}
	for range 2 {
		quietly(func() { one.moveGraph(mongodb.GraphTwo, mongodb.GoalSwitch) })
		quietly(func() { two.moveGraph("", mongodb.GoalBackOut) })
		quietly(func() { two.moveGraph(mongodb.GraphTwo, mongodb.GoalFinish) })
		quietly(func() { one.moveGraph(mongodb.GraphReverse, mongodb.GoalSwitch) })
		quietly(func() { two.moveGraph("", mongodb.GoalFinish) })
	}
}

// TestManyFollowersMove copies and compares more followers than one page holds, and finds copies
// that differ.
func TestManyFollowersMove(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownAlone(t, r, brisk(mongodb.Options{}))
	people := w.people(1 + 2*mongodb.FollowersTogether + 7)
	star, fans := people[0], people[1:]
	w.fill(star, fans)
	r.take()
	w.moveGraph(mongodb.GraphTwo, mongodb.GoalSwitch)
	explainAll(t, r.take(), 9)
	checkCopies(w)
	w.moveGraph("", mongodb.GoalBackOut)
	w.moveGraph(mongodb.GraphTwo, mongodb.GoalFinish)
	checkCopies(w)
	lost, fixed := w.SpoilCopies(t, star.User.ID), 0
	w.ok(w.Migrate(w.ctx, mongodb.Migration{
		Subject: mongodb.MigrateGraph, To: mongodb.GraphReverse, Goal: mongodb.GoalSwitch,
		Progress: func(s mongodb.MigrationState) { fixed = s.Fixed },
	}))
	if fixed != lost {
		t.Errorf("%d copies were repaired, want %d", fixed, lost)
	}
	w.ok(w.Migrate(w.ctx, mongodb.Migration{Subject: mongodb.MigrateGraph, Goal: mongodb.GoalBackOut}))
	checkCopies(w)
}

// fill makes all fans follow the star.
func (w *town) fill(star social.NewUser, fans []social.NewUser) {
	w.t.Helper()
	memberships := make([]social.Membership, len(fans))
	edges := make([]social.EdgeID, len(fans))
	for i, fan := range fans {
		memberships[i] = social.Membership{Circle: fan.Following.ID, Owner: fan.User.ID, Member: star.User.ID}
		edges[i] = edge(star.User.ID, star.User.ID).ID
	}
	_, err := w.ImportMemberships(w.ctx, memberships, edges)
	w.ok(err)
}
