package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/live"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// liveItem is an item of a subscription.
type liveItem struct{ Cursor, Event, Text string }

// itemIn reads an item from a message; ok is false if it is something else.
func itemIn(m plazatest.Message) (item liveItem, ok bool) {
	type content struct {
		Cursor, Event string
		Post, Comment struct{ Text string }
	}
	var payload struct {
		Data struct{ NewsItemAdded, CommentAdded content }
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil {
		return liveItem{}, false
	}
	news, comment := payload.Data.NewsItemAdded, payload.Data.CommentAdded
	return liveItem{news.Cursor + comment.Cursor, news.Event + comment.Event, news.Post.Text + comment.Comment.Text}, true
}

// nextItem waits for the next item.
func nextItem(t *testing.T, s *plazatest.Socket) liveItem {
	t.Helper()
	m := s.Next()
	item, ok := itemIn(m)
	if !ok {
		t.Fatalf("want an item, got %+v %s", m, m.Payload)
	}
	return item
}

// wantTexts waits for items with these texts, and returns the last one's cursor.
func wantTexts(t *testing.T, s *plazatest.Socket, texts ...string) (cursor string) {
	t.Helper()
	for _, want := range texts {
		item := nextItem(t, s)
		if item.Text != want || item.Event != "ADDED" || item.Cursor == "" {
			t.Errorf("got %+v, want %q", item, want)
		}
		cursor = item.Cursor
	}
	return cursor
}

func newsAfter(cursor string) string {
	return fmt.Sprintf(`subscription { newsItemAdded(after: %q) { cursor event post { text } } }`, cursor)
}

func commentsAfter(post, cursor string) string {
	return fmt.Sprintf(`subscription { commentAdded(postId: %q, after: %q) { cursor event comment { text } } }`, post, cursor)
}

// TestNewsResume: a subscription begins after the cursor of an item or of an entry of the list,
// with everything that its subscriber may see now, and continues with live items.
func TestNewsResume(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob, cara := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "cara")
		bob.Follow(t, "ada")
		ada.Status(t, "0", plazatest.Public)
		first := bob.Connect(t)
		first.Subscribe(plaza, "1", newsAfter(newsCursor(t, bob)))
		ada.Status(t, "1", plazatest.Public)
		cursor := wantTexts(t, first, "1")
		_ = first.Conn.Close()
		ada.Status(t, "2", plazatest.Public)
		hidden := ada.Status(t, "deleted", plazatest.Public)
		cara.Status(t, "not followed", plazatest.Public)
		ada.Status(t, "secret", map[string]any{"kind": "ONLY_ME"})
		bob.Status(t, "3", plazatest.Public)
		ada.Mutate(t, "deletePost", "", map[string]any{"postId": hidden})
		fromList := newsCursor(t, bob)
		ada.Status(t, "4", plazatest.Public)
		again := bob.Connect(t)
		again.Subscribe(plaza, "2", newsAfter(cursor))
		wantTexts(t, again, "2", "3", "4")
		ada.Status(t, "5", plazatest.Public)
		if last := wantTexts(t, again, "5"); last != newsCursor(t, bob) {
			t.Error("an item has another cursor than its entry in the list")
		}
		list := bob.Connect(t)
		list.Subscribe(plaza, "3", newsAfter(fromList))
		wantTexts(t, list, "4", "5")
	})
}

// newsCursor returns the cursor of the newest entry of a person's news.
func newsCursor(t *testing.T, p plazatest.Person) string {
	t.Helper()
	var answer struct {
		Viewer struct {
			News struct{ PageInfo struct{ StartCursor string } }
		}
	}
	p.Do(t, `{ viewer { news(first: 1) { pageInfo { startCursor } } } }`, nil, &answer)
	return answer.Viewer.News.PageInfo.StartCursor
}

// TestThreadsResume checks the same for comments, in both orders, also for signed-out readers. They get
// a tombstone before the replies to it.
func TestThreadsResume(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		reader := plaza.As(t, "anyone")
		post := ada.Status(t, "talk", plazatest.Public)
		bob.Comment(t, post, "1")
		bob.Comment(t, post, "2")
		oldest, newest := threadCursor(t, reader, post, "OLDEST"), threadCursor(t, reader, post, "NEWEST")
		bob.Comment(t, post, "3")
		tombstone := bob.Comment(t, post, "deleted")
		ada.Mutate(t, "addComment", "", map[string]any{"postId": post, "text": "4", "parentId": tombstone})
		bob.DeleteComment(t, tombstone)
		for cursor, missed := range map[string][]string{oldest: {"2", "3", "", "4"}, newest: {"3", "", "4"}} {
			s := reader.Connect(t)
			s.Subscribe(plaza, "1", commentsAfter(post, cursor))
			again := wantTexts(t, s, missed...)
			last := bob.Connect(t)
			last.Subscribe(plaza, "1", commentsAfter(post, again))
			bob.Comment(t, post, "5")
			wantTexts(t, s, "5")
			wantTexts(t, last, "5")
			_ = s.Conn.Close()
			bob.DeleteComment(t, lastComment(t, reader, post))
		}
	})
}

// TestTombstonesArriveWithTheirReplies: who follows a thread gets, after a position, exactly what the
// list has there: a comment that is a tombstone, because it was deleted or moderators have hidden it,
// comes before its replies. What the list does not have does not arrive.
func TestTombstonesArriveWithTheirReplies(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob, mia := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "mia")
		signedOut := plazatest.Person{URL: plaza.URL}
		plazatest.Grant(t, plaza, "GRANT: moderate mia")
		post := ada.Status(t, "talk", plazatest.Public)
		ada.Comment(t, post, "1")
		cursor := threadCursor(t, signedOut, post, "OLDEST")
		reply := func(to, text string) string {
			t.Helper()
			return ada.Mutate(t, "addComment", "comment { id }", map[string]any{"postId": post, "text": text, "parentId": to})
		}
		alone := bob.Comment(t, post, "hidden, alone")
		answered := bob.Comment(t, post, "hidden, answered")
		reply(answered, "2")
		deleted := bob.Comment(t, post, "deleted")
		below := reply(deleted, "deleted, too")
		reply(below, "3")
		gone := bob.Comment(t, post, "gone")
		for _, comment := range []string{alone, answered} {
			reportAbuse(t, ada, comment)
			decide(t, mia, comment, "HIDE")
		}
		for by, comments := range map[plazatest.Person][]string{bob: {deleted, gone}, ada: {below}} {
			for _, comment := range comments {
				by.DeleteComment(t, comment)
			}
		}
		wants := map[string][]string{
			"": {"tombstone", "2", "tombstone", "tombstone", "3"}, "ada": {"tombstone", "2", "tombstone", "tombstone", "3"},
			"bob": {"hidden, alone", "hidden, answered", "2", "tombstone", "tombstone", "3"},
		}
		for name, p := range map[string]plazatest.Person{"": signedOut, "ada": ada, "bob": bob} {
			if got := inThreadAfter(t, p, post, cursor); !slices.Equal(got, wants[name]) {
				t.Fatalf("%q: the list has %q, want %q", name, got, wants[name])
			}
			s := p.Connect(t)
			s.Subscribe(plaza, "1", fmt.Sprintf(`subscription { commentAdded(postId: %q, after: %q) { event comment { text isDeleted author { handle } parent { id } } } }`, post, cursor))
			for i, want := range wants[name] {
				if got := nextSaid(t, s); got != want {
					t.Errorf("%q: item %d is %q, want %q", name, i, got, want)
				}
			}
			_ = s.Conn.Close()
		}
		wantViewers(t, plaza, ada, map[string]string{alone: "", answered: "ada tombstone", deleted: "ada bob tombstone", gone: ""})
	})
}

// inThreadAfter returns the texts of a thread after a cursor, oldest first; "tombstone" for a
// tombstone.
func inThreadAfter(t *testing.T, p plazatest.Person, post, cursor string) (texts []string) {
	t.Helper()
	var answer struct {
		Node struct {
			Comments struct {
				Nodes []struct {
					Text      *string
					IsDeleted bool
				}
			}
		}
	}
	p.Do(t, fmt.Sprintf(`{ node(id: %q) { ... on Post { comments(after: %q) { nodes { text isDeleted } } } } }`, post, cursor), nil, &answer)
	for _, c := range answer.Node.Comments.Nodes {
		if c.IsDeleted {
			texts = append(texts, "tombstone")
		} else {
			texts = append(texts, *c.Text)
		}
	}
	return texts
}

// nextSaid waits for a new comment, and returns its text; "tombstone" for a tombstone without text and
// author.
func nextSaid(t *testing.T, s *plazatest.Socket) string {
	t.Helper()
	m := s.Next()
	var payload struct {
		Data struct {
			CommentAdded struct {
				Event   string
				Comment struct {
					Text      *string
					IsDeleted bool
					Author    *struct{ Handle string }
				}
			}
		}
	}
	if err := json.Unmarshal(m.Payload, &payload); err != nil || m.Type != "next" || payload.Data.CommentAdded.Event != "ADDED" {
		t.Fatalf("got %+v %s: %v", m, m.Payload, err)
	}
	switch c := payload.Data.CommentAdded.Comment; {
	case c.IsDeleted && c.Text == nil && c.Author == nil:
		return "tombstone"
	case c.IsDeleted || c.Text == nil || c.Author == nil:
		t.Fatalf("half a tombstone: %s", m.Payload)
		return ""
	default:
		return *c.Text
	}
}

// wantViewers checks who, of ada and bob, would get comments that were written just now.
func wantViewers(t *testing.T, plaza *plazatest.Plaza, p plazatest.Person, wants map[string]string) {
	t.Helper()
	service := network.New(plaza.Store, network.Options{})
	names := map[social.UserID]string{}
	for _, name := range []string{"ada", "bob"} {
		user, err := social.ParseUserID(p.IDOf(t, name))
		if err != nil {
			t.Fatal(err)
		}
		names[user] = name
	}
	for comment, want := range wants {
		id, err := social.ParseCommentID(comment)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := service.CommentViewers(t.Context(), id, slices.Collect(maps.Keys(names)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for viewer := range seen.Viewers {
			got = append(got, names[viewer])
		}
		slices.Sort(got)
		if seen.Comment != nil && seen.Comment.Deleted && !seen.Comment.Hidden && seen.Comment.Text == "" {
			got = append(got, "tombstone")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s would go to %q, want %q", comment, got, want)
		}
	}
}

// threadCursor returns the cursor of the first entry of a thread in an order.
func threadCursor(t testing.TB, p plazatest.Person, post, order string) string {
	t.Helper()
	var answer struct {
		Post struct {
			Comments struct{ PageInfo struct{ StartCursor string } }
		}
	}
	p.Do(t, fmt.Sprintf(`{ post: node(id: %q) { ... on Post { comments(first: 1, order: %s) { pageInfo { startCursor } } } } }`, post, order), nil, &answer)
	return answer.Post.Comments.PageInfo.StartCursor
}

func lastComment(t *testing.T, p plazatest.Person, post string) string {
	t.Helper()
	var answer struct {
		Post struct {
			Comments struct{ Nodes []struct{ ID string } }
		}
	}
	p.Do(t, fmt.Sprintf(`{ post: node(id: %q) { ... on Post { comments(first: 1, order: NEWEST) { nodes { id } } } } }`, post), nil, &answer)
	return answer.Post.Comments.Nodes[0].ID
}

// TestCursorsOfOtherSubscriptions checks that cursors of other lists and malformed ones are
// refused.
func TestCursorsOfOtherSubscriptions(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		post, other := ada.Status(t, "talk", plazatest.Public), ada.Status(t, "other", plazatest.Public)
		ada.Comment(t, post, "1")
		bob.Follow(t, "ada")
		news, thread := newsCursor(t, bob), threadCursor(t, bob, post, "OLDEST")
		socket := bob.Connect(t)
		for i, operation := range []string{
			newsAfter(newsCursor(t, ada)), newsAfter(thread), newsAfter(news[:len(news)-1]), newsAfter(news + "A"), newsAfter(""), `subscription { newsItemAdded(after: "\u0000") { cursor } }`,
			newsAfter(strings.Repeat("A", 100_000)), commentsAfter(post, news), commentsAfter(other, thread), commentsAfter(post, thread[1:]),
			commentsAfter(post, threadCursor(t, bob, post, "THREADED")), incomingAfter(news), wallAfter(bob.IDOf(t, "ada"), news), wallAfter(bob.IDOf(t, "bob"), wallCursor(t, bob, "ada")),
		} {
			id := strconv.Itoa(i)
			socket.Send(id, "subscribe", map[string]string{"query": operation})
			m := socket.Next()
			if refusal := string(m.Payload); m.Type != "error" || m.ID != id || !strings.Contains(refusal, "not a cursor of this list") || !strings.Contains(refusal, `"after"`) {
				t.Errorf("%.200s: got %+v %s", operation, m, m.Payload)
			}
		}
	})
}

// fragileStore is a store whose event streams break on demand.
type fragileStore struct {
	storage.Store
	mu      sync.Mutex
	streams []*fragileStream
	shut    atomic.Bool // no stream can be opened
	forgets bool        // no stream can continue another one
}

func (s *fragileStore) Tail(ctx context.Context, position string) (social.EventStream, error) {
	switch {
	case s.shut.Load():
		return nil, errBroken
	case s.forgets && position != "":
		return nil, social.ErrPositionLost
	}
	stream, err := s.Store.Tail(ctx, position)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fragile := &fragileStream{EventStream: stream, position: stream.Position()}
	fragile.broken, fragile.breakIt = context.WithCancel(context.Background())
	s.streams = append(s.streams, fragile)
	return fragile, nil
}

// breakAll breaks the open streams, and prevents new ones until the returned function is called.
func (s *fragileStore) breakAll() (mend func()) {
	s.shut.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.streams {
		stream.breakIt()
	}
	s.streams = nil
	return func() { s.shut.Store(false) }
}

var errBroken = fmt.Errorf("the stream is broken: %w", social.ErrUnavailable)

type fragileStream struct {
	social.EventStream
	broken   context.Context //nolint:containedctx // a signal
	breakIt  context.CancelFunc
	position string // after the last event that Next has returned
}

func (s *fragileStream) Next(ctx context.Context) (social.Event, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.broken, cancel)()
	e, err := s.EventStream.Next(ctx)
	if s.broken.Err() != nil {
		return social.Event{}, errBroken
	}
	if err == nil {
		s.position = s.EventStream.Position()
	}
	return e, err
}

// Position does not count an event that arrived when the stream was already broken: Next has not
// returned it.
func (s *fragileStream) Position() string {
	if s.broken.Err() != nil {
		return s.position
	}
	return s.EventStream.Position()
}

// TestBrokenStreamsContinue: posts and comments that are written while the stream of events is
// broken arrive afterwards, also for subscribers who have received nothing yet.
func TestBrokenStreamsContinue(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &fragileStore{Store: e.Open(t)}
		plaza := plazatest.Serve(t, st)
		ada := plaza.As(t, "ada")
		news := ada.Connect(t)
		news.Subscribe(plaza, "1", plazatest.NewsSubscription)
		for round := range 3 {
			mend := st.breakAll()
			one, two := fmt.Sprint(round, " one"), fmt.Sprint(round, " two")
			ada.Status(t, one, plazatest.Public)
			ada.Status(t, two, plazatest.Public)
			mend()
			wantTexts(t, news, one, two)
		}
	})
}

// TestBrokenStreams: while the stream of events is broken, and cannot be continued, posts and
// comments are written. Subscribers who know their position get them afterwards, and the others get
// a gap.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &fragileStore{Store: e.Open(t), forgets: true}
		plaza := plazatest.Serve(t, st)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		bob.Follow(t, "ada")
		post := ada.Status(t, "0", plazatest.Public)
		knows, thread, unknown := bob.Connect(t), bob.Connect(t), plaza.As(t, "anyone").Connect(t)
		knows.Subscribe(plaza, "1", newsAfter(newsCursor(t, bob)))
		thread.Subscribe(plaza, "1", commentsAfter(post, firstComment(t, ada, bob, post)))
		unknown.Subscribe(plaza, "1", fmt.Sprintf(`subscription { commentAdded(postId: %q) { cursor event comment { text } } }`, post))
		mend := st.breakAll()
		ada.Status(t, "1", plazatest.Public)
		ada.Comment(t, post, "one")
		ada.Status(t, "2", plazatest.Public)
		mend()
		wantTexts(t, knows, "1", "2")
		wantTexts(t, thread, "one")
		if gap := nextItem(t, unknown); gap != (liveItem{Event: "GAP"}) {
			t.Errorf("got %+v, want a gap", gap)
		}
		ada.Comment(t, post, "two")
		wantTexts(t, thread, "two")
		wantTexts(t, unknown, "two")
	})
}

// TestHiddenWhileTheStreamIsBroken: another server writes a block while the stream of events is
// broken, and its event never arrives. Items that were queued before are checked again.
func TestHiddenWhileTheStreamIsBroken(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &fragileStore{Store: e.Open(t), forgets: true}
		plaza := plazatest.Serve(t, st)
		slow, ada, bob := subscribeSlowly(t, plaza)
		watcher := ada.Connect(t)
		watcher.Subscribe(plaza, "1", newsAfter(newsCursor(t, ada)))
		mend := st.breakAll()
		edge := social.Edge{ID: social.EdgeID{ID: id.New()}}
		var err error
		if edge.From, err = social.ParseUserID(ada.IDOf(t, "ada")); err != nil {
			t.Fatal(err)
		}
		if edge.To, err = social.ParseUserID(ada.IDOf(t, "bob")); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Block(t.Context(), edge, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventBlocked, Actor: edge.From, Target: edge.To}); err != nil {
			t.Fatal(err)
		}
		ada.Status(t, "fourth", plazatest.Public)
		mend()
		wantTexts(t, watcher, "fourth") // the stream is open again
		close(slow.goOn)
		bob.Status(t, "own", plazatest.Public)
		if got := <-slow.sent; got != "own" {
			t.Errorf("%q was sent after the block", got)
		}
	})
}

// firstComment writes a comment, and returns its cursor.
func firstComment(t *testing.T, author, reader plazatest.Person, post string) string {
	t.Helper()
	author.Comment(t, post, "zero")
	return threadCursor(t, reader, post, "OLDEST")
}

// TestSlowSubscribersMissNothing: a subscriber takes its first item only after more items were
// written than any queue holds.
func TestSlowSubscribersMissNothing(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		const posts = 2*live.BufferSize + 107 // more than a page of the past, too
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		viewer, err := social.ParseUserID(ada.IDOf(t, "ada"))
		if err != nil {
			t.Fatal(err)
		}
		slow := &slowReceiver{encoding: make(chan struct{}), goOn: make(chan struct{}), sent: make(chan string, posts)}
		plaza.Server.Hub.News(t.Context(), live.Subscriber{Viewer: viewer}, "", slow)
		last := ada.Connect(t)
		last.Subscribe(plaza, "1", plazatest.NewsSubscription)
		for n := range posts {
			ada.Status(t, strconv.Itoa(n), plazatest.Public)
			wantTexts(t, last, strconv.Itoa(n)) // the hub has handled the event
		}
		<-slow.encoding
		close(slow.goOn)
		for n := range posts {
			if got := <-slow.sent; got != strconv.Itoa(n) {
				t.Fatalf("got %q, want %d", got, n)
			}
		}
	})
}

// TestReplayedItemsAreCheckedAgain hides posts between the moment when a subscription reads them and
// the moment when it sends them, together: also those that were encoded before.
func TestReplayedItemsAreCheckedAgain(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		for _, skips := range []int{0, 2} {
			hideFromReplay(t, plazatest.Start(t, e), skips)
		}
	})
}

func hideFromReplay(t *testing.T, plaza *plazatest.Plaza, skips int) {
	t.Helper()
	ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
	bob.Follow(t, "ada")
	viewer, err := social.ParseUserID(ada.IDOf(t, "bob"))
	if err != nil {
		t.Fatal(err)
	}
	before := ada.Status(t, "before", plazatest.Public)
	for _, text := range []string{"first", "second", "third"} {
		ada.Status(t, text, plazatest.Public)
	}
	bob.Status(t, "own", plazatest.Public)
	after, err := social.ParsePostID(before)
	if err != nil {
		t.Fatal(err)
	}
	slow := &slowReceiver{skips: skips, encoding: make(chan struct{}), goOn: make(chan struct{}), sent: make(chan string, 5)}
	plaza.Server.Hub.News(t.Context(), live.Subscriber{Viewer: viewer}, social.Key(after.Bytes()), slow)
	<-slow.encoding
	ada.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "bob")})
	close(slow.goOn)
	if got := <-slow.sent; got != "own" {
		t.Errorf("%d were encoded before: %q was sent after the block", skips, got)
	}
	for i, e := range slow.encoded { // what was read before the block is not used with what was read after it
		if wantsFirst := i <= skips; wantsFirst != (e.by == 1) {
			t.Errorf("%d were encoded before: %q was encoded by encoder %d", skips, e.text, e.by)
		}
	}
}

// subscribeSlowly subscribes bob to news with a receiver that is busy with the first of three posts
// by ada, while the others wait.
func subscribeSlowly(t *testing.T, plaza *plazatest.Plaza) (slow *slowReceiver, ada, bob plazatest.Person) {
	t.Helper()
	ada, bob = plaza.As(t, "ada"), plaza.As(t, "bob")
	bob.Follow(t, "ada")
	viewer, err := social.ParseUserID(ada.IDOf(t, "bob"))
	if err != nil {
		t.Fatal(err)
	}
	slow = &slowReceiver{encoding: make(chan struct{}), goOn: make(chan struct{}), sent: make(chan string, 3), ended: make(chan error, 1)}
	plaza.Server.Hub.News(t.Context(), live.Subscriber{Viewer: viewer, Session: social.HashToken(bob.Token)}, "", slow)
	watcher := ada.Connect(t)
	watcher.Subscribe(plaza, "1", plazatest.NewsSubscription)
	for _, text := range []string{"first", "second", "third"} {
		ada.Status(t, text, plazatest.Public)
		wantTexts(t, watcher, text) // the hub has handled the event
	}
	<-slow.encoding
	return slow, ada, bob
}

// TestNothingFollowsALostUpdate: an update that cannot be read ends the subscription. Later updates
// are not sent, because a subscriber who resumed after them would never get the lost one.
func TestNothingFollowsALostUpdate(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &forgetfulStore{Store: e.Open(t)}
		plaza := plazatest.Serve(t, st)
		slow, ada, _ := subscribeSlowly(t, plaza)
		ada.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "bob")}) // so all updates are read again
		st.failures.Store(1)
		close(slow.goOn)
		if reason := <-slow.ended; !errors.Is(reason, live.ErrInterrupted) || len(slow.sent) > 0 {
			t.Errorf("the subscription ended with %v after %d posts, want ErrInterrupted and none", reason, len(slow.sent))
		}
	})
}

// forgetfulStore is a store that fails to read posts a given number of times.
type forgetfulStore struct {
	storage.Store
	failures atomic.Int32
}

func (s *forgetfulStore) Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	if s.failures.Add(-1) >= 0 {
		return nil, social.ErrUnavailable
	}
	return s.Store.Posts(ctx, ids)
}

// TestNothingFollowsTheEndOfASession signs out while updates wait: only the one that is being sent
// arrives.
func TestNothingFollowsTheEndOfASession(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		slow, _, bob := subscribeSlowly(t, plaza)
		bob.Do(t, `mutation { signOut { userErrors { code } } }`, nil, nil)
		plazatest.WaitFor(t, "the session ends", func() bool { return plaza.Server.Hub.Subscriptions() == 1 })
		close(slow.goOn)
		if reason := <-slow.ended; !errors.Is(reason, live.ErrSessionEnded) || len(slow.sent) > 1 {
			t.Errorf("the subscription ended with %v after %d posts, want ErrSessionEnded after one", reason, len(slow.sent))
		}
	})
}

// TestReconnects: clients follow news and a thread over two servers with different clocks, and lose
// their connections repeatedly, while several people write. They get everything once, in order.
func TestReconnects(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		servers := twoServers(t, e)
		const writers, each, everySo = 4, 13, 5 // a connection ends after everySo items
		ada := servers[0].As(t, "ada")
		bob := servers[0].As(t, "bob")
		var people []plazatest.Person
		for n := range writers {
			handle := fmt.Sprintf("writer%d", n)
			people = append(people, servers[0].As(t, handle))
			bob.Follow(t, handle)
		}
		bob.Follow(t, "ada")
		post := ada.Status(t, "talk", plazatest.Public)
		follow := map[string]func(cursor string) string{newsCursor(t, bob): newsAfter, firstComment(t, ada, bob, post): func(cursor string) string { return commentsAfter(post, cursor) }}
		var all sync.WaitGroup
		for n, writer := range people {
			all.Go(func() {
				writer.URL = servers[n%len(servers)].URL
				for i := range each {
					text := fmt.Sprintf("%d.%02d", n, i)
					writer.Status(t, text, plazatest.Public)
					writer.Comment(t, post, text)
				}
			})
		}
		for cursor, operation := range follow {
			all.Go(func() {
				reconnecting(t, servers, bob, cursor, operation, writers*each, everySo)
			})
		}
		all.Wait()
	})
}

// twoServers serve one database; SQLite has one.
func twoServers(t *testing.T, e plazatest.Engine) []*plazatest.Plaza {
	t.Helper()
	if !strings.HasPrefix(e.Name, "mongodb") {
		plaza := plazatest.Start(t, e)
		return []*plazatest.Plaza{plaza, plaza}
	}
	uri := mongotest.Reused(t)
	return []*plazatest.Plaza{
		plazatest.Serve(t, plazatest.OpenMongoDB(t, uri, mongodb.Options{})),
		plazatest.Serve(t, plazatest.OpenMongoDB(t, uri, mongodb.Options{})),
	}
}

// reconnecting follows a subscription, and checks that each writer's items arrive once and in
// order.
func reconnecting(t *testing.T, servers []*plazatest.Plaza, p plazatest.Person, cursor string, operation func(cursor string) string, items, everySo int) {
	t.Helper()
	var got []string
	for connection := 0; len(got) < items; connection++ {
		p.URL = servers[connection%len(servers)].URL
		s := p.Connect(t)
		s.Send("1", "subscribe", map[string]string{"query": operation(cursor)})
		for range min(1+rand.IntN(2*everySo), items-len(got)) {
			item := nextItem(t, s)
			if item.Event != "ADDED" || item.Text == "" {
				t.Errorf("got %+v", item)
			}
			got, cursor = append(got, item.Text), item.Cursor
		}
		_ = s.Conn.Close()
	}
	sorted := slices.Sorted(slices.Values(got))
	if once := slices.Compact(slices.Clone(sorted)); len(once) != items {
		t.Errorf("%d of %d items came: %v", len(once), items, got)
	}
	last := map[byte]string{}
	for _, text := range got {
		if text <= last[text[0]] {
			t.Errorf("%s came after %s", text, last[text[0]])
		}
		last[text[0]] = text
	}
}
