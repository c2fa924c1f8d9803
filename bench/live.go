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

	Sockets int    // subscribers of each thread and of each author, before they are scaled
	Many    int    // subscribers of the second table, which has only plain fields; 0 means none
	Idle    int    // subscribers whose memory is measured, before they are scaled; 0 means none
	Files   uint64 // that this process and that of the listeners may each open; 0 if unknown

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
type selection struct{ name, comment, post string }

var selections = []selection{
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
	callLiveReturn  = "reconnect in a thread"
)

// missedComments is how many comments a subscriber who reconnects has missed.
const missedComments = 10

const liveNotes = `A *call* is the delivery of one event to one of its subscribers: every figure is an event's cost, that of the mutation included, divided by the number of subscribers. Each subscriber is another
user on a websocket of their own, and selects the same fields as the others of the row: *plain* fields look the same to all; *viewer's rights* depend on the relation between subscriber and author; *viewer's own data* is
read for each subscriber. A *reconnect* is one subscriber's share of a storm: all connections are cut, and all subscribers connect again, up to 32 at the same time, with the cursor (` + "`after`" + `) of what they had; each receives the 10 comments that it missed.
The subscribers are a process of their own, which is not measured. *Server* is the CPU time of Plaza's process, *mongod* that of the database: the medians of the rounds, in which all take
turns, ± half the distance of the quartiles. *p99* is by the clock, from the mutation's beginning until the last subscriber has received the event, or from the beginning of a storm until the last subscriber has received everything. Memory is resident memory of Plaza's process, with the garbage that it has not collected yet.`

// Live measures what live updates cost for each subscriber: CPU time for each delivery and each
// reconnect, and memory.
func Live(ctx context.Context, o LiveOptions) (*figures.Report, error) {
	if o.Sockets < 1 || o.Idle < 0 || o.Many < 0 {
		return nil, errors.New("--sockets must be 1 or more, and --many and --idle not negative")
	}
	if err := o.checkFiles(); err != nil {
		return nil, err
	}
	report := &figures.Report{Name: "live", Title: "Live updates: what each subscriber costs", Command: o.Command, Notes: liveNotes}
	scenes := []*liveScene{{o: o, name: "live", selections: selections, people: o.scaled(o.Sockets, 4), idle: o.scaled(o.Idle, 10)}}
	if o.Idle == 0 {
		scenes[0].idle = 0
	}
	if o.Many > 0 {
		scenes = append(scenes, &liveScene{o: o, name: "live-many", selections: selections[:1], people: o.scaled(o.Many, 4)})
	}
	for _, s := range scenes {
		err := o.inArena(ctx, []contender{{name: "live"}}, func(arena *Arena, rivals []*Rival) error {
			report.Machine = arena.machine(ctx)
			s.meter, s.wire = arena.Meter, rivals[0].Wire
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
	}
	return report, nil
}

// otherFiles is how many files each process opens, beside those of its sockets.
const otherFiles = 200

// checkFiles returns an error if the processes may not open as many sockets as they need.
func (o *LiveOptions) checkFiles() error {
	need := uint64(max(len(selections)*o.scaled(o.Sockets, 4), o.scaled(o.Many, 4), o.scaled(o.Idle, 10)) + otherFiles)
	if o.Files == 0 || need <= o.Files {
		return nil
	}
	return fmt.Errorf("the subscribers need %s open files in each of two processes, and a process may open %s: allow more with ulimit -n %d, or give a smaller --sockets, --many or --idle",
		figures.Grouped(int(need)), figures.Grouped(int(o.Files)), need)
}

// liveScene has, for each selection, an author, people who follow the author, and a thread on the
// author's post.
type liveScene struct {
	o          LiveOptions
	name       string
	selections []selection
	people     int // who follow each author
	idle       int // subscribers whose memory is measured
	meter      *measure.Meter
	wire       *measure.Wire
	server     *LiveServer
}

func (s *liveScene) author(selection int) int { return len(s.selections)*s.people + selection }

func (s *liveScene) follower(selection, n int) int { return selection*s.people + n%s.people }

func (s *liveScene) post(selection int) social.PostID {
	return social.PostID{ID: derived(began, "post", selection)}
}

// The numbers of other posts: the one whose subscribers' memory is measured, and the one whose
// subscribers reconnect.
const (
	idleThread   = 100
	returnThread = 101
)

func (s *liveScene) load(ctx context.Context, store *mongodb.Store) error {
	n := &network{name: "subscribers", people: (s.people + 1) * len(s.selections)}
	for i := range s.selections {
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
	for _, number := range []int{0, 1, 2, idleThread, returnThread} {
		author := person(s.author(number % len(s.selections)))
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
		Name: s.name, Title: fmt.Sprintf("%s subscribers to each event", figures.Grouped(s.people)), First: s.selections[0].name,
		Rivals: "selection", Rates: true,
	}
	if s.idle > 0 {
		if err := s.measureIdle(ctx, section); err != nil {
			return nil, fmt.Errorf("idle subscribers: %w", err)
		}
	}
	for _, measure := range []func(context.Context, *figures.Section) error{s.measureComments, s.measurePosts, s.measureReturns} {
		if err := measure(ctx, section); err != nil {
			return nil, err
		}
	}
	return section, nil
}

func (s *liveScene) measureComments(ctx context.Context, section *figures.Section) error {
	var crowds []Crowd
	for i, of := range s.selections {
		crowds = append(crowds, s.crowd(i, s.threadOf(i, "", of.comment), s.people))
	}
	return s.measureCall(ctx, section, callLiveComment, crowds, func(ctx context.Context, l *listeners, i int) error {
		return l.event(i, func() error { return s.aComment(ctx, i) })
	})
}

func (s *liveScene) measurePosts(ctx context.Context, section *figures.Section) error {
	var crowds []Crowd
	for i, of := range s.selections {
		crowds = append(crowds, s.crowd(i, `subscription { newsItemAdded { cursor event post { `+of.post+` } } }`, s.people))
	}
	return s.measureCall(ctx, section, callLivePost, crowds, func(ctx context.Context, l *listeners, i int) error {
		return l.event(i, func() error { return s.aPost(ctx, i) })
	})
}

// measureReturns measures storms: all subscribers of a thread lose their connections, and resume.
func (s *liveScene) measureReturns(ctx context.Context, section *figures.Section) error {
	if !strings.Contains(callLiveReturn, s.o.Only) {
		return nil
	}
	var cursor string
	for i := range 1 + missedComments {
		if err := s.aComment(ctx, returnThread); err != nil {
			return err
		}
		var err error
		if i > 0 {
			continue
		}
		if cursor, err = s.newestCursor(ctx); err != nil {
			return err
		}
	}
	var crowds []Crowd
	for i, of := range s.selections {
		crowds = append(crowds, s.crowd(i, s.threadOf(returnThread, cursor, of.comment), s.people))
	}
	return s.measureCall(ctx, section, callLiveReturn, crowds, func(_ context.Context, l *listeners, i int) error { return l.storm(i, missedComments) })
}

// newestCursor returns the cursor of the newest comment in the thread whose subscribers reconnect.
func (s *liveScene) newestCursor(ctx context.Context) (string, error) {
	answer, err := client{s.server.Handler}.do(ctx, "", body(`query($id: ID!) { post(id: $id) { comments(first: 1, order: NEWEST) { pageInfo { startCursor } } } }`,
		map[string]any{"id": s.post(returnThread).String()}))
	if err != nil {
		return "", err
	}
	var found struct {
		Data struct {
			Post struct {
				Comments struct {
					PageInfo struct {
						StartCursor string `json:"startCursor"`
					} `json:"pageInfo"`
				} `json:"comments"`
			} `json:"post"`
		} `json:"data"`
	}
	err = json.Unmarshal(answer, &found)
	return found.Data.Post.Comments.PageInfo.StartCursor, err
}

// measureCall measures a call, with a crowd for each selection.
func (s *liveScene) measureCall(ctx context.Context, section *figures.Section, call string, crowds []Crowd, do func(ctx context.Context, l *listeners, i int) error) (err error) {
	if !strings.Contains(call, s.o.Only) {
		return nil
	}
	l, err := s.listen(ctx, crowds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.end()) }()
	if call == callLiveReturn { // what they missed before their first connection
		for i := range crowds {
			if err := l.await(i, missedComments); err != nil {
				return err
			}
		}
	}
	of := measure.Call{Name: call}
	for i, selection := range s.selections {
		of.Turns = append(of.Turns, measure.Turn{Rival: selection.name, Wire: s.wire, Each: s.people, Do: func(ctx context.Context, _ int) error { return do(ctx, l, i) }})
	}
	results, err := s.o.contest(s.meter, "measuring "+call).Run(ctx, []measure.Call{of})
	section.Results = append(section.Results, results...)
	if len(l.took) > 0 {
		section.Remarkf("%s, plain: half of the subscribers have it after %s ms, 99%% after %s ms, and the last after %s ms, from the mutation's beginning, so the commit is included; the mutation is answered after %s ms (medians of the events).",
			strings.ToUpper(call[:1])+call[1:], l.median(func(d delivery) time.Duration { return d.half }), l.median(func(d delivery) time.Duration { return d.most }),
			l.median(func(d delivery) time.Duration { return d.last }), l.median(func(d delivery) time.Duration { return d.answered }))
	}
	return err
}

// threadOf subscribes to a thread, after a cursor unless that is empty.
func (s *liveScene) threadOf(number int, cursor, fields string) string {
	after := ""
	if cursor != "" {
		after = `, after: "` + cursor + `"`
	}
	return `subscription { commentAdded(postId: "` + s.post(number).String() + `"` + after + `) { cursor event comment { ` + fields + ` } } }`
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
	author := s.author(selection % len(s.selections))
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
	n := s.idle
	l, err := s.listen(ctx, []Crowd{s.crowd(0, s.threadOf(idleThread, "", s.selections[0].comment), n)})
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
	encoder *json.Encoder
	decoder *json.Decoder
	in      io.Closer
	wait    func() error
	kill    context.CancelFunc
	early   map[int][]progressLine // of crowds that were not awaited yet
	took    []delivery             // of the events of the first crowd
}

// delivery is how long an event took, from the beginning of its mutation until the answer, and
// until half of the crowd, 99 of 100 and all had received it.
type delivery struct{ answered, half, most, last time.Duration }

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
	l := &listeners{encoder: json.NewEncoder(in), decoder: json.NewDecoder(out), in: in, wait: wait, kill: kill, early: map[int][]progressLine{}}
	err = l.encoder.Encode(Listening{URL: "ws://" + s.server.Address + "/graphql", Crowds: crowds})
	if err == nil {
		err = l.ready()
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

// ready waits until all are subscribed. Those who have missed something may receive it before.
func (l *listeners) ready() error {
	for {
		line, err := l.line()
		if err != nil || line.Ready {
			return err
		}
		l.early[line.Crowd] = append(l.early[line.Crowd], line)
	}
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
	answered := time.Since(began)
	line, err := l.next(crowd)
	if err == nil && crowd == 0 {
		l.took = append(l.took, delivery{answered, line.Half.Sub(began), line.Most.Sub(began), line.At.Sub(began)})
	}
	return err
}

// next waits until all of a crowd have received one more event.
func (l *listeners) next(crowd int) (progressLine, error) {
	for len(l.early[crowd]) == 0 {
		line, err := l.line()
		if err != nil {
			return line, err
		}
		l.early[line.Crowd] = append(l.early[line.Crowd], line)
	}
	line := l.early[crowd][0]
	l.early[crowd] = l.early[crowd][1:]
	return line, nil
}

// await waits until all of a crowd have received that many more events.
func (l *listeners) await(crowd, events int) error {
	for range events {
		if _, err := l.next(crowd); err != nil {
			return err
		}
	}
	return nil
}

// storm cuts all connections of a crowd, and waits until its members have subscribed again and have
// received that many events.
func (l *listeners) storm(crowd, events int) error {
	if err := l.encoder.Encode(Storm{Crowd: crowd}); err != nil {
		return err
	}
	return l.await(crowd, events)
}

// median returns the median of a time of all events, in ms.
func (l *listeners) median(of func(delivery) time.Duration) string {
	all := make([]time.Duration, len(l.took))
	for i, d := range l.took {
		all[i] = of(d)
	}
	slices.Sort(all)
	return figures.Significant(all[len(all)/2].Seconds() * 1000)
}

// end ends the process, and waits until it has ended.
func (l *listeners) end() error {
	defer l.kill()
	return errors.Join(l.in.Close(), l.wait())
}
