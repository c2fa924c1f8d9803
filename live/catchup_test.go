package live

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"weak"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/social/network"
)

// wallStore has one author and the posts on their wall. It returns a new copy each time, and knows
// which copies are still in use.
type wallStore struct {
	social.Store

	author social.UserID
	ids    []social.PostID // oldest first
	text   string          // of each post, after its number

	mu     sync.Mutex
	copies []weak.Pointer[social.Post]
	reads  int // of posts by their ids
}

func newWallStore(posts int, text string) *wallStore {
	st := &wallStore{author: social.UserID{ID: id.New()}, text: text}
	for range posts {
		st.ids = append(st.ids, social.PostID{ID: id.New()})
	}
	return st
}

func (st *wallStore) post(n int) *social.Post {
	p := &social.Post{
		ID: st.ids[n], Author: st.author, WallOwner: st.author, Audience: social.Audience{Kind: social.AudiencePublic},
		Content: social.Content{Status: &social.Status{Text: strconv.Itoa(n) + " " + strings.Clone(st.text)}},
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.copies = append(st.copies, weak.Make(p))
	return p
}

// inUse counts the copies that have not been collected.
func (st *wallStore) inUse() (n int) {
	runtime.GC()
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, p := range st.copies {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

func (st *wallStore) Wall(_ context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	list := lists[0]
	var found []*social.Post
	for n, post := range st.ids {
		if social.Key(post.Bytes()) > list.Page.Before && len(found) < list.Page.Limit {
			found = append(found, st.post(n))
		}
	}
	slices.Reverse(found)
	return map[social.List[social.UserID]][]*social.Post{list: found}, nil
}

func (st *wallStore) Posts(_ context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	st.mu.Lock()
	st.reads++
	st.mu.Unlock()
	found := map[social.PostID]*social.Post{}
	for _, post := range ids {
		if n := slices.Index(st.ids, post); n >= 0 {
			found[post] = st.post(n)
		}
	}
	return found, nil
}

func (st *wallStore) Users(context.Context, []social.UserID) (map[social.UserID]*social.User, error) {
	return map[social.UserID]*social.User{st.author: {ID: st.author}}, nil
}

func (st *wallStore) Relations(context.Context, []social.Pair) (map[social.Pair]social.Relation, error) {
	return nil, nil
}

// numbersReceiver receives the numbers of posts. It is used by one goroutine until done is closed.
type numbersReceiver struct {
	encoding func() // called while an item is encoded; nil: nothing
	sending  func() // called before items are received; nil: nothing
	last     string

	got    []string
	awaits int
	done   chan struct{}
}

func (r *numbersReceiver) Await()      { r.awaits++ }
func (r *numbersReceiver) Admit() bool { return true }
func (r *numbersReceiver) End(error)   {}

func (r *numbersReceiver) Encoder() func(item *Item) []byte {
	return func(item *Item) []byte {
		if r.encoding != nil {
			r.encoding()
		}
		return []byte(item.Post.Content.Text())
	}
}

func (r *numbersReceiver) Send(texts ...[]byte) {
	if r.sending != nil {
		r.sending()
	}
	for _, text := range texts {
		number, _, _ := strings.Cut(string(text), " ")
		r.got = append(r.got, strings.Clone(number))
	}
	if r.got[len(r.got)-1] == r.last {
		close(r.done)
	}
}

// receive begins a subscription, and waits until it has received the last of the posts.
func receive(t *testing.T, st *wallStore, r *numbersReceiver, begin func(*Hub)) {
	t.Helper()
	r.last, r.done = strconv.Itoa(len(st.ids)-1), make(chan struct{})
	begin(New(network.New(st, network.Options{}), nil, slog.New(slog.DiscardHandler), func([32]byte) {}))
	select {
	case <-r.done:
	case <-t.Context().Done():
	}
	var all []string
	for n := range st.ids {
		all = append(all, strconv.Itoa(n))
	}
	if !slices.Equal(r.got, all) {
		t.Errorf("got %v, want each post once, in order", r.got)
	}
}

// fromTheBeginning is a position before all posts.
var fromTheBeginning = social.Key(make([]byte, 16))

// TestWaitingUpdatesAreBoundedInBytes: however long the posts are that a subscription reads, it
// keeps only a few while its subscriber takes their time, and still sends all of them.
func TestWaitingUpdatesAreBoundedInBytes(t *testing.T) {
	const length = 40 << 10
	for name, begin := range map[string]func(context.Context, *Hub, *wallStore, Receiver){
		"wall": func(ctx context.Context, h *Hub, st *wallStore, r Receiver) {
			h.Wall(ctx, Subscriber{}, st.author, fromTheBeginning, r)
		},
		"changes": func(ctx context.Context, h *Hub, st *wallStore, r Receiver) {
			h.Posts(ctx, Subscriber{}, st.ids, true, r)
		},
	} {
		st := newWallStore(100, strings.Repeat("x", length))
		most := 0
		r := &numbersReceiver{sending: func() { most = max(most, st.inUse()) }}
		receive(t, st, r, func(h *Hub) { begin(t.Context(), h, st, r) })
		if (most+1)*length > pageBytes { // the one that is being sent is only a text
			t.Errorf("%s: %d posts of %d bytes waited for a slow subscriber", name, most, length)
		}
	}
}

// TestShortPostsAreReadManyAtATime: the pages of someone who catches up grow as long as the posts
// are short.
func TestShortPostsAreReadManyAtATime(t *testing.T) {
	t.Parallel()
	var p paging
	var sizes []int
	for range 4 {
		sizes = append(sizes, p.limit())
		p.keep(p.limit(), func(int) int { return 200 })
	}
	if want := []int{firstPage, 2 * firstPage, 4 * firstPage, largestPage}; !slices.Equal(sizes, want) {
		t.Errorf("pages of %v, want %v", sizes, want)
	}
	if kept := p.keep(largestPage, func(int) int { return pageBytes / 3 }); kept != 3 || p.limit() != 3 {
		t.Errorf("%d long posts are kept, then %d are read", kept, p.limit())
	}
	if kept := p.keep(3, func(int) int { return 2 * pageBytes }); kept != 1 {
		t.Errorf("%d posts are kept of which none fits, want 1", kept)
	}
}

// TestUpdatesArriveWhileMuchIsHidden: something is hidden again and again, after every few items
// that are encoded. The subscriber gets all that they may see nevertheless.
func TestUpdatesArriveWhileMuchIsHidden(t *testing.T) {
	t.Parallel()
	st := newWallStore(60, "short")
	encoded := 0
	var h *Hub
	r := &numbersReceiver{}
	r.encoding = func() {
		if encoded++; encoded%4 == 0 {
			h.service.MayHaveHidden()
		}
	}
	receive(t, st, r, func(hub *Hub) {
		h = hub
		h.Wall(t.Context(), Subscriber{}, st.author, fromTheBeginning, r)
	})
	if most := 3 * len(st.ids); encoded > most {
		t.Errorf("%d items were encoded to send %d", encoded, len(st.ids))
	}
}

// TestOthersHideNothing: what only others no longer see, because they unfollow, mute or leave
// circles, does not delay a subscriber, and is not a reason to read again.
func TestOthersHideNothing(t *testing.T) {
	t.Parallel()
	st := newWallStore(40, "short")
	one, other, viewer := social.UserID{ID: id.New()}, social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	encoded := 0
	var h *Hub
	r := &numbersReceiver{}
	hide := func() {
		for _, kind := range []social.EventKind{social.EventUnfollowed, social.EventMuted, social.EventMemberRemoved, social.EventThreadMuted} {
			h.service.Noted(social.Event{Kind: kind, Actor: one, Target: other})
		}
	}
	r.encoding = func() {
		encoded++
		hide()
	}
	receive(t, st, r, func(hub *Hub) {
		h = hub
		hide()
		for h.service.HaveHidden(0, viewer) { // the groups of ids may be the same
			viewer = social.UserID{ID: id.New()}
		}
		h.Wall(t.Context(), Subscriber{Viewer: viewer}, st.author, fromTheBeginning, r)
	})
	if encoded != len(st.ids) || st.reads > 0 {
		t.Errorf("%d items were encoded to send %d, with %d reads", encoded, len(st.ids), st.reads)
	}
}

// TestAttemptsAreCharged: a subscriber pays for an item that must be encoded again and again.
func TestAttemptsAreCharged(t *testing.T) {
	t.Parallel()
	const hidden = 6
	st := newWallStore(1, "short")
	encoded := 0
	var h *Hub
	r := &numbersReceiver{}
	r.encoding = func() {
		if encoded++; encoded <= hidden {
			h.service.MayHaveHidden()
		}
	}
	receive(t, st, r, func(hub *Hub) {
		h = hub
		h.Wall(t.Context(), Subscriber{}, st.author, fromTheBeginning, r)
	})
	if r.awaits != hidden { // the first two attempts are one charge
		t.Errorf("%d attempts were charged %d times", encoded, r.awaits)
	}
}

// TestTurnsAreShared: however many subscriptions of one reader wait to read the past, those of
// others get turns.
func TestTurnsAreShared(t *testing.T) {
	t.Parallel()
	p := newPast(nil)
	greedy := reader{client: "greedy"}
	release, entered := make(chan struct{}), make(chan struct{}, 2*pastReaders)
	var all sync.WaitGroup
	for range 2 * pastReaders {
		all.Go(func() {
			_, done, err := p.turn(t.Context(), greedy)
			if err != nil {
				t.Error(err)
				return
			}
			entered <- struct{}{}
			<-release
			done()
		})
	}
	testtime.Eventually(t, "all of them wait", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(entered) == readersOfOne && p.own[greedy].readers == 2*pastReaders
	})
	for n := range pastReaders - readersOfOne {
		_, done, err := p.turn(t.Context(), reader{client: strconv.Itoa(n)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(done)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := p.turn(gone, greedy); err == nil {
		t.Error("a subscription that has ended got a turn")
	}
	close(release)
	all.Wait()
	if p.mu.Lock(); p.own[greedy] != nil {
		t.Errorf("%+v is kept of a reader who is done", p.own[greedy])
	}
	p.mu.Unlock()
}
