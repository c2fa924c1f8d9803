package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"plaza/bench/figures"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/sqlite"
)

// FeedsOptions configures [Feeds].
type FeedsOptions struct {
	Options

	Networks string // folder of ego-facebook; if empty, it is left out
	Edges    int    // follows of the generated network, before it is scaled; 0 leaves it out
}

const (
	usualPosts = 2_000
	// usualFans is the number of followers for measuring the delivery of a post, before scaling.
	// usualStars is the number of followers of a very popular author, whose posts must not cost
	// more than others', if there are that many people.
	usualFans  = 2_000
	usualStars = 10_000
	maxPopular = 1_000 // followers of people whose posts are loaded
	maxReaders = 50
	writers    = 32
	// usualThread is the number of comments of the post whose thread is read; a page is 50 of them.
	usualThread = 200
)

// Feeds compares the layouts of feeds and of the follower graph: the cost of requests, from GraphQL
// to MongoDB. It writes a report with a table and a picture for each network.
func Feeds(ctx context.Context, o FeedsOptions) (*figures.Report, error) {
	var networks []*network
	if o.Networks != "" {
		n, err := facebook(o.Networks)
		if err != nil {
			return nil, err
		}
		networks = append(networks, n)
	}
	if o.Edges > 0 {
		networks = append(networks, powerLaw(o.scaled(o.Edges, 500), o.Seed))
	}
	report := &figures.Report{Name: "feeds", Title: "Feeds: what requests cost in each layout", Command: o.Command, Notes: feedsNotes}
	for _, n := range networks {
		err := o.withArena(ctx, append(contenders("feeds", "graph"), contender{name: inSQLite}), func(arena *Arena, chosen []contender) (err error) {
			report.Machine = arena.machine(ctx)
			var rivals []*feedRival
			defer func() { err = errors.Join(err, closeFiles(rivals)) }()
			for _, c := range chosen {
				rival, err := o.open(ctx, arena, c)
				if err != nil {
					return err
				}
				rivals = append(rivals, rival)
			}
			return newFeedScene(o, n, rivals).run(ctx, arena, report)
		})
		if err != nil {
			return nil, err
		}
	}
	return report, nil
}

// inSQLite is the rival that keeps everything in a file.
const inSQLite = "sqlite"

// open opens the store of a rival.
func (o *FeedsOptions) open(ctx context.Context, arena *Arena, c contender) (*feedRival, error) {
	if c.name == inSQLite {
		folder, err := os.MkdirTemp("", "plaza-bench-")
		if err != nil {
			return nil, err
		}
		store, err := sqlite.Open(ctx, filepath.Join(folder, "bench.sqlite"))
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(folder))
		}
		return o.serve(&Rival{Name: c.name}, store, folder), nil
	}
	rival, err := arena.Open(ctx, c.name, c.options)
	if err != nil {
		return nil, err
	}
	return o.serve(rival, rival.Store, ""), nil
}

func (o *FeedsOptions) serve(r *Rival, store storage.Store, folder string) *feedRival {
	return &feedRival{Rival: r, store: store, folder: folder, client: client{o.Serve(store, true)}, uncached: client{o.Serve(store, false)}}
}

// closeFiles closes the stores that no arena closes, and removes their files.
func closeFiles(rivals []*feedRival) error {
	var failed []error
	for _, r := range rivals {
		if r.folder != "" {
			failed = append(failed, r.store.Close(), os.RemoveAll(r.folder))
		}
	}
	return errors.Join(failed...)
}

// feedScene is a network with posts, and the people's roles in it.
type feedScene struct {
	o       FeedsOptions
	network *network
	rivals  []*feedRival
	dice    *rand.Rand

	star    int // followed by very many people
	popular int // has followers who all read their news
	loner   int // has no followers
	fans    []int
	readers []int // people who follow twenty or more
	posts   []*social.Post
	replies [][]*social.Comment // of each post

	discussed *social.Post // one of posts, with a long thread
	hand      *handRival
}

type feedRival struct {
	*Rival // without a database on SQLite
	client

	store    storage.Store
	folder   string   // of SQLite's file; "" means MongoDB
	uncached client   // of a server without a people cache
	deeper   [][]byte // requests for the readers' fifth pages
}

func newFeedScene(o FeedsOptions, n *network, rivals []*feedRival) *feedScene {
	s := &feedScene{
		o: o, network: n, rivals: rivals,
		dice: rand.New(rand.NewPCG(o.Seed, 3)), //nolint:gosec // a benchmark's choices need no secrecy
	}
	crowd := n.people
	s.readers = s.chooseReaders(crowd)
	s.star = n.add(min(crowd, usualStars))
	s.popular = n.add(min(crowd, o.scaled(usualFans, 20)))
	s.loner = n.add(0)
	for _, f := range n.follows {
		if f[1] == s.popular {
			s.fans = append(s.fans, f[0])
		}
	}
	s.write(o.scaled(usualPosts, 40), crowd)
	s.discuss(crowd)
	return s
}

// chooseReaders picks random people who follow twenty or more, if there are any.
func (s *feedScene) chooseReaders(crowd int) []int {
	const many = 20
	following := s.network.following()
	readers := s.dice.Perm(crowd)
	slices.SortStableFunc(readers, func(a, b int) int { return min(following[b], many) - min(following[a], many) })
	readers = readers[:min(maxReaders, crowd)]
	least := min(following[readers[0]], many)
	return slices.DeleteFunc(readers, func(n int) bool { return following[n] < least })
}

// write creates posts, more of them by people with more followers, up to a limit, and a few
// comments on each post.
func (s *feedScene) write(posts, crowd int) {
	w := newWriter(s.o.Seed)
	followers := s.network.followers()
	for i := range posts {
		author := s.star
		for followers[author] > maxPopular || author >= crowd {
			author = s.network.follows[s.dice.IntN(len(s.network.follows))][1]
		}
		at := began.Add(history * time.Duration(i) / time.Duration(posts))
		p := &social.Post{
			ID: social.PostID{ID: derived(at, "post", i)}, Author: person(author), WallOwner: person(author),
			Audience: social.Audience{Kind: social.AudiencePublic},
			Content:  social.Content{Status: &social.Status{Text: w.text()}},
		}
		if s.dice.IntN(10) == 0 {
			p.Audience.Kind = social.AudienceCircles
		}
		s.posts = append(s.posts, p)
		people := make([]social.UserID, s.dice.IntN(7))
		for k := range people {
			people[k] = person(s.dice.IntN(crowd))
		}
		s.replies = append(s.replies, thread(p.ID, fmt.Sprint("reply/", i), at, people, len(people), w))
	}
}

// discuss gives the loner a post with a long thread, which is in the news of no other user.
func (s *feedScene) discuss(crowd int) {
	people := make([]social.UserID, s.o.scaled(usualThread, pageOfThread+10))
	for i := range people {
		people[i] = person(s.dice.IntN(crowd))
	}
	s.discussed = &social.Post{
		ID: social.PostID{ID: derived(began, "post", len(s.posts))}, Author: person(s.loner), WallOwner: person(s.loner),
		Audience: social.Audience{Kind: social.AudiencePublic}, Content: social.Content{Status: &social.Status{Text: "What do you think?"}},
	}
	s.posts = append(s.posts, s.discussed)
	s.replies = append(s.replies, thread(s.discussed.ID, "discussed", began, people, len(people), newWriter(s.o.Seed)))
}

func (s *feedScene) run(ctx context.Context, arena *Arena, report *figures.Report) error {
	section := &figures.Section{
		Name:  "feeds-" + figures.FileName(s.network.name),
		Title: fmt.Sprintf("%s: %s people, %s follows, %s posts", s.network.name, figures.Grouped(s.network.people), figures.Grouped(len(s.network.follows)), figures.Grouped(len(s.posts))),
		First: s.rivals[0].Name,
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	if err := s.sameNews(ctx); err != nil {
		return err
	}
	if err := s.writeByHand(ctx, arena); err != nil {
		return fmt.Errorf("%s: %w", byHand, err)
	}
	if err := s.sameByHand(ctx); err != nil {
		return err
	}
	for _, r := range s.rivals {
		if r.folder != "" {
			continue
		}
		stored, err := r.Stored(ctx)
		if err != nil {
			return err
		}
		section.Stored = append(section.Stored, figures.StoredBy{Rival: r.Name, Stored: stored})
	}
	calls, err := s.calls(ctx)
	if err != nil {
		return err
	}
	section.Results, err = s.o.contest(arena.Meter, "measuring "+s.network.name).Run(ctx, calls)
	if err != nil {
		return err
	}
	s.remark(section)
	report.Sections = append(report.Sections, section)
	return nil
}

// load stores the network and its posts for each rival, and lets every reader read once.
func (s *feedScene) load(ctx context.Context) error {
	each := s.network.people + len(s.network.follows) + len(s.posts) + len(s.fans) + len(s.readers)
	var done atomic.Int64
	for _, r := range s.rivals {
		progress := func(n int) {
			s.o.progress("loading "+s.network.name, int(done.Add(int64(n))), each*len(s.rivals))
		}
		if err := s.loadRival(ctx, r, progress); err != nil {
			return fmt.Errorf("loading %s: %w", r.Name, err)
		}
	}
	return nil
}

func (s *feedScene) loadRival(ctx context.Context, r *feedRival, progress func(int)) error {
	if err := s.network.load(ctx, r.store, progress); err != nil {
		return err
	}
	if err := signIn(ctx, r.store, append([]int{s.star, s.popular, s.loner}, s.readers...)); err != nil {
		return err
	}
	if err := social.WorkOff(ctx, r.store); err != nil {
		return err
	}
	err := inParallel(ctx, len(s.posts), func(ctx context.Context, i int) error {
		progress(1)
		e := social.Event{ID: social.EventID{ID: derived(began, "event", i)}, Kind: social.EventPostCreated, Actor: s.posts[i].Author, Post: s.posts[i].ID}
		if err := r.store.InsertPost(ctx, s.posts[i], e); err != nil {
			return err
		}
		for _, c := range s.replies[i] {
			if err := r.store.InsertComment(ctx, c, happened(social.EventCommentAdded, c.Post)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := social.WorkOff(ctx, r.store); err != nil {
		return err
	}
	readers := append(slices.Clone(s.fans), s.readers...)
	return inParallel(ctx, len(readers), func(ctx context.Context, i int) error {
		progress(1)
		_, err := r.store.News(ctx, person(readers[i]), social.Page{Limit: social.DefaultPageSize})
		return err
	})
}

// inParallel runs n tasks, a few at a time.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range writers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return ctx.Err()
				}
				if err := do(ctx, i); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// sameNews checks that all rivals give the same results, so that the comparison is fair.
func (s *feedScene) sameNews(ctx context.Context) error {
	for _, reader := range s.readers {
		var first []byte
		for _, r := range s.rivals {
			answer, err := r.do(ctx, tokenOf(reader), newsPage1)
			switch {
			case err != nil:
				return fmt.Errorf("news, %s: %w", r.Name, err)
			case first == nil:
				first = answer
			case !bytes.Equal(first, answer):
				return fmt.Errorf("the news of %s in %s are not those in %s:\n%.2000s\n%.2000s", handle(reader), r.Name, s.rivals[0].Name, answer, first)
			}
		}
	}
	return nil
}
