package storagetest

import (
	"context"
	"flag"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

// EnvHistories is the environment variable that sets how many histories each call of [RunModel]
// plays, instead of the number in the test.
const EnvHistories = "PLAZA_MODEL_HISTORIES"

const (
	modelDepth = 4  // levels of a thread: few, so that histories meet the limit
	chapters   = 12 // parts of a history, each of about five operations: rapid draws short lists
)

// RunModel plays random histories of the product through network.Service over the engine, and
// through a plain in-memory model, and compares everything that any viewer could read, after every
// few steps and at the end. rapid draws the histories, and shrinks a failing one; its message says
// how to replay it. With -short it plays a fifth of them.
//
// All histories share one store, which saves creating databases. They are independent: each has
// different people, and everything else belongs to these.
//
// Chores run between the steps.
func RunModel(t *testing.T, open Open, histories int, chores ...Chore) {
	t.Helper()
	known := operations()
	for _, c := range chores {
		known = append(known, c.operation())
	}
	store := openAtWork(t, open)
	if testing.Short() {
		histories = max(1, histories/5)
	}
	if n, err := strconv.Atoi(os.Getenv(EnvHistories)); err == nil && n > 0 {
		histories = n
	}
	drawAtLeast(t, histories)
	played, failed := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		people := rapid.IntRange(2, 6).Draw(rt, "people")
		story := rapid.SliceOfN(rapid.SliceOf(steps(known)), chapters, chapters).Draw(rt, "story")
		if !failed && played >= histories {
			return // never while a failure shrinks
		}
		failed = true // until it has succeeded
		play(t.Context(), rt, store, people, known, slices.Concat(story...))
		failed = false
		played++
	})
	if played < histories {
		t.Errorf("%d histories were played, want %d", played, histories)
	}
}

// drawAtLeast makes rapid draw as many histories as are played, if it would draw fewer.
func drawAtLeast(t *testing.T, histories int) {
	t.Helper()
	known := flag.Lookup("rapid.checks")
	if n, err := strconv.Atoi(known.Value.String()); err != nil || n >= histories {
		return
	}
	if err := known.Value.Set(strconv.Itoa(histories)); err != nil {
		t.Fatal(err)
	}
}

// Chore is work of operators that users must not notice, such as a migration. It continues from one
// history to the next, so a history that fails because of it may not fail again alone.
type Chore struct {
	Name   string
	Weight int // how often it runs: people's operations have 1 to 14
	// Do gets a number from 0 to 59 to choose by.
	Do func(ctx context.Context, n int) error
}

func (c Chore) operation() operation {
	return operation{c.Name, c.Weight, func(h *history, s step) {
		h.tellf("(%s, %d)", c.Name, s.X)
		if err := c.Do(h.ctx, s.X); err != nil {
			h.t.Fatalf("%s: %v", c.Name, err)
		}
	}}
}

// cacheSizes are the sizes of the caches of a history's servers, in bytes: one caches all people,
// one only some, and one none.
var cacheSizes = []int64{1 << 20, 2_000, 0}

// history is one run of steps, in the service and in the model.
type history struct {
	t       *rapid.T
	ctx     context.Context //nolint:containedctx // it lasts as long as the history
	store   storage.Store
	service *network.Service   // of the current step
	servers []*network.Service // each step uses the next one
	m       *model
}

// play plays one history, and compares everything at its end.
func play(ctx context.Context, t *rapid.T, store storage.Store, people int, known []operation, steps []step) {
	h := &history{t: t, ctx: ctx, store: store, m: &model{now: now()}}
	alike := &namesakes{Store: store}
	for _, size := range cacheSizes {
		h.servers = append(h.servers, network.New(alike, network.Options{
			Now: func() time.Time { return h.m.now }, MaxDepth: modelDepth, CacheSize: size,
		}))
	}
	h.service = h.servers[0]
	h.newPeople(people)
	run := map[string]func(*history, step){}
	for _, o := range known {
		run[o.name] = o.run
	}
	for i, s := range steps {
		h.service = h.servers[i%len(h.servers)]
		run[s.Do](h, s)
	}
	for viewer := signedOut; viewer < len(h.m.people); viewer++ {
		if viewer == signedOut || !h.m.people[viewer].gone {
			h.compare(viewer, newDice(len(steps), viewer+1))
		}
	}
}

// newPeople sign up. They do so at the store, because hashing passwords takes longer than
// everything else.
func (h *history) newPeople(n int) {
	for range n {
		u := newUser()
		if err := h.store.InsertUser(h.ctx, u, event(social.EventUserSignedUp)); err != nil {
			h.t.Fatalf("InsertUser: %v", err)
		}
		owner := len(h.m.people)
		h.m.people = append(h.m.people, &modelPerson{id: u.User.ID, handle: u.User.Handle, policy: u.User.WallPolicy})
		h.m.circles = append(h.m.circles, &modelCircle{
			id: u.Following.ID, owner: owner, name: u.Following.Name, builtIn: true,
		})
	}
}

// compareSome compares everything that a random viewer, or a signed-out one, can read.
func (h *history) compareSome(s step) {
	viewer := signedOut
	if n := s.Who % (len(h.m.people) + 1); n > 0 {
		viewer = h.actor(n - 1)
	}
	h.tellf("(compare what %d reads)", viewer)
	h.compare(viewer, newDice(s.X, s.Y))
}
