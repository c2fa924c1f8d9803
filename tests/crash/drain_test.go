package crash

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plaza/internal/app"
	"plaza/internal/front"
	"plaza/internal/plazatest"
	"plaza/storage"
)

// TestRollingRestarts restarts two servers in turn under load, behind proxies: no request may fail.
func TestRollingRestarts(t *testing.T) {
	t.Run("a proxy that checks readiness", func(t *testing.T) {
		rollingRestarts(t, 10, &http.Transport{}, (*backend).untilNoticed)
	})
	t.Run("a proxy that detects refused connections", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("connections that arrive while the listener closes are reset")
		}
		rollingRestarts(t, 3, &http.Transport{DisableKeepAlives: true}, func(*backend) {})
	})
}

func rollingRestarts(t *testing.T, times int, transport *http.Transport, lastCall func(*backend)) {
	t.Cleanup(transport.CloseIdleConnections)
	st := plazatest.Engines[0].Open(t)
	t.Cleanup(func() { _ = st.Close() })
	pair := [2]*backend{newBackend(t, st), newBackend(t, st)}
	for _, b := range pair {
		b.lastCall = func() { lastCall(b) }
		b.start()
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: &balancer{backends: pair, transport: transport}, Rewrite: func(*httputil.ProxyRequest) {}})
	t.Cleanup(proxy.Close)
	l := startLoad(t, proxy.URL)
	for i := range 2 * times {
		l.more(100)
		b := pair[i%2]
		if i < len(pair) {
			b.silentSocket() // delays the end of the process, and nothing else
		}
		b.stop()
		l.more(100)
		b.start()
	}
	l.more(100)
	if failed := l.end(); failed > 0 {
		t.Errorf("%d of %d requests failed", failed, l.sent.Load())
	}
	for _, b := range pair {
		b.stop()
	}
}

// backend is a server that is restarted at the same address, as a proxy sees it.
type backend struct {
	t        *testing.T
	store    storage.Store
	address  string
	lastCall func()
	end      func()
	ended    chan error

	mu       sync.Mutex
	out      bool // the proxy sends it nothing
	underWay int
	noticed  *sync.Cond
}

// anyPort is the address of a backend until its first start. After that, the address stays the
// same.
const anyPort = "127.0.0.1:0"

func newBackend(t *testing.T, st storage.Store) *backend {
	b := &backend{t: t, store: st, address: anyPort}
	b.noticed = sync.NewCond(&b.mu)
	return b
}

// start returns when the server is ready and receives requests.
func (b *backend) start() {
	b.t.Helper()
	listener, err := front.Listen(b.t.Context(), b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	if b.address == anyPort {
		b.address = listener.Addr().String()
	}
	s := app.New(b.store, app.Config{AllowedOrigins: []string{"*"}, LastCall: b.lastCall})
	var ctx context.Context
	ctx, b.end = context.WithCancel(context.Background())
	b.ended = make(chan error, 1)
	go func() { b.ended <- s.Serve(ctx, listener) }()
	plazatest.WaitFor(b.t, "readiness", func() bool { return plazatest.StatusOf(b.t, "http://"+b.address+"/readyz") == http.StatusOK })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out = false
}

func (b *backend) stop() {
	b.t.Helper()
	b.end()
	if err := <-b.ended; err != nil {
		b.t.Error(err)
	}
}

// untilNoticed waits, as a draining server does for proxies, until this proxy has read that the
// server is not ready.
func (b *backend) untilNoticed() {
	for plazatest.StatusOf(b.t, "http://"+b.address+"/readyz") == http.StatusOK {
		runtime.Gosched()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.out = true; b.underWay > 0; {
		b.noticed.Wait()
	}
}

// begin counts a new request, unless the proxy knows that the server is not ready.
func (b *backend) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out {
		return false
	}
	b.underWay++
	return true
}

func (b *backend) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.underWay--
	b.noticed.Broadcast()
}

// silentSocket opens a socket whose client never reads, and so never answers a close frame.
func (b *backend) silentSocket() {
	b.t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	conn, response, err := dialer.DialContext(b.t.Context(), "ws://"+b.address+"/graphql", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = response.Body.Close()
	b.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.WriteJSON(plazatest.Message{Type: "connection_init"}); err != nil {
		b.t.Fatal(err)
	}
}

// balancer is a proxy as docs/operating.md describes it: requests go to the servers in turn, and to
// the next one if no connection could be made. A request that fails later is not repeated.
type balancer struct {
	backends  [2]*backend
	transport *http.Transport
	next      atomic.Uint64
}

func (l *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	err = errors.New("no server is ready")
	first := l.next.Add(1)
	for i := range uint64(len(l.backends)) {
		b := l.backends[(first+i)%2]
		if !b.begin() {
			continue
		}
		var response *http.Response
		response, err = l.send(b.address, r, body)
		b.finish()
		if operation, ok := errors.AsType[*net.OpError](err); !ok || operation.Op != "dial" {
			return response, err
		}
	}
	return nil, err
}

// send returns an answer once it is complete.
func (l *balancer) send(address string, r *http.Request, body []byte) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Body = "http", address, io.NopCloser(bytes.NewReader(body))
	response, err := l.transport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	whole, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(whole))
	return response, err
}

// load sends requests through a proxy.
type load struct {
	t      *testing.T
	url    string
	ctx    context.Context //nolint:containedctx // ends the clients
	stop   func()
	askers sync.WaitGroup
	sent   atomic.Int64
	failed atomic.Int64
}

func startLoad(t *testing.T, url string) *load {
	l := &load{t: t, url: url}
	l.ctx, l.stop = context.WithCancel(context.Background())
	t.Cleanup(func() { l.end() })
	for range 4 {
		l.askers.Go(l.ask)
	}
	return l
}

// ask pauses between requests: hundreds in a second meet each moment of a restart.
func (l *load) ask() {
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for ; l.ctx.Err() == nil; <-pause.C {
		request, err := http.NewRequest(http.MethodPost, l.url+"/graphql", strings.NewReader(`{"query":"{ usersByName(startsWith: \"a\", first: 1) { nodes { id } } }"}`))
		if err != nil {
			l.failed.Add(1)
			return
		}
		request.Header.Set("Content-Type", "application/json")
		l.sent.Add(1)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			l.failed.Add(1)
			continue
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || strings.Contains(string(body), "errors") {
			l.failed.Add(1)
			l.t.Logf("%d %s, %v", response.StatusCode, body, err)
		}
	}
}

// more waits until n more requests have been sent.
func (l *load) more(n int64) {
	l.t.Helper()
	want := l.sent.Load() + n
	plazatest.WaitFor(l.t, "load", func() bool { return l.sent.Load() >= want })
}

func (l *load) end() (failed int64) {
	l.stop()
	l.askers.Wait()
	return l.failed.Load()
}

// TestSignalsDrain sends signals to a server. It is not ready, answers with Connection: close, and
// stops at Ctrl-C.
func TestSignalsDrain(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plazatest.StartProcess(t, "--drain-delay", "1h")
			url := s.URL(t)
			plazatest.WaitFor(t, "readiness", func() bool { return plazatest.Readiness(t, url) == http.StatusOK })
			if err := s.Command.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			plazatest.WaitFor(t, "the drain", func() bool { return plazatest.Readiness(t, url) == http.StatusServiceUnavailable })
			response, err := http.Get(url + "/graphql?query={__typename}")
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK || !response.Close {
				t.Errorf("during the drain: status %d, Connection: close %v", response.StatusCode, response.Close)
			}
			if err := s.Command.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := s.Command.Wait(); err != nil {
				t.Errorf("the server ends with %v:\n%s", err, s.Log)
			}
		})
	}
}
