package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"plaza/bench/figures"
	"plaza/bench/measure"
	"plaza/id"
	"plaza/social"
)

// CommentsOptions configures [Comments].
type CommentsOptions struct {
	Options

	Cache int // MB of mongod's cache while threads that don't fit into it are measured; 0 leaves these out
}

const (
	hotWriters = 64
	hotTurns   = 10  // comments that each of them adds in a turn
	speakers   = 500 // people who comment
)

// Comments compares the layouts of comment threads, at the level of the storage contract: short and
// long threads, many writers on one thread, and threads that don't fit into memory.
func Comments(ctx context.Context, o CommentsOptions) (*figures.Report, error) {
	report := &figures.Report{Name: "comments", Title: "Comment threads on MongoDB: what calls cost in each layout", Command: o.Command, Notes: commentsNotes}
	err := o.inArena(ctx, contenders("comments"), func(arena *Arena, rivals []*Rival) error {
		report.Machine = arena.machine(ctx)
		s := &commentScene{o: o, arena: arena, rivals: rivals, stored: map[*Rival]measure.Stored{}}
		if err := s.signUp(ctx); err != nil {
			return err
		}
		for _, size := range []int{10, 1_000, 10_000, 100_000} {
			section, err := s.ofSize(ctx, size, o.scaled(size, min(size, 10)))
			if err != nil {
				return fmt.Errorf("threads of %d: %w", size, err)
			}
			report.Sections = append(report.Sections, section)
		}
		hot, err := s.hot(ctx)
		if err != nil {
			return fmt.Errorf("hot threads: %w", err)
		}
		report.Sections = append(report.Sections, hot)
		if o.Cache > 0 {
			cold, err := s.cold(ctx)
			if err != nil {
				return fmt.Errorf("cold threads: %w", err)
			}
			report.Sections = append(report.Sections, cold)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

const commentsNotes = `A page is what a page of 50 reads: 57 comments. *Deep* begins in the middle; a *discussion* is a page of the tree under a comment in the middle. Calls are those of the storage
contract, so that only the cost of the layouts counts; authors and GraphQL come on top, and are the same in all. Each fifth comment replies to the post, the others to one
of the last twenty; texts have the lengths of people's (median 80 characters, mean 130), and their words. *Server* is the CPU time of this process, *mongod* that of the database, for each call: the medians of the rounds, in which
all take turns, ± half the distance of the quartiles. *Stored* is what the threads add to the database, without the log of events, which is the same in all.`

// commentScene has the people who comment.
type commentScene struct {
	o      CommentsOptions
	arena  *Arena
	rivals []*Rival
	people []social.UserID
	posts  int // made so far
	stored map[*Rival]measure.Stored
}

func (s *commentScene) signUp(ctx context.Context) error {
	users := make([]social.NewUser, speakers)
	for i := range users {
		users[i] = newPerson(i)
		s.people = append(s.people, users[i].User.ID)
	}
	for _, r := range s.rivals {
		if _, err := r.Store.ImportUsers(ctx, users); err != nil {
			return err
		}
	}
	return nil
}

// newPosts creates posts without comments, the same ones for all rivals.
func (s *commentScene) newPosts(ctx context.Context, n int) ([]social.PostID, error) {
	ids := make([]social.PostID, n)
	first := s.posts
	s.posts += n
	for i := range ids {
		ids[i] = social.PostID{ID: derived(began, "post", first+i)}
	}
	for _, r := range s.rivals {
		err := inParallel(ctx, n, func(ctx context.Context, i int) error {
			author := s.people[i%len(s.people)]
			p := &social.Post{
				ID: ids[i], Author: author, WallOwner: author, Audience: social.Audience{Kind: social.AudiencePublic},
				Content: social.Content{Status: &social.Status{Text: "What do you think?"}},
			}
			return r.Store.InsertPost(ctx, p, happened(social.EventPostCreated, p.ID))
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func happened(kind social.EventKind, post social.PostID) social.Event {
	return social.Event{ID: social.EventID{ID: id.New()}, Kind: kind, Post: post}
}

// ofSize compares threads of one size, in the layouts that support it.
func (s *commentScene) ofSize(ctx context.Context, size, scaled int) (*figures.Section, error) {
	section := &figures.Section{
		Name: fmt.Sprint("comments-", size), Title: fmt.Sprintf("A thread of %s comments", figures.Grouped(scaled)), First: s.rivals[0].Name,
	}
	posts, err := s.newPosts(ctx, 1)
	if err != nil {
		return nil, err
	}
	t := &longThread{
		post: posts[0], all: thread(posts[0], fmt.Sprint("thread/", size), began, s.people, scaled, newWriter(s.o.Seed)), people: s.people,
	}
	for i, r := range s.rivals {
		s.o.progress(fmt.Sprintf("loading threads of %s", figures.Grouped(scaled)), i, len(s.rivals))
		if _, err := s.added(ctx, r); err != nil {
			return nil, err
		}
		err := r.Store.Fill(ctx, t.post, t.all)
		if errors.Is(err, social.ErrThreadFull) {
			section.Remarkf("%s takes no thread of %s comments (`THREAD_FULL`).", r.Name, figures.Grouped(scaled))
			continue
		}
		if err != nil {
			return nil, err
		}
		added, err := s.added(ctx, r)
		if err != nil {
			return nil, err
		}
		section.Stored = append(section.Stored, figures.StoredBy{Rival: r.Name, Stored: added})
		t.rivals = append(t.rivals, r)
	}
	section.Results, err = s.o.contest(s.arena.Meter, "measuring threads of "+figures.Grouped(scaled)).Run(ctx, t.calls())
	for _, r := range t.rivals {
		section.Comparef(measure.Of(section.Results, "last page", r.Name), measure.Of(section.Results, "first page", r.Name), measure.CPUMs,
			"The last page takes %.2f times the CPU of the first in %s.", r.Name)
	}
	return section, err
}

// added returns by how much the rival's database has grown since the last call.
func (s *commentScene) added(ctx context.Context, r *Rival) (measure.Stored, error) {
	now, err := r.Stored(ctx)
	before := s.stored[r]
	s.stored[r] = now
	return now.Minus(before), err
}

// longThread is one thread, in each layout.
type longThread struct {
	post   social.PostID
	all    []*social.Comment
	people []social.UserID
	rivals []*Rival
}

// pageLimit is how many comments the domain reads for a page of 50.
const pageLimit = 57

func (t *longThread) calls() []measure.Call {
	middle := t.all[len(t.all)/2]
	inTime := social.Thread{Post: t.post, Order: social.OrderOldest}
	asTree := social.Thread{Post: t.post, Order: social.OrderThreaded}
	under := asTree
	under.Under = middle.TreePath[:id.TextLen]
	page := social.Page{Limit: pageLimit}
	deep, last, deepInTree := page, page, page
	deep.After, last.Last, deepInTree.After = social.Key(middle.ID.Bytes()), true, middle.TreePath
	calls := []measure.Call{
		t.page("first page", inTime, page),
		t.page("deep page", inTime, deep),
		t.page("last page", inTime, last),
		t.page("tree page", asTree, page),
		t.page("deep tree page", asTree, deepInTree),
		{Name: "permalink"},
		t.page("discussion", under, page),
		{Name: "append", Most: 50},
	}
	for _, r := range t.rivals {
		calls[5].Turns = append(calls[5].Turns, measure.Turn{Rival: r.Name, Wire: r.Wire, Do: func(ctx context.Context, _ int) error {
			return permalink(ctx, r, middle)
		}})
		calls[7].Turns = append(calls[7].Turns, measure.Turn{Rival: r.Name, Wire: r.Wire, Do: func(ctx context.Context, n int) error {
			return say(ctx, r, t.post, t.people[n%len(t.people)])
		}})
	}
	return calls
}

func (t *longThread) page(name string, of social.Thread, p social.Page) measure.Call {
	call := measure.Call{Name: name}
	for _, r := range t.rivals {
		call.Turns = append(call.Turns, measure.Turn{Rival: r.Name, Wire: r.Wire, Do: func(ctx context.Context, _ int) error {
			return readPage(ctx, r, of, p)
		}})
	}
	return call
}

// readPage reads a page, which must not be empty.
func readPage(ctx context.Context, r *Rival, of social.Thread, p social.Page) error {
	list := social.List[social.Thread]{Of: of, Page: p}
	read, err := r.Store.Thread(ctx, []social.List[social.Thread]{list})
	if err == nil && len(read[list]) == 0 {
		err = errors.New("the page is empty")
	}
	return err
}

func permalink(ctx context.Context, r *Rival, c *social.Comment) error {
	link := social.Permalink{Post: c.Post, Slug: c.Slug}
	found, err := r.Store.CommentsBySlug(ctx, []social.Permalink{link})
	if err == nil && found[link] == nil {
		err = errors.New("the comment is not found by its slug")
	}
	return err
}

// said is the text of the comments that are added during a measurement.
const said = "What a comment says is mostly about as long as this one is: some eighty characters."

// say adds a comment to a post's thread.
func say(ctx context.Context, r *Rival, post social.PostID, author social.UserID) error {
	c := newComment(post, nil, social.CommentID{ID: id.New()}, author, said)
	e := happened(social.EventCommentAdded, post)
	e.Comment, e.Actor = c.ID, author
	return r.Store.InsertComment(ctx, c, e)
}

// hot compares 64 writers on one thread with the same number on 64 threads.
func (s *commentScene) hot(ctx context.Context) (*figures.Section, error) {
	turns := s.o.Rounds + 1
	posts, err := s.newPosts(ctx, turns*(1+hotWriters))
	if err != nil {
		return nil, err
	}
	one, many := posts[:turns], posts[turns:]
	section := &figures.Section{
		Name: "comments-hot", Title: fmt.Sprintf("Appends by %d writers, each comment", hotWriters), First: s.rivals[0].Name,
	}
	spread, same := measure.Call{Name: "to 64 threads", Most: 1}, measure.Call{Name: "to one thread", Most: 1}
	for _, r := range s.rivals {
		spread.Turns = append(spread.Turns, s.manyWriters(r, func(n, writer int) social.PostID { return many[n*hotWriters+writer] }))
		same.Turns = append(same.Turns, s.manyWriters(r, func(n, _ int) social.PostID { return one[n] }))
	}
	contest := s.o.contest(s.arena.Meter, "measuring 64 writers")
	if section.Results, err = contest.Run(ctx, []measure.Call{spread, same}); err != nil {
		return nil, err
	}
	for _, r := range s.rivals {
		apart, together := measure.Of(section.Results, spread.Name, r.Name), measure.Of(section.Results, same.Name, r.Name)
		section.Comparef(apart, together, measure.WallMs, "One thread takes %.2f times as many comments a second as 64 do in %s: %s and %s.", r.Name,
			figures.Grouped(int(1000/together.Median(measure.WallMs))), figures.Grouped(int(1000/apart.Median(measure.WallMs))))
	}
	return section, nil
}

func (s *commentScene) manyWriters(r *Rival, post func(n, writer int) social.PostID) measure.Turn {
	comments := s.o.scaled(hotTurns, 1)
	return measure.Turn{Rival: r.Name, Wire: r.Wire, Each: comments * hotWriters, Do: func(ctx context.Context, n int) error {
		group, ctx := errgroup.WithContext(ctx)
		for writer := range hotWriters {
			group.Go(func() error {
				for range comments {
					if err := say(ctx, r, post(n, writer), s.people[writer]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return group.Wait()
	}}
}

const (
	coldThreads = 10_000
	medianCold  = 12    // comments in a thread
	sigmaCold   = 1.4   // of the logarithm: the mean is 32
	maxCold     = 5_000 // comments in a thread
	coldSeason  = 500   // threads that are loaded together, in the order of their comments' times
	coldTurn    = 3     // how many times as long as other turns
)

// cold measures random reads of threads that don't fit into mongod's cache.
func (s *commentScene) cold(ctx context.Context) (*figures.Section, error) {
	for _, r := range s.rivals {
		if _, err := s.added(ctx, r); err != nil {
			return nil, err
		}
	}
	threads, err := s.manyThreads(ctx)
	if err != nil {
		return nil, err
	}
	section := &figures.Section{Name: "comments-cold", First: s.rivals[0].Name, Reads: true}
	comments := 0
	for _, t := range threads {
		comments += len(t.all)
	}
	section.Title = fmt.Sprintf("%s threads with %s comments, and a cache of %d MB", figures.Grouped(len(threads)), figures.Grouped(comments), s.o.Cache)
	for _, r := range s.rivals {
		stored, err := s.added(ctx, r)
		if err != nil {
			return nil, err
		}
		section.Stored = append(section.Stored, figures.StoredBy{Rival: r.Name, Stored: stored})
	}
	restore, err := s.arena.shrinkCache(ctx, s.o.Cache)
	if err != nil {
		return nil, err
	}
	contest := s.o.contest(s.arena.Meter, "measuring cold threads")
	contest.Turn *= coldTurn
	section.Results, err = contest.Run(ctx, s.coldCalls(threads))
	return section, errors.Join(err, restore(ctx))
}

// manyThreads creates threads of all lengths, most of them short, and stores them.
func (s *commentScene) manyThreads(ctx context.Context) ([]*longThread, error) {
	n := s.o.scaled(coldThreads, 50)
	posts, err := s.newPosts(ctx, n)
	if err != nil {
		return nil, err
	}
	w := newWriter(s.o.Seed)
	threads := make([]*longThread, n)
	for i, post := range posts {
		size := logNormal(w.dice, medianCold, sigmaCold, maxCold)
		at := began.Add(history * time.Duration(i) / time.Duration(n))
		threads[i] = &longThread{post: post, all: thread(post, fmt.Sprint("cold/", i), at, s.people, size, w), people: s.people, rivals: s.rivals}
	}
	done := 0
	for _, r := range s.rivals {
		for some := range slices.Chunk(threads, coldSeason) { // people talk in many threads at the same time
			all := make(map[social.PostID][]*social.Comment, len(some))
			for _, t := range some {
				all[t.post] = t.all
			}
			if err := r.Store.FillAll(ctx, all); err != nil {
				return nil, err
			}
			done += len(some)
			s.o.progress("loading many threads", done, n*len(s.rivals))
		}
	}
	return threads, nil
}

// coldCalls reads a random comment, and its thread: long threads are read more often than short
// ones.
func (s *commentScene) coldCalls(threads []*longThread) []measure.Call {
	starts, total := make([]int, len(threads)), 0
	for i, t := range threads {
		starts[i] = total
		total += len(t.all)
	}
	pick := func(call, n int) (*longThread, *social.Comment) {
		at := rand.New(rand.NewPCG(s.o.Seed+uint64(call), uint64(n))).IntN(total) //nolint:gosec // a benchmark's choices need no secrecy
		i, exact := slices.BinarySearch(starts, at)
		if !exact {
			i--
		}
		return threads[i], threads[i].all[at-starts[i]]
	}
	page := social.Page{Limit: pageLimit}
	all := []struct {
		name string
		do   func(ctx context.Context, r *Rival, t *longThread, c *social.Comment) error
	}{
		{"first page", func(ctx context.Context, r *Rival, t *longThread, _ *social.Comment) error {
			return readPage(ctx, r, social.Thread{Post: t.post, Order: social.OrderOldest}, page)
		}},
		{"last page", func(ctx context.Context, r *Rival, t *longThread, _ *social.Comment) error {
			return readPage(ctx, r, social.Thread{Post: t.post, Order: social.OrderOldest}, social.Page{Limit: pageLimit, Last: true})
		}},
		{"tree page", func(ctx context.Context, r *Rival, t *longThread, _ *social.Comment) error {
			return readPage(ctx, r, social.Thread{Post: t.post, Order: social.OrderThreaded}, page)
		}},
		{"permalink", func(ctx context.Context, r *Rival, _ *longThread, c *social.Comment) error {
			return permalink(ctx, r, c)
		}},
		{"append", func(ctx context.Context, r *Rival, t *longThread, c *social.Comment) error {
			return say(ctx, r, t.post, c.Author)
		}},
	}
	calls := make([]measure.Call, len(all))
	for i, one := range all {
		calls[i].Name = one.name
		for _, r := range s.rivals {
			calls[i].Turns = append(calls[i].Turns, measure.Turn{Rival: r.Name, Wire: r.Wire, Do: func(ctx context.Context, n int) error {
				t, c := pick(i, n)
				return one.do(ctx, r, t, c)
			}})
		}
	}
	return calls
}
