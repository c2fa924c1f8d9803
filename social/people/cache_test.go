package people_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"plaza/id"
	"plaza/social"
	"plaza/social/people"
)

// rumours is a store of one user's name and of changes, whose calls a test can hold up.
type rumours struct {
	social.Store

	mu        sync.Mutex
	name      string
	relation  social.Relation
	changes   []social.Change
	reads     int
	fault     error
	afterAsk  func() // when Changes has looked, before it returns
	afterRead func() // when Users has read, before it returns
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

func (r *rumours) Users(context.Context, []social.UserID) (map[social.UserID]*social.User, error) {
	r.mu.Lock()
	r.reads++
	read := &social.User{ID: rumoured, Name: r.name}
	r.mu.Unlock()
	if do := take(&r.mu, &r.afterRead); do != nil {
		do()
	}
	return map[social.UserID]*social.User{rumoured: read}, nil
}

func (r *rumours) People(context.Context, social.UserID, []social.UserID) (map[social.UserID]social.Person, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	return map[social.UserID]social.Person{rumoured: {User: &social.User{ID: rumoured}, Relation: r.relation}}, nil
}

func (r *rumours) rename(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name = name
	r.changes = append(r.changes, social.UsersChanged(rumoured))
}

// nameIn reads the name at a new reader.
func nameIn(t *testing.T, c *people.Cache) string {
	t.Helper()
	users, err := c.Users(t.Context(), []social.UserID{rumoured})
	if err != nil {
		t.Fatal(err)
	}
	return users[rumoured].Name
}

func (r *rumours) mustHaveRead(t *testing.T, times int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reads != times {
		t.Errorf("the store was read %d times, want %d", r.reads, times)
	}
}

func TestAChangeIsReadOnce(t *testing.T) {
	r := &rumours{name: "before"}
	c := people.New(r, 1<<20)
	for range 3 {
		nameIn(t, c)
	}
	r.mustHaveRead(t, 1)
	r.rename("after")
	for range 3 {
		if got := nameIn(t, c); got != "after" {
			t.Errorf("the name is %q", got)
		}
	}
	r.mustHaveRead(t, 2)
}

// TestChangesDuringARead: what was read before a change, and arrives after it, is not remembered.
func TestChangesDuringARead(t *testing.T) {
	r := &rumours{name: "before"}
	c := people.New(r, 1<<20)
	r.afterRead = func() {
		r.rename("after")
		if got := nameIn(t, c); got != "after" {
			t.Errorf("another reader reads %q", got)
		}
	}
	nameIn(t, c) // began before the change
	if got := nameIn(t, c); got != "after" {
		t.Errorf("the next reader reads %q", got)
	}
}

// TestChangesDuringAQuestion: a caller who comes while the store is being asked may come after a
// change that the answer does not have, and asks again.
func TestChangesDuringAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rumours{name: "before"}
		c := people.New(r, 1<<20)
		nameIn(t, c)
		answer := make(chan struct{})
		r.afterAsk = func() { <-answer }
		names := make(chan string, 2)
		go func() { names <- nameIn(t, c) }()
		synctest.Wait() // the store is being asked
		r.rename("after")
		go func() { names <- nameIn(t, c) }()
		synctest.Wait() // the second reader waits, too
		close(answer)
		<-names // either
		if got := <-names; got != "after" {
			t.Errorf("a reader after the change reads %q", got)
		}
	})
}

// TestHiddenPeopleAreReadEachTime: it takes as long as for those who do not exist.
func TestHiddenPeopleAreReadEachTime(t *testing.T) {
	for _, hiding := range []social.Relation{{Blocks: true}, {BlockedBy: true}, {Gone: true}} {
		r := &rumours{relation: hiding}
		c := people.New(r, 1<<20)
		for range 3 {
			got, err := c.People(t.Context(), listener, []social.UserID{rumoured})
			if err != nil || social.CanSeeUser(got[rumoured].Relation) {
				t.Errorf("the relation is %v, %v", got, err)
			}
		}
		r.mustHaveRead(t, 3)
	}
}

// TestAPanicOfTheStore: it must not end the process, where no request is around it.
func TestAPanicOfTheStore(t *testing.T) {
	r := &rumours{name: "before"}
	r.afterAsk = func() { panic("a malformed document") }
	c := people.New(r, 1<<20)
	if _, err := c.Users(t.Context(), []social.UserID{rumoured}); err == nil {
		t.Error("no error")
	}
	if got := nameIn(t, c); got != "before" {
		t.Errorf("afterwards, the name is %q", got)
	}
}

// TestUnknownChanges: without the changes nothing is remembered, and an error of the store is one
// of the reader.
func TestUnknownChanges(t *testing.T) {
	r := &rumours{name: "before"}
	c := people.New(r, 1<<20)
	nameIn(t, c)
	r.fault = social.ErrNoChanges
	r.name = "after"
	for range 2 {
		if got := nameIn(t, c); got != "after" {
			t.Errorf("without changes, the name is %q", got)
		}
	}
	r.mustHaveRead(t, 3)
	r.fault = social.ErrUnavailable
	if _, err := c.Users(t.Context(), []social.UserID{rumoured}); !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("the error is %v", err)
	}
	r.fault, r.name = nil, "at last"
	if got := nameIn(t, c); got != "at last" {
		t.Errorf("afterwards, the name is %q", got)
	}
}

// crowd is a store of users with long texts: as many as are asked for.
type crowd struct{ social.Store }

func (crowd) Changes(context.Context, social.ChangePosition) ([]social.Change, social.ChangePosition, error) {
	return nil, social.ChangePosition{1}, nil
}

func (crowd) Users(_ context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	all := map[social.UserID]*social.User{}
	for _, user := range ids {
		all[user] = &social.User{ID: user, Bio: string(make([]byte, 1_000))}
	}
	return all, nil
}

// TestTheCacheIsBounded: one client that reads all users can't fill the memory.
func TestTheCacheIsBounded(t *testing.T) {
	const size = 100_000
	c := people.New(crowd{}, size)
	for range 100 {
		ids := make([]social.UserID, 100)
		for i := range ids {
			ids[i] = social.UserID{ID: id.New()}
		}
		if _, err := c.Users(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
	}
	if stats := c.Stats(); stats.Bytes == 0 || stats.Bytes > size || stats.Users.Misses != 10_000 {
		t.Errorf("10,000 users of 1 kB: %+v, want at most %d bytes", stats, size)
	}
}
