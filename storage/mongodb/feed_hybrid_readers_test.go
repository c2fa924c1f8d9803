package mongodb

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// builder counts how often a store reads the contents of a list, and how often it has stored one.
type builder struct {
	reads, stores atomic.Int64
	storing       sync.Map // the requests of the commands that store lists
}

func (b *builder) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			collection, _ := e.Command.Lookup(e.CommandName).StringValueOK()
			switch {
			case e.CommandName == "aggregate" && collection == "posts":
				b.reads.Add(1)
			case e.CommandName == "findAndModify" && collection == "newsLists" && isStore(e.Command):
				b.storing.Store(e.RequestID, true)
			}
		},
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			if _, is := b.storing.LoadAndDelete(e.RequestID); is && e.Reply.Lookup("value").Type == bson.TypeEmbeddedDocument {
				b.stores.Add(1)
			}
		},
	}
}

func isStore(command bson.Raw) bool {
	_, err := command.LookupErr("query", "stamp")
	return err == nil
}

// newReading returns a meeting whose stores count their builds.
func newReading(t *testing.T) (m *meeting, builders [2]*builder) {
	t.Helper()
	m, builders = &meeting{t: t}, [2]*builder{{}, {}}
	m.one, m.other = twoStores(t, FeedsHybrid, builders[0].monitor(), builders[1].monitor())
	m.populate()
	return m, builders
}

// readAll lets readers on each of the stores read the news at the same time.
func (m *meeting) readAll(readers int, stores ...*Store) {
	m.t.Helper()
	var all sync.WaitGroup
	begin := make(chan struct{})
	for _, s := range stores {
		for range readers {
			all.Go(func() {
				<-begin
				if posts, err := s.News(m.t.Context(), m.reader, social.Page{Limit: 10}); err != nil || len(posts) != 1 {
					m.t.Errorf("%d posts, want 1: %v", len(posts), err)
				}
			})
		}
	}
	close(begin)
	all.Wait()
}

// TestReadersBuildOneList: concurrent readers of a missing list must build it only once. Earlier,
// each of them built one, and removed those of the others.
func TestReadersBuildOneList(t *testing.T) {
	t.Parallel()
	m, builders := newReading(t)
	for name, takeAway := range map[string]func(){
		"no list":               m.forget,
		"changed follows":       func() { m.follow(m.one); m.unfollow(m.one) },
		"a builder that died":   func() { m.forget(); m.dieBuilding() },
		"a list full of pushes": func() { m.forget(); m.fallAsleep() },
	} {
		for _, stores := range [][]*Store{{m.one}, {m.one, m.other}} {
			takeAway()
			before := countsOf(builders)
			m.readAll(8, stores...)
			after := countsOf(builders)
			if reads := after.reads - before.reads; reads < 1 || reads > len(stores) {
				t.Errorf("%s: %d stores have read the posts %d times", name, len(stores), reads)
			}
			if stored := after.stores - before.stores; stored != 1 {
				t.Errorf("%s: %d lists were stored, want 1", name, stored)
			}
			m.readAll(1, stores...)
			if got := countsOf(builders); got != after {
				t.Errorf("%s: the list was built again: %+v, and before %+v", name, got, after)
			}
		}
	}
}

type counts struct{ reads, stores int }

func countsOf(builders [2]*builder) (all counts) {
	for _, b := range builders {
		all.reads += int(b.reads.Load())
		all.stores += int(b.stores.Load())
	}
	return all
}

// dieBuilding begins a list, and does not complete it.
func (m *meeting) dieBuilding() {
	m.t.Helper()
	begun := mdb.Doc("_id", m.reader, "v", mdb.FirstVersion, "ids", bson.A{}, "merged", bson.A{}, "pushed", 0, "stamp", jobs.ID{ID: id.New()}, "usedAt", time.Now())
	must(newsListsOf(m.other).InsertOne(m.t.Context(), begun))(m.t)
}

// fallAsleep makes a list dormant, as if it had not been read for many pushes.
func (m *meeting) fallAsleep() {
	m.t.Helper()
	must(newsListsOf(m.other).InsertOne(m.t.Context(), mdb.Doc("_id", m.reader, "v", mdb.FirstVersion)))(m.t)
}

// posted are the posts that every page must have.
type posted struct {
	mu  sync.Mutex
	all []social.PostID
}

func (p *posted) add(post social.PostID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, post)
}

func (p *posted) now() []social.PostID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// crowd is the readers of one list, while its owner follows and unfollows an author.
type crowd struct {
	*meeting

	posted  posted
	fickle  social.PostID // by that author
	changes atomic.Int64  // one before each change, and one after it: an odd number is uncertain, and 2, 6, 10 ... is followed
}

// read checks that a page contains everything that was stored before the request.
func (c *crowd) read(s *Store) {
	want, before := c.posted.now(), c.changes.Load()
	page, err := s.News(c.t.Context(), c.reader, social.Page{Limit: 100})
	if err != nil {
		c.t.Error(err)
	}
	got := mdb.Map(page, func(p **social.Post) social.PostID { return (*p).ID })
	for _, post := range want {
		if !slices.Contains(got, post) {
			c.t.Errorf("post %v is missing", post)
		}
	}
	certain := before == c.changes.Load() && before%2 == 0
	if has := slices.Contains(got, c.fickle); certain && has != (before%4 == 2) {
		c.t.Errorf("the page has the author's post: %t; the author is followed: %t", has, before%4 == 2)
	}
}

// TestReadingWhileFollowsAndPostsChange: many readers of one list on two servers, while its owner
// follows and unfollows an author, and another one posts. No page lacks a post, or has a post by an
// author who was not followed during the whole read.
func TestReadingWhileFollowsAndPostsChange(t *testing.T) {
	t.Parallel()
	const rounds, readers = 12, 3
	m, _ := newReading(t)
	c := &crowd{meeting: m, fickle: m.post(m.fickle)}
	var workers, reading sync.WaitGroup
	working, stop := context.WithCancel(t.Context())
	stores := []*Store{m.one, m.other}
	for i := range 2 * readers {
		reading.Go(func() {
			for working.Err() == nil {
				c.read(stores[i%2])
			}
		})
	}
	for _, s := range stores {
		workers.Go(func() { s.Work(working) })
	}
	for i := range rounds {
		for _, change := range []func(*Store){m.follow, m.unfollow} {
			p := newStatus(m.author)
			ok(t, stores[i%2].InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
			c.posted.add(p.ID)
			c.changes.Add(1)
			change(stores[1-i%2])
			c.changes.Add(1)
		}
	}
	stop()
	reading.Wait()
	workers.Wait()
	m.check("at the end")
	if l := must(mdb.FindAll[newsListDoc](t.Context(), newsListsOf(m.one), mdb.Doc("_id", m.reader), 1))(t); len(l) != 1 || !l[0].Ready {
		t.Errorf("the list is not ready: %+v", l)
	}
}
