package api

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"

	"plaza/internal/plazatest"
)

// scraped returns the value of one metric, or 0 if it has never been counted.
func scraped(t *testing.T, url, name string) float64 {
	t.Helper()
	status, text := plazatest.Get(t, url, "")
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMetrics reads the metrics from their own address, and checks that they count what clients
// did.
func TestMetrics(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		listener := httptest.NewServer(plaza.Server.Metrics.Handler())
		defer listener.Close()
		at := listener.URL
		ada := plaza.As(t, "ada")
		ada.Status(t, "hello", plazatest.Public)
		ada.Do(t, `{ viewer { user { handle } } }`, nil, nil)
		plazatest.Person{URL: plaza.URL}.Raw(t, `mutation Enter { signIn(input: {handle: "ada", password: "wrong password"}) { token } }`)
		ada.Raw(t, `{ node(id: "`+missingID("post")+`") { id } }`)
		ada.Raw(t, `{ nothing }`)
		for name, want := range map[string]float64{
			`plaza_graphql_operations_total{code="BAD_CREDENTIALS",type="mutation"}`:         1,
			`plaza_graphql_named_operations_total{code="BAD_CREDENTIALS",operation="Enter"}`: 1,
			`plaza_graphql_operations_total{code="NOT_FOUND",type="query"}`:                  1,
			`plaza_graphql_operations_total{code="INTERNAL",type="query"}`:                   0,
			`plaza_graphql_refused_total{code="GRAPHQL_VALIDATION_FAILED"}`:                  1,
			`plaza_graphql_operation_duration_seconds_count{outcome="ok",type="mutation"}`:   2, // signUp, createPost
			`plaza_graphql_operation_duration_seconds_count{outcome="ok",type="query"}`:      1,
			`plaza_http_requests_total{code="200",method="post"}`:                            6,
			`plaza_graphql_subscriptions`:                                                    0, `plaza_websockets`: 0,
			`plaza_work_jobs_dead`: 0,
		} {
			if got := scraped(t, at, name); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		news := ada.Connect(t)
		news.Subscribe(plaza, "news", plazatest.NewsSubscription)
		plazatest.WaitFor(t, "a subscription on a socket", func() bool {
			return scraped(t, at, "plaza_graphql_subscriptions") == 1 && scraped(t, at, "plaza_websockets") == 1
		})
		_ = news.Conn.Close()
		plazatest.WaitFor(t, "its end", func() bool {
			return scraped(t, at, "plaza_graphql_subscriptions") == 0 && scraped(t, at, "plaza_websockets") == 0
		})
		if got := plazatest.StatusOf(t, plaza.URL+"/metrics"); got != http.StatusNotFound {
			t.Errorf("the public address answers /metrics with %d", got)
		}
	})
}
