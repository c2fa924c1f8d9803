// Package metrics counts what a server does, for Prometheus.
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/social"
)

// Metrics are the metrics of one server.
type Metrics struct {
	registry      *prometheus.Registry
	requests      *prometheus.CounterVec
	operations    *prometheus.HistogramVec
	subscriptions prometheus.Gauge
}

// New makes metrics that start at zero. The worker is asked for its backlog at each scrape, and so is sockets for the number of
// open websockets.
func New(worker social.Worker, sockets func() int) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_http_requests_total", Help: "HTTP requests that were answered, without websockets.",
		}, []string{"method", "code"}),
		operations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "plaza_graphql_operation_duration_seconds",
			Help:    "Time that queries and mutations took to run, once they were found valid; failed: with errors.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15), // 1 ms to 16 s
		}, []string{"type", "outcome"}),
		subscriptions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "plaza_graphql_subscriptions", Help: "Subscriptions under way.",
		}),
	}
	m.registry.MustRegister(
		m.requests, m.operations, m.subscriptions, newBacklog(worker),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "plaza_websockets", Help: "Open websockets."},
			func() float64 { return float64(sockets()) }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler answers scrapes. What cannot be measured at the moment, such as the backlog of a database that is down, is missing.
func (m *Metrics) Handler() http.Handler {
	return promhttp.InstrumentMetricHandler(m.registry, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
	}))
}

// Requests counts the requests that next answers. Websockets are not among them: they have no status, and end hours later.
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

// AroundOperations measures each operation; it is a graphql.OperationMiddleware.
func (m *Metrics) AroundOperations(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	kind := graphql.GetOperationContext(ctx).Operation.Operation
	if kind == ast.Subscription {
		m.subscriptions.Inc()
		context.AfterFunc(ctx, m.subscriptions.Dec)
		return next(ctx)
	}
	start := time.Now()
	respond := next(ctx)
	return func(ctx context.Context) *graphql.Response {
		response := respond(ctx)
		if response != nil { // it is nil when it is asked for a second one
			m.operations.WithLabelValues(string(kind), outcome(response)).Observe(time.Since(start).Seconds())
		}
		return response
	}
}

func outcome(response *graphql.Response) string {
	if len(response.Errors) > 0 {
		return "failed"
	}
	return "ok"
}
