package metrics

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/vektah/gqlparser/v2/ast"
)

const (
	succeeded = "OK"       // the code of an operation without errors and userErrors
	other     = "OTHER"    // undeclared codes, and names of operations beyond mostNames
	unnamed   = "UNNAMED"  // operations without a name
	internal  = "INTERNAL" // takes precedence over other codes of the same response
	mostNames = 100        // clients choose the names, and each name adds a series for each code
)

// operations counts how operations end.
type operations struct {
	all     *prometheus.CounterVec
	named   *prometheus.CounterVec
	codes   map[string]bool
	mistake func(context.Context) string

	mu    sync.Mutex
	names map[string]bool
}

func newOperations(codes []string, mistake func(context.Context) string) *operations {
	o := &operations{
		all: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_graphql_operations_total", Help: "Operations that ran, by the code of their first error or userError; OK: without any.",
		}, []string{"type", "code"}),
		named: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plaza_graphql_named_operations_total",
			Help: "The same by the operation's name: UNNAMED without one, OTHER once there are 100 names.",
		}, []string{"operation", "code"}),
		codes: setOf(append([]string{succeeded}, codes...)), mistake: mistake, names: map[string]bool{},
	}
	for code := range o.codes {
		o.begin(code)
	}
	o.begin(other)
	return o
}

func (o *operations) begin(code string) {
	for _, kind := range []ast.Operation{ast.Query, ast.Mutation, ast.Subscription} {
		o.all.WithLabelValues(string(kind), code)
	}
	o.named.WithLabelValues(unnamed, code)
	o.named.WithLabelValues(other, code)
}

func (o *operations) count(kind ast.Operation, name, code string) {
	o.all.WithLabelValues(string(kind), code).Inc()
	o.named.WithLabelValues(o.label(name), code).Inc()
}

// label returns a name in the form that the metrics show.
func (o *operations) label(name string) string {
	const longest = 64
	if name == "" {
		return unnamed
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.names[name] && (len(o.names) == mostNames || len(name) > longest) {
		return other
	}
	o.names[name] = true
	return name
}

// codeOf returns how an operation ended.
func (o *operations) codeOf(ctx context.Context, response *graphql.Response) string {
	code := succeeded
	for i, err := range response.Errors {
		if found, _ := err.Extensions["code"].(string); i == 0 || found == internal {
			code = found
		}
	}
	if mistake := o.mistake(ctx); code == succeeded && mistake != "" {
		code = mistake
	}
	if !o.codes[code] {
		return other
	}
	return code
}

func setOf(texts []string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		set[text] = true
	}
	return set
}
