package cache_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/social/cache"
)

// rumours is a store of one user's name and of changes, whose calls a test can hold up.
type rumours struct {
	mu        sync.Mutex
	name      string
	changes   []social.Change
	reads     int
	fault     error
	afterAsk  func() // when Changes has looked, before it returns
	afterRead func() // when read has read, before it returns
}

var (
	rumoured = social.UserID{ID: id.New()}
	listener = social.UserID{ID: id.New()}
)

func (r *rumours) Changes(_ context.Context, since social.ChangePosition) ([]social.Change, social.ChangePosition, error) {
	changes, now, err := r.changesSince(since)
	if do := take(&r.mu, &r.afterAsk); do != nil {
		do()
	}
	return changes, now, err
}

func (r *rumours) changesSince(since social.ChangePosition) ([]social.Change, social.ChangePosition, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := social.ChangePosition{int64(len(r.changes))}
	switch {
	case r.fault != nil:
		return nil, nil, r.fault
	case since == nil:
		return []social.Change{{All: true}}, now, nil
	}
	return slices.Clone(r.changes[since[0]:]), now, nil
}

// take returns what a field has, and empties it.
func take(mu *sync.Mutex, from *func()) func() {
	mu.Lock()
	defer mu.Unlock()
	do := *from
	*from = nil
	return do
}

func (r *rumours) read() string {
	r.mu.Lock()
	r.reads++
	name := r.name
	r.mu.Unlock()
	if do := take(&r.mu, &r.afterRead); do != nil {
		do()
	}
	return name
}

func (r *rumours) rename(name string, change social.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name = name
	r.changes = append(r.changes, change)
}

func (r *rumours) mustHaveRead(t *testing.T, times int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reads != times {
		t.Errorf("the store was read %d times, want %d", r.reads, times)
	}
}

// names is a cache of the store.
type names struct {
	*cache.Cache[social.UserID, string]
	store *rumours
}

func newNames(r *rumours) names {
	return names{store: r, Cache: cache.New(cache.Config[social.UserID, string]{
		Log: r, Size: 1 << 20, Weigh: func(name string) int { return len(name) },
		Named:    func(change *social.Change) []social.UserID { return change.Users },
		IsAround: func(change *social.Change, user social.UserID) bool { return slices.Contains(change.Around, user) },
	})}
}

// lookUp returns the name from memory, or else from the store.
func (n names) lookUp(ctx context.Context) (string, error) {
	if err := n.CatchUp(ctx); err != nil {
		return "", err
	}
	if name, ok := n.Get(rumoured); ok {
		return name, nil
	}
	fill := n.Begin()
	defer fill.End()
	name := n.store.read()
	fill.Add(rumoured, name)
	return name, nil
}

func (n names) mustBe(t *testing.T, want string) {
	t.Helper()
	if got, err := n.lookUp(t.Context()); err != nil || got != want {
		t.Errorf("the name is %q, %v, want %q", got, err, want)
	}
}

func TestAChangeIsReadOnce(t *testing.T) {
	for what, change := range map[string]social.Change{
		"named": social.UsersChanged(rumoured), "around": {Around: []social.UserID{listener, rumoured}}, "all": {All: true},
	} {
		t.Run(what, func(t *testing.T) {
			r := &rumours{name: "before"}
			n := newNames(r)
			for range 3 {
				n.mustBe(t, "before")
			}
			r.mustHaveRead(t, 1)
			r.rename("after", change)
			for range 3 {
				n.mustBe(t, "after")
			}
			r.mustHaveRead(t, 2)
		})
	}
}

// TestOtherChanges: what a change does not concern stays in memory, also if it is being read.
func TestOtherChanges(t *testing.T) {
	r := &rumours{name: "the same"}
	n := newNames(r)
	other := social.Change{Users: []social.UserID{listener}, Around: []social.UserID{listener}}
	r.afterRead = func() {
		r.rename("the same", other)
		if err := n.CatchUp(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		n.mustBe(t, "the same")
		r.rename("the same", other)
	}
	r.mustHaveRead(t, 1)
}

// TestChangesDuringARead: what was read before a change, and arrives after it, is not kept.
func TestChangesDuringARead(t *testing.T) {
	for what, change := range map[string]social.Change{
		"named": social.UsersChanged(rumoured), "around": {Around: []social.UserID{rumoured}}, "all": {All: true},
	} {
		t.Run(what, func(t *testing.T) {
			r := &rumours{name: "before"}
			n := newNames(r)
			r.afterRead = func() {
				r.rename("after", change)
				n.mustBe(t, "after")
			}
			n.mustBe(t, "before") // it began before the change
			n.mustBe(t, "after")
		})
	}
}

// TestChangesDuringAQuestion: a caller who comes while the store is being asked may come after a
// change that the answer does not have, and asks again.
func TestChangesDuringAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rumours{name: "before"}
		n := newNames(r)
		n.mustBe(t, "before")
		answer := make(chan struct{})
		r.afterAsk = func() { <-answer }
		var readers sync.WaitGroup
		readers.Go(func() {
			if _, err := n.lookUp(t.Context()); err != nil { // either name
				t.Error(err)
			}
		})
		synctest.Wait() // the store is being asked
		r.rename("after", social.UsersChanged(rumoured))
		readers.Go(func() { n.mustBe(t, "after") })
		synctest.Wait() // the second reader waits, too
		close(answer)
		readers.Wait()
	})
}

// TestAPanicOfTheStore: it must not end the process, where no request is around it.
func TestAPanicOfTheStore(t *testing.T) {
	r := &rumours{name: "before"}
	r.afterAsk = func() { panic("a malformed document") }
	n := newNames(r)
	if _, err := n.lookUp(t.Context()); err == nil {
		t.Error("no error")
	}
	n.mustBe(t, "before")
}

// TestUnknownChanges: without the changes nothing is in memory, and an error of the store is one of
// the cache.
func TestUnknownChanges(t *testing.T) {
	r := &rumours{name: "before"}
	n := newNames(r)
	n.mustBe(t, "before")
	r.fault = social.ErrNoChanges
	r.name = "after"
	for range 2 {
		n.mustBe(t, "after")
	}
	r.mustHaveRead(t, 3)
	r.fault = social.ErrUnavailable
	if _, err := n.lookUp(t.Context()); !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("the error is %v", err)
	}
	r.fault, r.name = nil, "at last"
	n.mustBe(t, "at last")
}

// TestUnknownChangesDuringARead: what was read while the store did not know what changes is not
// kept, although it knows again.
func TestUnknownChangesDuringARead(t *testing.T) {
	r := &rumours{name: "before", fault: social.ErrNoChanges}
	n := newNames(r)
	r.afterRead = func() {
		r.fault, r.name = nil, "after"
		n.mustBe(t, "after")
	}
	n.mustBe(t, "before")
	n.mustBe(t, "after")
}

// TestValuesExpire: other programs may change the database, and report no changes.
func TestValuesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rumours{name: "before"}
		n := newNames(r)
		n.mustBe(t, "before")
		r.name = "after"
		n.mustBe(t, "before")
		<-time.After(time.Minute)
		n.mustBe(t, "after")
	})
}
