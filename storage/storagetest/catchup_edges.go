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

// RunCatchUpEdges is [RunCatchUp] for lists of circles, members, followers, follows, blocks and
// mutes: while several servers add people to them, each client that pages forward gets everyone
// exactly once.
func RunCatchUpEdges(t *testing.T, open func(t *testing.T) []storage.Store) {
	t.Helper()
	c := &catchUpEdges{catchUp: newCatchUp(t, open(t))}
	people := c.users(2 * (catchUpWriters*catchUpEdgeRounds + 1))
	c.dan, c.eve, c.fay, c.crowd = c.user(), c.user(), c.user(), people
	c.friends = c.circle(c.fay, "friends")
	c.followAll(c.fay, people) // the order of their ids is not that in which they become friends
	c.meet()                   // each list has an entry from which clients begin
	c.run(append(c.edgeLists(), c.circleList()), func(int, person) {
		for range catchUpEdgeRounds {
			c.meet()
		}
	})
}

const catchUpEdgeRounds = 3 // of four edges for each writer

type catchUpEdges struct {
	*catchUp

	dan   person // follows, mutes and blocks
	eve   person // is followed
	fay   person // follows the crowd, and has friends among them
	crowd []person
	met   atomic.Int64

	friends social.CircleID
}

// meet lets dan create a circle, follow and mute a person from the crowd, who follows eve and
// becomes a friend of fay, and block another one.
func (c *catchUpEdges) meet() {
	n := int(c.met.Add(1))
	friend, foe := c.crowd[2*n-2].ID, c.crowd[2*n-1].ID
	_, blocking := c.server().Block(c.ctx, c.dan.ID, foe)
	_, creating := c.server().CreateCircle(c.ctx, c.dan.ID, fmt.Sprint("circle ", n))
	err := errors.Join(blocking, creating, c.server().Follow(c.ctx, c.dan.ID, friend), c.server().Follow(c.ctx, friend, c.eve.ID),
		c.server().Mute(c.ctx, c.dan.ID, friend), c.server().AddToCircle(c.ctx, c.fay.ID, c.friends, friend))
	if err != nil {
		c.t.Error(err)
	}
}

// edgeCall reads lists of edges through a store.
type edgeCall[K comparable] func(storage.Store) batchRead[K, social.Edge]

func (c *catchUpEdges) edgeLists() []catchUpList {
	members := func(s storage.Store) batchRead[social.CircleID, social.Edge] { return s.Members }
	return []catchUpList{
		edgeList(c, "the people in dan's built-in circle", c.dan.Following, forward, members),
		edgeList(c, "fay's friends", c.friends, forward, members),
		edgeList(c, "dan's follows", c.dan.ID, newer, func(s storage.Store) batchRead[social.UserID, social.Edge] { return s.Following }),
		edgeList(c, "eve's followers", c.eve.ID, newer, func(s storage.Store) batchRead[social.UserID, social.Edge] { return s.Followers }),
		edgeList(c, "dan's mutes", c.dan.ID, newer, func(s storage.Store) batchRead[social.UserID, social.Edge] { return single(s.Muted) }),
		edgeList(c, "dan's blocks", c.dan.ID, newer, func(s storage.Store) batchRead[social.UserID, social.Edge] { return single(s.Blocked) }),
	}
}

// newer returns the page of the items that are newer than the cursor, in a list that begins with
// the newest.
func newer(cursor social.Key) social.Page {
	return social.Page{Before: cursor, Last: true, Limit: catchUpPage}
}

// forward does the same for a list that ends with the newest.
func forward(cursor social.Key) social.Page { return social.Page{After: cursor, Limit: catchUpPage} }

func edgeList[K comparable](c *catchUpEdges, name string, of K, page func(cursor social.Key) social.Page, call edgeCall[K]) catchUpList {
	all := func() []social.Key { return keysOf(whole(c.world, call(c.stores[0]), of)) }
	start := all()[0]
	want := func() []social.Key {
		keys := all()
		if want := catchUpWriters*catchUpEdgeRounds + 1; len(keys) != want {
			c.t.Errorf("%s: there are %d, want %d", name, len(keys), want)
		}
		return slices.DeleteFunc(keys, func(k social.Key) bool { return k == start })
	}
	read := func(cursor social.Key) ([]social.Key, error) {
		l := social.List[K]{Of: of, Page: page(max(cursor, start))}
		found, err := call(c.stores[c.calls.Add(1)%uint64(len(c.stores))])(c.ctx, []social.List[K]{l})
		keys := keysOf(found[l])
		if l.Last {
			slices.Reverse(keys)
		}
		return keys, err
	}
	return catchUpList{name: name, want: want, read: read}
}

// circleList returns the list of dan's circles, from the built-in one on.
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
