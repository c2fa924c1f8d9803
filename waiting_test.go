package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"plaza/storage/mongodb/mongotest"
)

// serving is a process that serves at a port of its own choice.
type serving struct {
	command *exec.Cmd
	log     *words
}

func startServing(t *testing.T, args ...string) *serving {
	t.Helper()
	s := &serving{log: &words{}}
	s.command, _, _ = plazaCommand(t.Context(), t.TempDir(), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.command.Stderr = s.log
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.command.Process.Kill(); _ = s.command.Wait() })
	return s
}

// url waits until the log names the address that the server listens on.
func (s *serving) url(t *testing.T) string {
	t.Helper()
	var found []string
	waitFor(t, "the server listens", func() bool {
		found = listensAt.FindStringSubmatch(s.log.String())
		return found != nil
	})
	return "http://" + found[1]
}

var listensAt = regexp.MustCompile(`"(?:addr|graphiql)":"(?:http://)?(127\.0\.0\.1:\d+)"`)

// words are what a process has said so far.
type words struct {
	mu   sync.Mutex
	said strings.Builder
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.String()
}

// TestAServerWaitsForItsDatabase starts a server before its MongoDB: it listens, answers 503 and says why, and serves when MongoDB has come.
func TestAServerWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	way := newRoad(t)
	s := startServing(t, "--mongodb-uri", "mongodb://"+way.address+"/plaza?directConnection=true", "--drain-delay", "0s")
	url := s.url(t)
	for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/": 503, "/graphql?query={__typename}": 503} {
		response, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != want || want == 503 && (response.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "database")) {
			t.Errorf("%s: status %d, %s", path, response.StatusCode, body)
		}
	}
	if said := s.log.String(); strings.Count(said, "waiting for it") != 1 || !strings.Contains(said, way.address) {
		t.Errorf("the log says\n%s", said)
	}
	server := mongotest.OwnServer(t)
	host, _, _ := strings.Cut(strings.TrimPrefix(server.URI(), "mongodb://"), "/")
	way.openTo(host)
	waitFor(t, "readiness", func() bool { return readiness(t, url) == http.StatusOK })
	if got := statusOf(t, url+"/graphql?query={__typename}"); got != http.StatusOK {
		t.Errorf("a query: status %d", got)
	}
	s.terminate(t)
}

// TestAWaitingServerEnds when it is told to, without an error.
func TestAWaitingServerEnds(t *testing.T) {
	t.Parallel()
	s := startServing(t, "--mongodb-uri", "mongodb://"+newRoad(t).address, "--drain-delay", "24h")
	s.url(t)
	s.terminate(t)
}

func (s *serving) terminate(t *testing.T) {
	t.Helper()
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.command.Wait(); err != nil {
		t.Errorf("it ends with %v:\n%s", err, s.log)
	}
}

// TestAServerDoesNotWaitInVain: what waiting does not mend ends a server. Other commands do not wait at all.
func TestAServerDoesNotWaitInVain(t *testing.T) {
	t.Parallel()
	wrongPassword := strings.Replace(mongotest.URI(t), "://", "://u:secret@", 1)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a wrong password":           {[]string{"serve", "--addr", "127.0.0.1:0", "--mongodb-uri", wrongPassword}, "password"},
		"another command":            {[]string{"work", "status", "--mongodb-uri", "mongodb://" + newRoad(t).address}, "is the server running"},
		"a standalone server":        {[]string{"serve", "--addr", "127.0.0.1:0", "--mongodb-uri", mongotest.StandaloneURI(t)}, "standalone"},
		"a server that needs no TLS": {[]string{"serve", "--addr", "127.0.0.1:0", "--mongodb-uri", mongotest.URI(t) + "&tls=true"}, "remove tls=true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, _, stderr := plazaCommand(t.Context(), t.TempDir(), c.args...)
			err := command.Run()
			if _, failed := errors.AsType[*exec.ExitError](err); !failed || !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "waiting for it") {
				t.Errorf("%v: %s", err, stderr)
			}
		})
	}
}

// road is an address that leads nowhere before it leads to another one: it closes the connections that come too early.
type road struct {
	address string
	to      atomic.Pointer[string]
}

func newRoad(t *testing.T) *road {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); _ = listener.Close() })
	r := &road{address: listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.lead(ctx, conn)
		}
	}()
	return r
}

func (r *road) openTo(address string) { r.to.Store(&address) }

// lead takes a connection to where the road leads.
func (r *road) lead(ctx context.Context, from net.Conn) {
	defer func() { _ = from.Close() }()
	address := r.to.Load()
	if address == nil {
		return
	}
	to, err := new(net.Dialer).DialContext(ctx, "tcp", *address)
	if err != nil {
		return
	}
	context.AfterFunc(ctx, func() { _ = to.Close() })
	go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
	_, _ = io.Copy(from, to)
}
