package people_test

import (
	"context"
	"testing"

	"plaza/id"
	"plaza/social"
	"plaza/social/people"
)

// crowd is a store of users with long texts: as many as are asked for. All have the same relation.
type crowd struct {
	social.Store

	relation social.Relation
	reads    int
}

func (*crowd) Changes(_ context.Context, since social.ChangePosition) ([]social.Change, social.ChangePosition, error) {
	if since == nil {
		return []social.Change{{All: true}}, social.ChangePosition{1}, nil
	}
	return nil, since, nil
}

func (c *crowd) Users(_ context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	c.reads++
	all := map[social.UserID]*social.User{}
	for _, user := range ids {
		all[user] = &social.User{ID: user, Bio: string(make([]byte, 1_000))}
	}
	return all, nil
}

func (c *crowd) People(ctx context.Context, _ social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	users, err := c.Users(ctx, ids)
	all := map[social.UserID]social.Person{}
	for user, u := range users {
		all[user] = social.Person{User: u, Relation: c.relation}
	}
	return all, err
}

// TestHiddenPeopleAreReadEachTime: it takes as long as for those who do not exist. Others are read
// once.
func TestHiddenPeopleAreReadEachTime(t *testing.T) {
	const times = 3
	viewer, other := social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	for _, relation := range []social.Relation{{Blocks: true}, {BlockedBy: true}, {Gone: true}, {}} {
		store := &crowd{relation: relation}
		cache := people.New(store, 1<<20)
		for range times {
			got, err := cache.People(t.Context(), viewer, []social.UserID{other})
			if err != nil || social.CanSeeUser(got[other].Relation) != social.CanSeeUser(relation) {
				t.Errorf("the relation is %v, %v, want %v", got, err, relation)
			}
		}
		want := times
		if social.CanSeeUser(relation) {
			want = 1
		}
		if store.reads != want {
			t.Errorf("%v: the store was read %d times, want %d", relation, store.reads, want)
		}
	}
}

// TestTheCacheIsBounded: one client that reads all users can't fill the memory.
func TestTheCacheIsBounded(t *testing.T) {
	const size = 100_000
	cache := people.New(&crowd{}, size)
	for range 100 {
		ids := make([]social.UserID, 100)
		for i := range ids {
			ids[i] = social.UserID{ID: id.New()}
		}
		if _, err := cache.Users(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
	}
	if stats := cache.Stats(); stats.Bytes == 0 || stats.Bytes > size || stats.Users.Misses != 10_000 {
		t.Errorf("10,000 users of 1 kB: %+v, want at most %d bytes", stats, size)
	}
}
