package storagetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

const (
	catchUpWriters = 8
	catchUpRounds  = 6 // of a post and a comment for each writer
	catchUpPage    = 5
)

// RunCatchUp lets people write through several servers on one database, whose clocks are five
// minutes apart, while clients page forward through news, a wall, incoming and a thread. Each
// client gets every acknowledged entry exactly once. Background work fills feeds only after half of
// the entries were written. open opens the stores on a fresh database.
func RunCatchUp(t *testing.T, open func(t *testing.T) []storage.Store) {
	t.Helper()
	c := newCatchUp(t, open(t))
	var clients sync.WaitGroup
	clients.Go(c.leaf)
	c.run(c.lists(), c.write)
	clients.Wait()
}

// run lets all writers write while a client follows each list.
func (c *catchUp) run(lists []catchUpList, write func(i int, writer person)) {
	var clients, writers sync.WaitGroup
	for _, l := range lists {
		clients.Go(func() { c.follow(l) })
	}
	for i, writer := range c.writers {
		writers.Go(func() { write(i, writer) })
	}
	writers.Wait()
	c.done.Store(true)
	clients.Wait()
}

// catchUp is the state that writers and clients share.
type catchUp struct {
	*world
	servers []*network.Service
	stores  []storage.Store
	ann     person // follows the writers and 200 others
	bob     person // follows only the writers
	writers []person
	thread  *social.Post
	calls   atomic.Uint64
	filling sync.Once
	done    atomic.Bool // writing has ended

	posts, directed, comments acknowledged
}

// acknowledged holds the keys of stored entries, and the greatest of them.
type acknowledged struct {
	mu     sync.Mutex
	keys   []social.Key
	newest social.Key
}

func (a *acknowledged) add(key social.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys = append(a.keys, key)
	a.newest = max(a.newest, key)
}

func (a *acknowledged) now() (keys []social.Key, newest social.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.keys), a.newest
}

func (a *acknowledged) all() []social.Key {
	keys, _ := a.now()
	return keys
}

func newCatchUp(t *testing.T, stores []storage.Store) *catchUp {
	t.Helper()
	c := &catchUp{world: &world{Store: stores[0], t: t, ctx: t.Context(), dice: newDice(0, 0)}, stores: stores}
	for i, store := range stores {
		ahead := time.Duration(len(stores)-1-i) * 5 * time.Minute
		c.servers = append(c.servers, network.New(store, network.Options{Now: func() time.Time { return time.Now().Add(ahead) }}))
	}
	people := c.users(catchUpWriters + 202)
	c.ann, c.bob, c.writers = people[0], people[1], people[2:2+catchUpWriters]
	c.followAll(c.ann, people[2:])
	c.followAll(c.bob, c.writers)
	for _, writer := range c.writers {
		c.followAll(writer, []person{c.ann, c.bob})
	}
	var err error
	c.thread, err = c.servers[0].CreatePost(c.ctx, c.ann.ID, catchUpPost("the thread", social.UserID{}))
	c.ok(err, "CreatePost")
	return c
}

func catchUpPost(text string, wall social.UserID) network.NewPost {
	kind := social.AudiencePublic
	if !wall.IsZero() {
		kind = social.AudienceCircles
	}
	return network.NewPost{Content: social.Content{Status: &social.Status{Text: text}}, Audience: social.Audience{Kind: kind}, WallOwner: wall}
}

// server returns the next server.
func (c *catchUp) server() *network.Service { return c.servers[c.calls.Add(1)%uint64(len(c.servers))] }

// write posts, on ann's wall every third time, and comments, mostly in reply to the comment before.
func (c *catchUp) write(i int, writer person) {
	var parent social.CommentID
	for round := range catchUpRounds {
		var wall social.UserID
		if round%3 == 0 {
			wall = c.ann.ID
		}
		_, before := c.posts.now()
		p, err := c.server().CreatePost(c.ctx, writer.ID, catchUpPost(fmt.Sprint("post ", i, round), wall))
		if err != nil {
			c.t.Errorf("CreatePost: %v", err)
			return
		}
		c.acknowledge(&c.posts, before, keyOf(p.ID.ID))
		if !wall.IsZero() {
			c.directed.add(keyOf(p.ID.ID))
		}
		_, before = c.comments.now()
		in := network.NewComment{Post: c.thread.ID, Parent: parent, Text: fmt.Sprint("comment ", i, round)}
		comment, err := c.server().AddComment(c.ctx, writer.ID, in)
		if err != nil {
			c.t.Errorf("AddComment: %v", err)
			return
		}
		c.acknowledge(&c.comments, max(before, keyOf(parent.ID)), keyOf(comment.ID.ID))
		if parent = comment.ID; round%3 == 2 {
			parent = social.CommentID{}
		}
		if keys, _ := c.posts.now(); len(keys) >= catchUpWriters*catchUpRounds/2 {
			c.filling.Do(c.fill)
		}
	}
}

// acknowledge records a stored entry, and checks that it sorts after all that were acknowledged
// before its write began.
func (c *catchUp) acknowledge(to *acknowledged, before, key social.Key) {
	if key <= before {
		c.t.Errorf("%x does not sort after %x, which was stored before", key, before)
	}
	to.add(key)
}

// fill begins the background work, until the test ends.
func (c *catchUp) fill() {
	ctx, stop := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for _, store := range c.stores {
		workers.Go(func() { store.Work(ctx) })
	}
	c.t.Cleanup(func() {
		stop()
		workers.Wait()
	})
}

// catchUpList is a list that a client follows.
type catchUpList struct {
	name string
	want func() []social.Key // all entries, when writing has ended
	// read reads the items after the cursor, and returns their keys from the oldest to the newest.
	read func(cursor social.Key) ([]social.Key, error)
}

func (c *catchUp) lists() []catchUpList {
	start := keyOf(c.thread.ID.ID)
	newer := func(read func(*network.Service, social.Page) (social.Slice[*social.Post], error)) func(social.Key) ([]social.Key, error) {
		return func(cursor social.Key) ([]social.Key, error) {
			slice, err := read(c.server(), social.Page{Before: max(cursor, start), Last: true, Limit: catchUpPage})
			slices.Reverse(slice.Keys)
			return slice.Keys, err
		}
	}
	news := func(of person) func(*network.Service, social.Page) (social.Slice[*social.Post], error) {
		return func(s *network.Service, p social.Page) (social.Slice[*social.Post], error) {
			return s.Viewer(of.ID).News(c.ctx, p)
		}
	}
	return []catchUpList{
		{"ann's news", c.posts.all, newer(news(c.ann))},
		{"bob's news", c.posts.all, newer(news(c.bob))},
		{"ann's wall", c.directed.all, newer(func(s *network.Service, p social.Page) (social.Slice[*social.Post], error) {
			return s.Viewer(c.ann.ID).OwnWall(c.ctx, social.ViewAll, p)
		})},
		{"ann's incoming", c.directed.all, newer(func(s *network.Service, p social.Page) (social.Slice[*social.Post], error) {
			return s.Viewer(c.ann.ID).Incoming(c.ctx, p)
		})},
		{"the thread", c.comments.all, func(cursor social.Key) ([]social.Key, error) {
			list := social.List[social.Thread]{
				Of:   social.Thread{Post: c.thread.ID, Order: social.OrderOldest},
				Page: social.Page{After: cursor, Limit: catchUpPage},
			}
			found, err := c.server().Viewer(c.bob.ID).Threads(c.ctx, []social.List[social.Thread]{list})
			return found[list].Keys, err
		}},
	}
}

// follow pages forward until writing has ended and there are no more items.
func (c *catchUp) follow(l catchUpList) {
	var seen []social.Key
	var cursor social.Key
	for {
		done := c.done.Load()
		keys, err := l.read(cursor)
		if err != nil {
			c.t.Errorf("%s: %v", l.name, err)
			return
		}
		seen = append(seen, keys...)
		if len(keys) > 0 {
			cursor = keys[len(keys)-1]
		} else if done {
			break
		}
	}
	c.compare(l.name, l.want(), seen)
}

// leaf pages from the newest news to the oldest, repeatedly: each pass contains everything
// acknowledged before it, once.
func (c *catchUp) leaf() {
	for done := false; !done; {
		done = c.done.Load()
		want, _ := c.posts.now()
		var seen []social.Key
		for page := (social.Page{Limit: catchUpPage}); ; page.After = seen[len(seen)-1] {
			slice, err := c.server().Viewer(c.bob.ID).News(c.ctx, page)
			if err != nil {
				c.t.Errorf("news: %v", err)
				return
			}
			if seen = append(seen, slice.Keys...); !slice.More {
				break
			}
		}
		c.compare("news from the top", want, slices.DeleteFunc(seen, func(k social.Key) bool { return !slices.Contains(want, k) }))
	}
}

func (c *catchUp) compare(name string, want, seen []social.Key) {
	slices.Sort(want)
	slices.Sort(seen)
	lost := 0
	for _, key := range want {
		if _, found := slices.BinarySearch(seen, key); !found {
			lost++
		}
	}
	if twice := len(seen) - len(slices.Compact(slices.Clone(seen))); lost > 0 || twice > 0 || len(seen) != len(want) {
		c.t.Errorf("%s: of %d entries %d were not shown, and %d were shown twice; %d were shown", name, len(want), lost, twice, len(seen))
	}
}
