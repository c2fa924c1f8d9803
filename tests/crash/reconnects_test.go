package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/storage/mongodb/mongotest"
)

const (
	// envReconnects is how many forced reconnects TestReconnectsLoseNothing makes; usualReconnects
	// unless it is set.
	envReconnects   = "PLAZA_TEST_RECONNECTS"
	usualReconnects = 40
	// reconnectsEach is the number of reconnects after which a server is killed, and then once more
	// for each as many. There is at least one kill.
	reconnectsEach = 200
	// received is how many items a reader receives on average before its connection is cut.
	received = 5
	// eventsASecond limits the writers.
	eventsASecond = 100
)

// TestReconnectsLoseNothing writes posts and comments, about a hundred a second, while the
// connections of their subscribers are cut again and again, and a server is killed with SIGKILL and
// started again. With their last cursors, on whichever server is up, the subscribers receive every
// item once, in the order of the list.
func TestReconnectsLoseNothing(t *testing.T) {
	t.Parallel()
	reconnects := usualReconnects
	if text := os.Getenv(envReconnects); text != "" {
		var err error
		if reconnects, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", envReconnects, err)
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		reconnectTo(t, reconnects, startFlock(t, 1))
	})
	t.Run("mongodb", func(t *testing.T) {
		t.Parallel()
		reconnectTo(t, reconnects, startFlock(t, 2, "--mongodb-uri", mongotest.Reused(t)))
	})
}

// flock is the servers of one database. A server keeps its address when it is killed and started
// again.
type flock struct {
	t       *testing.T
	data    string
	args    []string
	servers []*plazatest.Process
	urls    []string
}

func startFlock(t *testing.T, servers int, args ...string) *flock {
	f := &flock{t: t, data: t.TempDir(), args: args}
	for range servers {
		p := f.start(anyPort)
		f.servers, f.urls = append(f.servers, p), append(f.urls, p.URL(t))
	}
	return f
}

func (f *flock) start(address string) *plazatest.Process {
	f.t.Helper()
	p := &plazatest.Process{Log: &plazatest.Words{}}
	p.Command, _, _ = plazatest.Command(f.t.Context(), f.data, append([]string{"serve", "--addr", address}, f.args...)...)
	p.Command.Stderr = p.Log
	if err := p.Command.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = p.Command.Process.Kill(); _ = p.Command.Wait() })
	return p
}

// kill kills a server with SIGKILL, and starts it again when the others have worked alone.
func (f *flock) kill(server int, alone func()) {
	f.t.Helper()
	_ = f.servers[server].Command.Process.Kill()
	_ = f.servers[server].Command.Wait()
	if len(f.servers) > 1 {
		alone()
	}
	f.servers[server] = f.start(strings.TrimPrefix(f.urls[server], "http://"))
	f.servers[server].URL(f.t)
}

// reconnectTo is TestReconnectsLoseNothing on one engine. Two readers follow the news, and two a
// thread; what each of the lists contains is written by four writers.
func reconnectTo(t *testing.T, reconnects int, servers *flock) {
	const readersOfList, writersOfList = 2, 4
	cuts := (reconnects + 2*readersOfList - 1) / (2 * readersOfList) // of each reader
	each := cuts * received                                          // items of each list
	ada, bob := signUp(t, servers.urls[0], "ada"), signUp(t, servers.urls[0], "bob")
	bob.Follow(t, "ada")
	post := ada.Status(t, "first", plazatest.Public)
	ada.Comment(t, post, "first")
	lists := []list{newsOf(bob), threadOf(bob, post)}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := &writers{ctx: ctx, urls: servers.urls, pace: time.NewTicker(time.Second / eventsASecond)}
	defer w.pace.Stop()
	var readers []*reader
	var reading sync.WaitGroup
	for n := range readersOfList * len(lists) {
		l := lists[n%len(lists)]
		r := &reader{ctx: ctx, urls: servers.urls, token: bob.Token, list: l, cursor: l.read(t, ada.URL)[0].cursor, all: each, cuts: cuts, chance: rand.New(rand.NewPCG(1, uint64(n)))}
		readers = append(readers, r)
		reading.Go(r.run)
	}
	var writing sync.WaitGroup
	began := time.Now()
	for n := range writersOfList * len(lists) {
		of := []string{postOperation, fmt.Sprintf(commentOperation, post)}[n%len(lists)]
		share := each / writersOfList
		if n < len(lists) {
			share = each - (writersOfList-1)*share
		}
		writing.Go(func() { w.write(&talker{token: ada.Token}, of, share) })
	}
	kills := max(1, reconnects/reconnectsEach)
	for k := range kills {
		until := func(quarter int) {
			w.until(t, (4*k+quarter)*2*each/(4*kills))
		}
		until(1)
		servers.kill(k%len(servers.servers), func() { until(2) })
	}
	writing.Wait()
	took := time.Since(began)
	if w.failure() != nil { // the readers would wait for the rest
		t.Fatalf("the writers failed: %v", w.failure())
	}
	reading.Wait()
	lost := 0
	for n, r := range readers {
		lost += r.lost
		want := lists[n%len(lists)].read(t, servers.urls[0])[1:]
		if r.err != nil || r.cuts > 0 {
			t.Errorf("reader %d failed after %d of %d items, and has %d connections left to cut: %v", n, len(r.items), each, r.cuts, r.err)
		}
		if len(want) != each || !slices.Equal(r.items, want) {
			t.Errorf("reader %d received %d items, and its list has %d of %d: %s", n, len(r.items), len(want), each, difference(r.items, want))
		}
	}
	t.Logf("%d events at %.0f a second, %d kills; %d readers, %d forced reconnects and %d connections lost by kills: %d items received, each once and in order",
		2*each, float64(2*each)/took.Seconds(), kills, len(readers), len(readers)*cuts, lost, len(readers)*each)
}

// signUp creates a user.
func signUp(t *testing.T, url, handle string) plazatest.Person {
	t.Helper()
	p := plazatest.Person{URL: url}
	var answer struct{ SignUp struct{ Token string } }
	p.Do(t, `mutation($handle: String!) { signUp(input: {handle: $handle, name: "A user", password: "correct horse"}) { token } }`, map[string]any{"handle": handle}, &answer)
	p.Token = answer.SignUp.Token
	return p
}

// item is an entry of a list, or of its subscription.
type item struct{ cursor, id, text string }

// list is the news or a thread: the subscription to it, and its content, oldest first.
type list struct {
	subscription string // with one %q for a cursor
	field        string // of the subscription
	event        string // of its items
	read         func(t *testing.T, url string) []item
}

// connection is a page of a list.
type connection struct {
	PageInfo struct {
		HasNextPage bool
		EndCursor   string
	}
	Edges []struct {
		Cursor string
		Node   struct{ ID, Text string }
	}
}

const connectionFields = `pageInfo { hasNextPage endCursor } edges { cursor node { id text } }`

// entries reads all pages of a list.
func entries(page func(after *string) connection) (all []item) {
	var after *string
	for {
		c := page(after)
		for _, e := range c.Edges {
			all = append(all, item{e.Cursor, e.Node.ID, e.Node.Text})
		}
		if !c.PageInfo.HasNextPage {
			return all
		}
		after = &c.PageInfo.EndCursor
	}
}

func newsOf(reader plazatest.Person) list {
	return list{`subscription { newsItemAdded(after: %q) { event cursor item: post { id text } } }`, "newsItemAdded", "ADDED", func(t *testing.T, url string) []item {
		reader.URL = url
		all := entries(func(after *string) connection {
			var answer struct{ Viewer struct{ News connection } }
			reader.Do(t, `query($after: String) { viewer { news(first: 100, after: $after) { `+connectionFields+` } } }`, map[string]any{"after": after}, &answer)
			return answer.Viewer.News
		})
		slices.Reverse(all)
		return all
	}}
}

func threadOf(reader plazatest.Person, post string) list {
	subscription := fmt.Sprintf(`subscription { commentAdded(postId: %q, after: %%q) { event cursor item: comment { id text } } }`, post)
	return list{subscription, "commentAdded", "ADDED", func(t *testing.T, url string) []item {
		reader.URL = url
		return entries(func(after *string) connection {
			var answer struct{ Post struct{ Comments connection } }
			reader.Do(t, `query($id: ID!, $after: String) { post(id: $id) { comments(first: 100, after: $after, order: OLDEST) { `+connectionFields+` } } }`,
				map[string]any{"id": post, "after": after}, &answer)
			return answer.Post.Comments
		})
	}}
}

// Operations of writers, with one %q left for a text.
const (
	postOperation    = `mutation { write: createPost(input: {content: {status: {text: %q}}, audience: {kind: PUBLIC}}) { done: post { id } userErrors { message } } }`
	commentOperation = `mutation { write: addComment(input: {postId: %q, text: %%q}) { done: comment { id } userErrors { message } } }`
)

// writers write items through any server that is up, each item once.
type writers struct {
	ctx   context.Context //nolint:containedctx // ends them
	urls  []string
	pace  *time.Ticker
	wrote atomic.Int64
	fault atomic.Pointer[error]
}

func (w *writers) failure() error {
	if err := w.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// write writes items.
func (w *writers) write(c *talker, operation string, items int) {
	for range items {
		<-w.pace.C
		if !w.do(c, fmt.Sprintf(operation, id.New().String())) {
			return
		}
	}
}

// each carries out operations, one after another.
func (w *writers) each(c *talker, operations []string) {
	for _, operation := range operations {
		if !w.do(c, operation) {
			return
		}
	}
}

// do carries out an operation once. A request without an answer is sent again with its idempotency
// key.
func (w *writers) do(c *talker, operation string) (ok bool) {
	c.key = id.New().String()
	var err error
	ok = w.tries(func(url string) bool {
		c.url = url + "/graphql"
		_, err = c.tell(w.ctx, operation, "write", "done", "id")
		return err == nil || strings.Contains(err.Error(), "ALREADY_DONE")
	})
	if !ok {
		w.fault.Store(&err)
		return false
	}
	w.wrote.Add(1)
	return true
}

// tries calls a function with one server after another, until it returns true.
func (w *writers) tries(do func(url string) bool) bool {
	n := int(w.wrote.Load())
	return testtime.Becomes(func() bool {
		n++
		return do(w.urls[n%len(w.urls)])
	})
}

// until waits until that many items are written.
func (w *writers) until(t *testing.T, items int) {
	t.Helper()
	plazatest.WaitFor(t, fmt.Sprintf("%d items are written", items), func() bool { return w.failure() != nil || w.wrote.Load() >= int64(items) })
}

// reader receives the items of a list, and cuts its connection again and again.
type reader struct {
	ctx    context.Context //nolint:containedctx // ends it
	urls   []string
	token  string
	list   list
	cursor string // of the last item that it has received
	all    int    // items to receive
	cuts   int    // connections to cut, before the last item is received
	chance *rand.Rand

	items []item
	lost  int // connections that ended otherwise
	err   error
}

// errWrong means that the server sent something wrong.
var errWrong = errors.New("the server sent something else than a new item")

// run receives all items, or sets err.
func (r *reader) run() {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for failed := 0; len(r.items) < r.all; {
		err := r.connection(r.length())
		if err == nil {
			r.cuts, failed = r.cuts-1, 0
			continue
		}
		r.lost++
		if failed++; errors.Is(err, errWrong) || r.ctx.Err() != nil || failed > 1_000 {
			r.err = err
			return
		}
		<-again.C // the server is being started again
	}
}

// length returns how many items the next connection receives: on average as many as the others that
// will be cut, perhaps none.
func (r *reader) length() int {
	left := r.all - len(r.items)
	if r.cuts <= 0 {
		return left
	}
	return min(r.chance.IntN(2*left/r.cuts+1), left-1)
}

// connection opens a connection to a server, receives some items, and cuts it without a farewell.
func (r *reader) connection(items int) error {
	url := r.urls[r.chance.IntN(len(r.urls))]
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	conn, response, err := dialer.DialContext(r.ctx, "ws"+strings.TrimPrefix(url, "http")+"/graphql", http.Header{})
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(testtime.Patience()))
	query, err := json.Marshal(map[string]string{"query": fmt.Sprintf(r.list.subscription, r.cursor)})
	if err != nil {
		return err
	}
	for _, m := range []plazatest.Message{
		{Type: "connection_init", Payload: fmt.Appendf(nil, `{"Authorization":"Bearer %s"}`, r.token)},
		{ID: "1", Type: "subscribe", Payload: query},
	} {
		if err := conn.WriteJSON(m); err != nil {
			return err
		}
		if m.Type == "connection_init" {
			var ack plazatest.Message
			if err := conn.ReadJSON(&ack); err != nil {
				return err
			}
		}
	}
	for ; items > 0; items-- {
		var m plazatest.Message
		if err := conn.ReadJSON(&m); err != nil {
			return err
		}
		if err := r.receive(m); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) receive(m plazatest.Message) error {
	var payload struct {
		Data map[string]struct {
			Event, Cursor, ID string
			Item              struct{ ID, Text string }
		}
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil || payload.Data[r.list.field].Event != r.list.event {
		return fmt.Errorf("%w: %s %s", errWrong, m.Type, m.Payload)
	}
	got := payload.Data[r.list.field]
	r.cursor = got.Cursor
	r.items = append(r.items, item{got.Cursor, cmp.Or(got.Item.ID, got.ID), got.Item.Text})
	return nil
}

// difference describes how received items differ from those of a list.
func difference(got, want []item) string {
	times := map[item]int{}
	for _, i := range got {
		times[i]++
	}
	missing := slices.DeleteFunc(slices.Clone(want), func(i item) bool { return times[i] > 0 })
	repeated := slices.DeleteFunc(slices.Collect(maps.Keys(times)), func(i item) bool { return times[i] == 1 })
	return fmt.Sprintf("%d are missing: %.3v; %d came more than once: %.3v; the others may be in another order", len(missing), missing, len(repeated), repeated)
}
