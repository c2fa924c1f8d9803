package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/metrics"
	"plaza/ratelimit"
	"plaza/social"
	"plaza/social/people"
)

// worker returns a backlog or an error.
type worker struct {
	social.Worker

	left social.Backlog
	err  error
}

func (w worker) Backlog(context.Context) (social.Backlog, error) { return w.left, w.err }

func newMetrics(w worker, sockets int) *metrics.Metrics {
	return metrics.New(metrics.Source{
		SocketLimits: map[string]int{"sockets-user": 7}, People: func() people.Stats { return people.Stats{Bytes: 11, Users: people.LookupStats{Hits: 12}} },
		News:   func() (recent, older int64) { return 13, 14 },
		Limits: []*ratelimit.Limit{usedUp()}, WaitingPasswords: func() int { return 3 },
		NotifiedUpTo: func() time.Time { return time.UnixMilli(1_700_000_000_500) },
		Worker:       w, Sockets: func() int { return sockets }, LostClicks: func() int64 { return 5 },
		Codes: []string{"NOT_FOUND", "INTERNAL", "BAD_CREDENTIALS"}, RefusalCodes: []string{"GRAPHQL_PARSE_FAILED"},
		Mistake: func(ctx context.Context) string { code, _ := ctx.Value(mistake{}).(string); return code },
	})
}

// mistake is the context key of an operation's userErrors code.
type mistake struct{}

// ran runs an operation with the given result.
func ran(m *metrics.Metrics, name, mistaken string, codes ...string) {
	response := &graphql.Response{}
	for _, code := range codes {
		response.Errors = append(response.Errors, &gqlerror.Error{Extensions: map[string]any{"code": code}})
	}
	op := &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: ast.Mutation, Name: name}}
	ctx := graphql.WithOperationContext(context.WithValue(context.Background(), mistake{}, mistaken), op)
	m.AroundOperations(ctx, func(context.Context) graphql.ResponseHandler {
		return func(context.Context) *graphql.Response { return response }
	})(ctx)
}

// TestFailuresAreCountedByCode: all series exist from the start, and each failure is counted by its
// code.
func TestFailuresAreCountedByCode(t *testing.T) {
	m := newMetrics(worker{}, 0)
	check := func(when string, want map[string]float64) {
		t.Helper()
		_, text := scrape(t, m)
		for name, n := range want {
			if got := value(t, text, name); got != n {
				t.Errorf("%s, %s is %v, want %v", when, name, got, n)
			}
		}
	}
	of := func(code string) string { return `plaza_graphql_operations_total{code="` + code + `",type="mutation"}` }
	refused := func(code string) string { return `plaza_graphql_refused_total{code="` + code + `"}` }
	check("before anything happens", map[string]float64{
		of("OK"): 0, of("NOT_FOUND"): 0, of("INTERNAL"): 0, of("BAD_CREDENTIALS"): 0, of("OTHER"): 0, refused("GRAPHQL_PARSE_FAILED"): 0, refused("OTHER"): 0,
		`plaza_websockets_refused_total{limit="sockets-user"}`: 0, `plaza_websockets_limit{limit="sockets-user"}`: 7,
		`plaza_graphql_named_operations_total{code="INTERNAL",operation="UNNAMED"}`:     0,
		`plaza_graphql_operation_duration_seconds_count{outcome="failed",type="query"}`: 0,
		`plaza_http_requests_total{code="503",method="post"}`:                           0,
	})
	ran(m, "", "")
	ran(m, "signIn", "BAD_CREDENTIALS")
	ran(m, "", "", "NOT_FOUND")
	ran(m, "", "", "NOT_FOUND", "INTERNAL") // INTERNAL takes precedence
	ran(m, "", "", "UNHEARD_OF")
	m.Refused("GRAPHQL_PARSE_FAILED")
	m.Refused("UNHEARD_OF")
	m.SocketRefused("sockets-user")
	check("afterwards", map[string]float64{
		of("OK"): 1, of("NOT_FOUND"): 1, of("INTERNAL"): 1, of("BAD_CREDENTIALS"): 1, of("OTHER"): 1, refused("GRAPHQL_PARSE_FAILED"): 1, refused("OTHER"): 1,
		`plaza_websockets_refused_total{limit="sockets-user"}`:                             1,
		`plaza_graphql_named_operations_total{code="BAD_CREDENTIALS",operation="signIn"}`:  1,
		`plaza_graphql_operation_duration_seconds_count{outcome="failed",type="mutation"}`: 4,
	})
}

// TestOperationNamesAreLimited: their number is limited, because clients choose them.
func TestOperationNamesAreLimited(t *testing.T) {
	m := newMetrics(worker{}, 0)
	for n := range 150 {
		ran(m, "name"+strconv.Itoa(n), "")
	}
	ran(m, strings.Repeat("long", 100), "")
	ran(m, "name7", "")
	_, text := scrape(t, m)
	for name, want := range map[string]float64{"name7": 2, "name99": 1, "OTHER": 51} {
		if got := value(t, text, `plaza_graphql_named_operations_total{code="OK",operation="`+name+`"}`); got != want {
			t.Errorf("%v operations named %s, want %v", got, name, want)
		}
	}
}

// usedUp returns a limit that has refused two attempts.
func usedUp() *ratelimit.Limit {
	limit := ratelimit.New(ratelimit.Policy{Name: "writes", Burst: 1, Window: 24 * time.Hour})
	for range 3 {
		limit.Take("key", 1)
	}
	return limit
}

func scrape(t *testing.T, m *metrics.Metrics) (status int, text string) {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return answer.Code, answer.Body.String()
}

func value(t *testing.T, text, name string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in\n%s", name, text)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBacklog(t *testing.T) {
	left := social.Backlog{Waiting: 3, Dead: 2, Oldest: time.Now().Add(-time.Minute)}
	_, text := scrape(t, newMetrics(worker{left: left}, 7))
	for name, want := range map[string]float64{"plaza_work_jobs_waiting": 3, "plaza_work_jobs_dead": 2, "plaza_websockets": 7, "plaza_ad_clicks_lost_total": 5, `plaza_rate_limited_total{limit="writes"}`: 2, "plaza_passwords_waiting": 3, `plaza_news_pages_total{posts="recent"}`: 13, `plaza_news_pages_total{posts="older"}`: 14, "plaza_notifications_up_to_timestamp_seconds": 1_700_000_000.5} {
		if got := value(t, text, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if age := value(t, text, "plaza_work_oldest_job_age_seconds"); age < 60 || age > 120 {
		t.Errorf("the oldest job is %v s old, want 60", age)
	}
	_, text = scrape(t, newMetrics(worker{}, 0))
	if age := value(t, text, "plaza_work_oldest_job_age_seconds"); age != 0 {
		t.Errorf("no job is %v s old", age)
	}
}

// TestUnavailableDatabase: all other metrics are still served.
func TestUnavailableDatabase(t *testing.T) {
	status, text := scrape(t, newMetrics(worker{err: errors.New("no primary")}, 1))
	if status != http.StatusOK || strings.Contains(text, "plaza_work_jobs") {
		t.Errorf("status %d, and\n%s", status, text)
	}
	if value(t, text, "go_goroutines") < 1 || value(t, text, "plaza_websockets") != 1 {
		t.Error("the other metrics are missing")
	}
}
