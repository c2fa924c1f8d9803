package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"plaza/bench/figures"
	"plaza/bench/measure"
	"plaza/id"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
)

// LiveOptions configures [Live].
type LiveOptions struct {
	Options

	Sockets int // subscribers of each thread and of each author, before they are scaled
	Idle    int // subscribers whose memory is measured, before they are scaled; 0 means none

	// Start serves a store until ctx ends.
	Start func(ctx context.Context, st storage.Store) (*LiveServer, error)
	// Listeners starts a process that runs [Listen], and that ends when its standard input is
	// closed.
	Listeners func(ctx context.Context) (in io.WriteCloser, out io.Reader, wait func() error, err error)
}

// LiveServer is a Plaza server in this process.
type LiveServer struct {
	Handler       http.Handler
	Address       string     // host and port
	Subscriptions func() int // that are open
	Stop          func() error
}

// Kinds of selections: the subscriptions differ in how much of the answer depends on its recipient.
var selections = []struct{ name, comment, post string }{
	{"plain", `id text createdAt author { id handle name avatarUrl }`, `id text createdAt commentCount author { id handle name avatarUrl }`},
	{
		"viewer's rights", `id text createdAt author { id handle name viewerFollows } viewerCanReply viewerCanEdit viewerCanDelete`,
		`id text createdAt author { id handle name viewerFollows } viewerCanComment viewerCanEdit`,
	},
	{
		"viewer's own data", `id text createdAt author { id handle name } post { id viewerReaction }`,
		`id text createdAt author { id handle name } viewerReaction latestComments { id text }`,
	},
}

// The calls of [Live].
const (
	callLiveComment = "comment in a thread"
	callLivePost    = "post of an author"
)

const liveNotes = `A *call* is the delivery of one event to one of its subscribers: every figure is an event's cost, that of the mutation included, divided by the number of subscribers. Each subscriber is another
user on a websocket of their own, and selects the same fields as the others of the row: *plain* fields look the same to all; *viewer's rights* depend on the relation between subscriber and author; *viewer's own data* is
read for each subscriber. The subscribers are a process of their own, which is not measured. *Server* is the CPU time of Plaza's process, *mongod* that of the database: the medians of the rounds, in which all take
turns, ± half the distance of the quartiles. *p99* is by the clock, from the mutation's beginning until the last subscriber has received the event. Memory is resident memory of Plaza's process, with the garbage that it has not collected yet.`

// Live measures what live updates cost for each subscriber: CPU time for each delivery, and memory.
func Live(ctx context.Context, o LiveOptions) (*figures.Report, error) {
	if o.Sockets < 1 || o.Idle < 0 {
		return nil, errors.New("--sockets must be 1 or more, and --idle not negative")
	}
	report := &figures.Report{Name: "live", Title: "Live updates: what each subscriber costs", Command: o.Command, Notes: liveNotes}
	err := o.inArena(ctx, []contender{{name: "live"}}, func(arena *Arena, rivals []*Rival) error {
		report.Machine = arena.machine(ctx)
		s := &liveScene{o: o, meter: arena.Meter, wire: rivals[0].Wire, people: o.scaled(o.Sockets, 4)}
		if err := s.load(ctx, rivals[0].Store); err != nil {
			return err
		}
		section, err := s.measure(ctx, rivals[0].Store)
		if err == nil {
			report.Sections = append(report.Sections, section)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// liveScene has, for each selection, an author, people who follow the author, and a thread on the
// author's post.
type liveScene struct {
	o      LiveOptions
	meter  *measure.Meter
	wire   *measure.Wire
	people int // who follow each author
	server *LiveServer
}

func (s *liveScene) author(selection int) int { return len(selections)*s.people + selection }

func (s *liveScene) follower(selection, n int) int { return selection*s.people + n%s.people }

func (s *liveScene) post(selection int) social.PostID {
	return social.PostID{ID: derived(began, "post", selection)}
}

// idleThread is the number of the post whose subscribers' memory is measured.
const idleThread = 100

func (s *liveScene) load(ctx context.Context, store *mongodb.Store) error {
	n := &network{name: "subscribers", people: (s.people + 1) * len(selections)}
	for i := range selections {
		for k := range s.people {
			n.follows = append(n.follows, [2]int{s.follower(i, k), s.author(i)})
		}
	}
	n.sort()
	if err := n.load(ctx, store, func(int) {}); err != nil {
		return err
	}
	everyone := make([]int, n.people)
	for i := range everyone {
		everyone[i] = i
	}
	if err := inParallel(ctx, n.people, func(ctx context.Context, i int) error { return signIn(ctx, store, everyone[i:i+1]) }); err != nil {
		return err
	}
	for _, number := range []int{0, 1, 2, idleThread} {
		author := person(s.author(number % len(selections)))
		p := &social.Post{
			ID: s.post(number), Author: author, WallOwner: author, Audience: social.Audience{Kind: social.AudiencePublic},
			Content: social.Content{Status: &social.Status{Text: "A thread that many people listen to."}},
		}
		e := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated, Actor: author, Post: p.ID}
		if err := store.InsertPost(ctx, p, e); err != nil {
			return err
		}
	}
	return social.WorkOff(ctx, store)
}

func (s *liveScene) measure(ctx context.Context, store storage.Store) (_ *figures.Section, err error) {
	if s.server, err = s.o.Start(ctx, store); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.server.Stop()) }()
	section := &figures.Section{
		Name: "live", Title: fmt.Sprintf("%s subscribers to each event", figures.Grouped(s.people)), First: selections[0].name,
		Rivals: "selection", Rates: true,
	}
	if s.o.Idle > 0 {
		if err := s.measureIdle(ctx, section); err != nil {
			return nil, fmt.Errorf("idle subscribers: %w", err)
		}
	}
	var crowds []Crowd
	for i, of := range selections {
		crowds = append(crowds, s.crowd(i, s.threadOf(i, of.comment), s.people), s.crowd(i, `subscription { newsItemAdded { cursor event post { `+of.post+` } } }`, s.people))
	}
	l, err := s.listen(ctx, crowds)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.end()) }()
	calls := []measure.Call{{Name: callLiveComment}, {Name: callLivePost}}
	for i, of := range selections {
		for k, act := range []func(context.Context, int) error{s.aComment, s.aPost} {
			calls[k].Turns = append(calls[k].Turns, measure.Turn{Rival: of.name, Wire: s.wire, Each: s.people, Do: func(ctx context.Context, _ int) error {
				return l.event(2*i+k, func() error { return act(ctx, i) })
			}})
		}
	}
	section.Results, err = s.o.contest(s.meter, "measuring").Run(ctx, calls)
	if len(l.took[0]) > 0 {
		section.Remarkf("From the mutation until the last subscriber had a plain comment: a median of %s ms.", figures.Significant(l.median(0)))
	}
	return section, err
}

func (s *liveScene) threadOf(selection int, fields string) string {
	return `subscription { commentAdded(postId: "` + s.post(selection).String() + `") { cursor event comment { ` + fields + ` } } }`
}

// crowd returns that many followers, all different as far as there are enough people.
func (s *liveScene) crowd(selection int, subscription string, members int) Crowd {
	c := Crowd{Subscription: subscription}
	for i := range members {
		c.Tokens = append(c.Tokens, tokenOf(s.follower(selection, i)))
	}
	return c
}

func (s *liveScene) aComment(ctx context.Context, selection int) error {
	author := s.author(selection % len(selections))
	_, err := client{s.server.Handler}.do(ctx, tokenOf(author), body(replyQuery, map[string]any{"input": map[string]any{
		"postId": s.post(selection).String(), "text": "From here on every comment is one more. This is one of them.",
	}}))
	return err
}

func (s *liveScene) aPost(ctx context.Context, selection int) error {
	_, err := client{s.server.Handler}.do(ctx, tokenOf(s.author(selection)), aPost)
	return err
}

// measureIdle adds a remark on how much memory each subscriber takes: before anything happens, and
// after an event.
func (s *liveScene) measureIdle(ctx context.Context, section *figures.Section) error {
	debug.FreeOSMemory() // the memory that loading has used
	before, known := residentMemory()
	if !known {
		return nil
	}
	n := s.o.scaled(s.o.Idle, 10)
	l, err := s.listen(ctx, []Crowd{s.crowd(0, s.threadOf(idleThread, selections[0].comment), n)})
	if err != nil {
		return err
	}
	idle, _ := residentMemory()
	err = l.event(0, func() error { return s.aComment(ctx, idleThread) })
	after, _ := residentMemory()
	each := func(now int64) string { return figures.Significant(float64(now-before) / float64(n) / 1000) }
	section.Remarkf("%s idle subscribers take %s kB of resident memory each, and %s kB after an event for all of them.", figures.Grouped(n), each(idle), each(after))
	return errors.Join(err, l.end())
}

// residentMemory returns how many bytes of memory this process has, including garbage.
func residentMemory() (bytes int64, known bool) {
	text, err := os.ReadFile("/proc/self/statm") // in pages: the total, and the resident part
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// listeners is a process of subscribers.
type listeners struct {
	decoder *json.Decoder
	in      io.Closer
	wait    func() error
	kill    context.CancelFunc
	took    map[int][]time.Duration // from a mutation until the last member of a crowd had its event
}

// patience limits how long listeners may take for anything.
const patience = 2 * time.Minute

// listen starts listeners, and waits until all are subscribed.
func (s *liveScene) listen(ctx context.Context, crowds []Crowd) (*listeners, error) {
	ctx, kill := context.WithCancel(ctx)
	in, out, wait, err := s.o.Listeners(ctx)
	if err != nil {
		kill()
		return nil, err
	}
	l := &listeners{decoder: json.NewDecoder(out), in: in, wait: wait, kill: kill, took: map[int][]time.Duration{}}
	err = json.NewEncoder(in).Encode(Listening{URL: "ws://" + s.server.Address + "/graphql", Crowds: crowds})
	if err == nil {
		_, err = l.line()
	}
	all := 0
	for _, crowd := range crowds {
		all += len(crowd.Tokens)
	}
	if err == nil {
		err = s.subscribed(ctx, all)
	}
	if err != nil {
		return nil, errors.Join(err, l.end())
	}
	return l, nil
}

// subscribed waits until the server has that many subscriptions.
func (s *liveScene) subscribed(ctx context.Context, all int) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for s.server.Subscriptions() < all {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d subscribers are connected: %w", s.server.Subscriptions(), all, ctx.Err())
		case <-again.C:
		}
	}
	return nil
}

// line waits for the next line of the process.
func (l *listeners) line() (line progressLine, err error) {
	late := time.AfterFunc(patience, l.kill)
	defer late.Stop()
	if err := l.decoder.Decode(&line); err != nil {
		return line, fmt.Errorf("the subscribers are gone, or did not receive an event: %w", err)
	}
	return line, nil
}

// event calls a function that causes an event, and waits until all of a crowd have received it.
func (l *listeners) event(crowd int, act func() error) error {
	began := time.Now()
	if err := act(); err != nil {
		return err
	}
	for {
		line, err := l.line()
		if err != nil {
			return err
		}
		if line.Crowd == crowd && !line.Ready {
			l.took[crowd] = append(l.took[crowd], line.At.Sub(began))
			return nil
		}
	}
}

// median returns how long the median event took, in ms.
func (l *listeners) median(crowd int) float64 {
	all := slices.Sorted(slices.Values(l.took[crowd]))
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2].Seconds() * 1000
}

// end ends the process, and waits until it has ended.
func (l *listeners) end() error {
	defer l.kill()
	return errors.Join(l.in.Close(), l.wait())
}
