package crash

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"plaza/internal/plazatest"
	"plaza/storage/mongodb/mongotest"
)

// TestServerWaitsForItsDatabase starts a server before its MongoDB. The server listens, answers 503
// with the reason, and serves when MongoDB is available.
func TestServerWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	way := newRoad(t)
	s := plazatest.StartProcess(t, "--mongodb-uri", "mongodb://"+way.address+"/plaza?directConnection=true", "--drain-delay", "0s")
	url := s.URL(t)
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
	if said := s.Log.String(); strings.Count(said, "waiting for it") != 1 || !strings.Contains(said, way.address) {
		t.Errorf("the log says\n%s", said)
	}
	server := mongotest.OwnServer(t)
	host, _, _ := strings.Cut(strings.TrimPrefix(server.URI(), "mongodb://"), "/")
	way.openTo(host)
	plazatest.WaitFor(t, "readiness", func() bool { return plazatest.Readiness(t, url) == http.StatusOK })
	if got := plazatest.StatusOf(t, url+"/graphql?query={__typename}"); got != http.StatusOK {
		t.Errorf("a query: status %d", got)
	}
	s.Terminate(t)
}

// TestWaitingServerStopsOnSignal checks that a waiting server stops without an error.
func TestWaitingServerStopsOnSignal(t *testing.T) {
	t.Parallel()
	s := plazatest.StartProcess(t, "--mongodb-uri", "mongodb://"+newRoad(t).address, "--drain-delay", "1h")
	s.URL(t)
	s.Terminate(t)
}

// TestServerStopsWhenWaitingCannotHelp checks that a server ends on errors that do not disappear by
// themselves. Other commands do not wait at all.
func TestServerStopsWhenWaitingCannotHelp(t *testing.T) {
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
			command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), c.args...)
			err := command.Run()
			if _, failed := errors.AsType[*exec.ExitError](err); !failed || !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "waiting for it") {
				t.Errorf("%v: %s", err, stderr)
			}
		})
	}
}

// road is an address that forwards connections to another one. Until it has a target, it closes
// them.
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

// lead forwards a connection to the target.
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
