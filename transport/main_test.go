package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"go.uber.org/goleak"

	"plaza/internal/testtime"
	"plaza/transport/codes"
	"plaza/transport/document"
	"plaza/transport/execution"
	"plaza/transport/internal/testapi"
	"plaza/transport/request"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for an expected event.
var patience = testtime.Patience()

// secret must never reach a client.
const secret = "mongo://user:hunter2@db"

// testServer is a running server over the test schema.
type testServer struct {
	*httptest.Server
	transport *Server
	resolver  *testapi.Resolver
	log       *lockedBuffer

	revoked      sync.Map // Authorization values
	authentified atomic.Int32
	operations   atomic.Int32 // that AroundOperations saw
	loaders      atomic.Int32 // that AroundResponses installed
}

type (
	viewerKey struct{}
	loaderKey struct{}
)

func newTestServer(t *testing.T, change func(*Options)) *testServer {
	t.Helper()
	s := &testServer{log: new(lockedBuffer)}
	s.resolver = &testapi.Resolver{
		Viewer:      func(ctx context.Context) string { name, _ := ctx.Value(viewerKey{}).(string); return name },
		LoaderOf:    func(ctx context.Context) int { n, _ := ctx.Value(loaderKey{}).(int); return n },
		RequestIDOf: request.ID,
		StreamOf:    func(ctx context.Context) testapi.Stream { return execution.StreamOf(ctx) },
		Started:     make(chan string, 1000),
		Ended:       make(chan string, 1000),
		Release:     make(chan struct{}),
		Secret:      secret,
	}
	options := Options{Execution: execution.Options{
		Authenticate:   s.authenticate,
		ErrorPresenter: s.present,
		Recover:        func(_ context.Context, value any) error { return fmt.Errorf("panic: %v\n%s", value, debug.Stack()) },
		AroundOperations: []graphql.OperationMiddleware{
			func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
				s.operations.Add(1)
				return next(ctx)
			},
		},
		AroundResponses: []graphql.ResponseMiddleware{
			func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
				return next(context.WithValue(ctx, loaderKey{}, int(s.loaders.Add(1))))
			},
		},
	}}
	options.Connections.SessionKey = func(ctx context.Context) string { return s.resolver.Viewer(ctx) }
	if change != nil {
		change(&options)
	}
	s.transport = New(testapi.NewExecutableSchema(testapi.Config{Resolvers: s.resolver}), options)
	s.Server = httptest.NewServer(s.transport)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.transport.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		s.Close()
	})
	return s
}

// authenticate accepts ada and bob; "Bearer broken" simulates a database that fails, "Bearer
// unavailable", "Bearer slow" and "Bearer eager" temporary faults, and "Bearer panic" a defect.
func (s *testServer) authenticate(ctx context.Context, authorization string) (context.Context, error) {
	s.authentified.Add(1)
	if _, revoked := s.revoked.Load(authorization); revoked {
		return ctx, errUnauthenticated
	}
	switch authorization {
	case "":
		return ctx, nil
	case "Bearer ada", "Bearer bob":
		return context.WithValue(ctx, viewerKey{}, strings.TrimPrefix(authorization, "Bearer ")), nil
	case "Bearer broken":
		return ctx, errors.New(secret)
	case "Bearer unavailable":
		return ctx, codes.Errorf(codes.Unavailable, "the database is unavailable")
	case "Bearer slow":
		return ctx, context.DeadlineExceeded
	case "Bearer eager":
		return ctx, codes.Errorf(codes.RateLimited, "too many attempts")
	case "Bearer panic":
		panic(secret)
	}
	return ctx, errUnauthenticated
}

var errUnauthenticated = errors.New("unauthenticated")

// present sends errors that were made for clients; it logs every other one, and sends it as
// INTERNAL without its text.
func (s *testServer) present(ctx context.Context, err error) *gqlerror.Error {
	var public *gqlerror.Error
	switch {
	case errors.As(err, &public) && public.Err == nil:
		return public
	case errors.Is(err, errUnauthenticated):
		return codes.Errorf(codes.Unauthenticated, "who are you?")
	case errors.Is(err, context.DeadlineExceeded):
		return codes.Errorf(codes.Timeout, "the operation took too long")
	case !errors.Is(err, context.Canceled): // the client disconnected: not an error
		slog.New(slog.NewTextHandler(s.log, nil)).ErrorContext(ctx, "internal error", "requestId", request.ID(ctx), "error", err)
	}
	internal := codes.Errorf(codes.Internal, "internal server error")
	internal.Path = graphql.GetPath(ctx)
	internal.Extensions["requestId"] = request.ID(ctx)
	return internal
}

func TestRequiredOptions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New took options without a presenter")
		}
	}()
	New(testapi.NewExecutableSchema(testapi.Config{Resolvers: &testapi.Resolver{}}), Options{})
}

// result is an HTTP answer, read.
type result struct {
	status int
	header http.Header
	body   string
}

// do sends a request with headers given as "Name: value".
func (s *testServer) do(t *testing.T, method, target, body string, headers ...string) result {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return result{resp.StatusCode, resp.Header, string(data)}
}

// post sends a JSON body.
func (s *testServer) post(t *testing.T, body string, headers ...string) result {
	t.Helper()
	return s.do(t, http.MethodPost, "/graphql", body, append([]string{"Content-Type: application/json"}, headers...)...)
}

// query posts a query without variables.
func (s *testServer) query(t *testing.T, query string, headers ...string) result {
	t.Helper()
	return s.post(t, `{"query":`+quote(query)+`}`, headers...)
}

func quote(s string) string {
	return string(request.JSONString(s))
}

// decoded is a GraphQL response as a client sees it.
type decoded struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
	Extensions struct{ Cost *document.Cost }
}

func (r result) decode(t *testing.T) decoded {
	t.Helper()
	var d decoded
	if err := json.Unmarshal([]byte(r.body), &d); err != nil {
		t.Fatalf("%v in %q", err, r.body)
	}
	return d
}

// code gives the first error's code, "" if there is no error.
func (r result) code(t *testing.T) string {
	t.Helper()
	d := r.decode(t)
	if len(d.Errors) == 0 {
		return ""
	}
	code, _ := d.Errors[0].Extensions["code"].(string)
	return code
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// eventually waits for a condition that has no channel.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	testtime.Eventually(t, what, condition)
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
