package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"plaza/social"
	"plaza/storage"
)

// RunCatchUpEdges is [RunCatchUp] for lists of circles, followers, follows, blocks and mutes: while
// people come into them through several servers, each client that pages forward gets everybody,
// once.
func RunCatchUpEdges(t *testing.T, open func(t *testing.T) []storage.Store) {
	t.Helper()
	c := &catchUpEdges{catchUp: newCatchUp(t, open(t))}
	people := c.users(2 * (catchUpWriters*catchUpEdgeRounds + 1))
	c.dan, c.eve, c.crowd = c.user(), c.user(), people
	c.meet() // each list has an entry from which clients begin
	c.run(append(c.edgeLists(), c.circleList()), func(int, person) {
		for range catchUpEdgeRounds {
			c.meet()
		}
	})
}

const catchUpEdgeRounds = 4 // of four edges for each writer

type catchUpEdges struct {
	*catchUp

	dan   person // follows, mutes and blocks
	eve   person // is followed
	crowd []person
	met   atomic.Int64
}

// meet lets dan create a circle, follow and mute a person from the crowd, who follows eve, and
// block another one.
func (c *catchUpEdges) meet() {
	n := int(c.met.Add(1))
	friend, foe := c.crowd[2*n-2].ID, c.crowd[2*n-1].ID
	_, blocking := c.server().Block(c.ctx, c.dan.ID, foe)
	_, creating := c.server().CreateCircle(c.ctx, c.dan.ID, fmt.Sprint("circle ", n))
	err := errors.Join(blocking, creating, c.server().Follow(c.ctx, c.dan.ID, friend), c.server().Follow(c.ctx, friend, c.eve.ID),
		c.server().Mute(c.ctx, c.dan.ID, friend))
	if err != nil {
		c.t.Error(err)
	}
}

// edgeCall reads a list of edges through a store.
type edgeCall func(storage.Store) batchRead[social.UserID, social.Edge]

func (c *catchUpEdges) edgeLists() []catchUpList {
	return []catchUpList{
		c.edgeList("dan's follows", c.dan, func(s storage.Store) batchRead[social.UserID, social.Edge] { return s.Following }),
		c.edgeList("eve's followers", c.eve, func(s storage.Store) batchRead[social.UserID, social.Edge] { return s.Followers }),
		c.edgeList("dan's mutes", c.dan, func(s storage.Store) batchRead[social.UserID, social.Edge] { return single(s.Muted) }),
		c.edgeList("dan's blocks", c.dan, func(s storage.Store) batchRead[social.UserID, social.Edge] { return single(s.Blocked) }),
	}
}

func (c *catchUpEdges) edgeList(name string, of person, call edgeCall) catchUpList {
	all := func() []social.Key { return keysOf(whole(c.world, call(c.stores[0]), of.ID)) }
	start := all()[0]
	want := func() []social.Key {
		keys := all()
		if want := catchUpWriters*catchUpEdgeRounds + 1; len(keys) != want {
			c.t.Errorf("%s: there are %d, want %d", name, len(keys), want)
		}
		return slices.DeleteFunc(keys, func(k social.Key) bool { return k == start })
	}
	read := func(cursor social.Key) ([]social.Key, error) {
		l := social.List[social.UserID]{Of: of.ID, Page: social.Page{Before: max(cursor, start), Last: true, Limit: catchUpPage}}
		found, err := call(c.stores[c.calls.Add(1)%uint64(len(c.stores))])(c.ctx, []social.List[social.UserID]{l})
		keys := keysOf(found[l])
		slices.Reverse(keys)
		return keys, err
	}
	return catchUpList{name: name, want: want, read: read}
}

// circleList is dan's circles, from the built-in one on.
func (c *catchUpEdges) circleList() catchUpList {
	read := func(p social.Page) ([]social.Key, error) {
		slice, err := c.server().Viewer(c.dan.ID).OwnCircles(c.ctx, p)
		return slice.Keys, err
	}
	want := func() []social.Key {
		keys, err := read(everything)
		c.ok(err, "OwnCircles")
		if want := catchUpWriters*catchUpEdgeRounds + 2; len(keys) != want {
			c.t.Errorf("dan has %d circles, want %d", len(keys), want)
		}
		return keys
	}
	return catchUpList{name: "dan's circles", want: want, read: func(cursor social.Key) ([]social.Key, error) {
		return read(social.Page{After: cursor, Limit: catchUpPage})
	}}
}

func keysOf(edges []social.Edge) []social.Key {
	keys := make([]social.Key, len(edges))
	for i, e := range edges {
		keys[i] = edgeKey(e)
	}
	return keys
}
