// Package metrics provides a server's metrics for Prometheus.
package metrics

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/ratelimit"
	"plaza/social"
	"plaza/social/people"
)

// Metrics are the metrics of one server.
type Metrics struct {
	registry      *prometheus.Registry
	requests      *prometheus.CounterVec
	durations     *prometheus.HistogramVec
	operations    *operations
	refused       *prometheus.CounterVec
	codes         map[string]bool
	subscriptions prometheus.Gauge
	sockets       *prometheus.CounterVec
	publishHook   *prometheus.HistogramVec
}

// Source provides the values of the metrics.
type Source struct {
	Worker           social.Worker                // asked for its backlog at each scrape
	Sockets          func() int                   // how many websockets and event streams are open
	SocketLimits     map[string]int               // their limits by name; 0: unlimited
	LostClicks       func() int64                 // how many clicks on ads could not be stored
	Limits           []*ratelimit.Limit           // the rate limits
	WaitingPasswords func() int                   // how many passwords wait for their hash
	NotifiedUpTo     func() time.Time             // up to when notifications are stored; zero: by another server
	People           func() people.Stats          // of the people kept in memory
	News             func() (recent, older int64) // pages of news: see storage.NewsCounter; nil: they are not counted
	Codes            []string                     // codes that operations can end with
	RefusalCodes     []string                     // codes with which requests are rejected before they run
	Mistake          func(context.Context) string // the code of an operation's first userError; "" if none
}

// New creates metrics that start at zero: all series exist from the beginning, except those of
// operations' names.
func New(of Source) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_http_requests_total", Help: "HTTP requests answered, without websockets.",
		}, []string{"method", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "plaza_graphql_operation_duration_seconds",
			Help:    "Time that queries and mutations took to run, after validation; failed: with errors or userErrors.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15), // 1 ms to 16 s
		}, []string{"type", "outcome"}),
		operations: newOperations(of.Codes, of.Mistake),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_graphql_refused_total", Help: "Requests and operations rejected before they ran, by the error's code.",
		}, []string{"code"}),
		codes: setOf(of.RefusalCodes),
		subscriptions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "plaza_graphql_subscriptions", Help: "Active subscriptions.",
		}),
		sockets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_websockets_refused_total", Help: "Websockets and event streams, and operations on them, that a limit refused.",
		}, []string{"limit"}),
		publishHook: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "plaza_publish_hook_duration_seconds",
			Help:    "Time that the publish hook took to decide what may be published; failed: it did not decide.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 13), // 2 ms to 8 s
		}, []string{"outcome"}),
	}
	m.registry.MustRegister(
		m.requests, m.durations, m.operations.all, m.operations.named, m.refused, m.subscriptions, m.sockets, m.publishHook, newBacklog(of.Worker), &peopleCollector{of.People},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "plaza_websockets", Help: "Open websockets and event streams."},
			func() float64 { return float64(of.Sockets()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "plaza_ad_clicks_lost_total", Help: "Clicks on ads that were redirected but could not be stored: they are not counted.",
		}, func() float64 { return float64(of.LostClicks()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "plaza_passwords_waiting", Help: "Passwords that wait for their hash."},
			func() float64 { return float64(of.WaitingPasswords()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "plaza_notifications_up_to_timestamp_seconds",
			Help: "The time up to which this server has stored notifications; 0 if another server stores them.",
		}, func() float64 { return unixSeconds(of.NotifiedUpTo()) }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	if of.News != nil {
		m.registry.MustRegister(&newsCollector{of.News})
	}
	for _, limit := range of.Limits {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "plaza_rate_limited_total", Help: "Requests, operations and attempts that a rate limit refused.",
			ConstLabels: prometheus.Labels{"limit": limit.Name()},
		}, func() float64 { return float64(limit.Refused()) }))
	}
	for name, limit := range of.SocketLimits {
		m.sockets.WithLabelValues(name)
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "plaza_websockets_limit", Help: "The limits of websockets and event streams; 0: unlimited.", ConstLabels: prometheus.Labels{"limit": name},
		}, func() float64 { return float64(limit) }))
	}
	m.begin()
	return m
}

func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// begin creates the series: a series that appeared only with its first event would hide that event
// from rates.
func (m *Metrics) begin() {
	for _, kind := range []ast.Operation{ast.Query, ast.Mutation} {
		m.durations.WithLabelValues(string(kind), "ok")
		m.durations.WithLabelValues(string(kind), "failed")
	}
	for _, method := range []string{"get", "post"} {
		for _, status := range []string{"200", "400", "401", "404", "405", "406", "413", "415", "429", "500", "503"} {
			m.requests.WithLabelValues(method, status)
		}
	}
	for _, outcome := range []string{"allowed", "refused", "failed"} {
		m.publishHook.WithLabelValues(outcome)
	}
	for code := range m.codes {
		m.refused.WithLabelValues(code)
	}
	m.refused.WithLabelValues(other)
}

// Refused counts a request or an operation that was rejected before it ran.
func (m *Metrics) Refused(code string) {
	if !m.codes[code] {
		code = other
	}
	m.refused.WithLabelValues(code).Inc()
}

// PublishHook counts a decision of the publish hook: allowed, refused, or failed.
func (m *Metrics) PublishHook(outcome string, took time.Duration) {
	m.publishHook.WithLabelValues(outcome).Observe(took.Seconds())
}

// SocketRefused counts a websocket or event stream, or an operation on one, that a limit has refused.
func (m *Metrics) SocketRefused(limit string) { m.sockets.WithLabelValues(limit).Inc() }

// Handler serves scrapes. Metrics that can't be measured at the moment, such as the backlog of an
// unavailable database, are missing.
func (m *Metrics) Handler() http.Handler {
	return promhttp.InstrumentMetricHandler(m.registry, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
	}))
}

// Requests counts the requests that next serves. It leaves out websockets, because they have no
// status and end hours later.
func (m *Metrics) Requests(next http.Handler) http.Handler {
	counted := promhttp.InstrumentHandlerCounter(m.requests, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			next.ServeHTTP(w, r)
			return
		}
		counted.ServeHTTP(w, r)
	})
}

// AroundOperations measures each operation; it is a graphql.OperationMiddleware. A subscription
// counts when it begins, which is without a response unless that fails.
func (m *Metrics) AroundOperations(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	kind := op.Operation.Operation
	if kind == ast.Subscription {
		m.subscriptions.Inc()
		context.AfterFunc(ctx, m.subscriptions.Dec)
	}
	start, first := time.Now(), true
	respond := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		response := respond(ctx)
		if !first { // a query is asked for a second response
			return response
		}
		first = false
		code := m.CodeOf(ctx, response)
		m.operations.count(kind, op.Operation.Name, code)
		if kind != ast.Subscription {
			m.durations.WithLabelValues(string(kind), outcome(code)).Observe(time.Since(start).Seconds())
		}
		return response
	}
}

// AroundResponses counts the events of subscriptions that have errors; it is a
// graphql.ResponseMiddleware.
func (m *Metrics) AroundResponses(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	response := next(ctx)
	op := graphql.GetOperationContext(ctx)
	if op.Operation.Operation == ast.Subscription && response != nil && len(response.Errors) > 0 {
		m.operations.count(ast.Subscription, op.Operation.Name, m.CodeOf(ctx, response))
	}
	return response
}

// CodeOf returns how an operation ended: OK, or the code of its first error or userError. INTERNAL
// takes precedence, and an undeclared code is OTHER. A nil response has no errors.
func (m *Metrics) CodeOf(ctx context.Context, response *graphql.Response) string {
	return m.operations.codeOf(ctx, cmp.Or(response, &graphql.Response{}))
}

func outcome(code string) string {
	if code != succeeded {
		return "failed"
	}
	return "ok"
}
