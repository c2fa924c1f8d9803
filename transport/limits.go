package transport

import (
	"math"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Limits bound what a document may request. All are checked before anything runs, and all but the
// cost before validation, which is itself open to attack. A zero field means its default.
type Limits struct {
	// MaxTokens bounds the lexical tokens of the whole document, comments included. Default 2,000.
	MaxTokens int
	// MaxDepth limits how deep fields nest, fragments expanded. Introspection has a separate limit
	// (introspectionDepth), so that a lower MaxDepth does not lock GraphiQL out. Default 16.
	MaxDepth int
	// MaxAliases bounds the aliased fields of the document, fragments expanded. Default 100.
	MaxAliases int
	// MaxFields bounds the fields of the document, fragments expanded. Default 1,000.
	MaxFields int
	// MaxDirectives bounds the directives of the document, fragments expanded. Default 50.
	MaxDirectives int
	// MaxCost limits an operation's requested cost; see [Cost]. Default 50,000: a list of 100 lists
	// of 100 with four fields each, such as a manager of circles, fits, and a list three levels
	// deep does not. Other limits also apply to such an operation: the length of the response, the
	// number of hidden entries that it skips, and [Options.OperationTimeout].
	MaxCost int
	// DefaultPageSize is the size of a page whose field takes first, last, count or ids, but has
	// none of them, or one below 1. Default 20.
	DefaultPageSize int
	// MaxPageSize is the largest page that is counted: resolvers must reject larger ones
	// themselves, with an error that names the argument. Default 100.
	MaxPageSize int
	// DefaultListSize is the assumed length of a list of objects that has no size argument. Default
	// 10.
	DefaultListSize int
	// NoIntrospection rejects __schema and __type, not __typename.
	NoIntrospection bool
}

// introspectionDepth is enough for every GraphiQL's introspection query; the validator bounds how
// often it may go through lists.
const introspectionDepth = 20

func (l Limits) withDefaults() Limits {
	setDefault(&l.MaxTokens, 2000)
	setDefault(&l.MaxDepth, 16)
	setDefault(&l.MaxAliases, 100)
	setDefault(&l.MaxFields, 1000)
	setDefault(&l.MaxDirectives, 50)
	setDefault(&l.MaxCost, 50_000)
	setDefault(&l.DefaultPageSize, 20)
	setDefault(&l.MaxPageSize, 100)
	setDefault(&l.DefaultListSize, 10)
	return l
}

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}

// check measures an unvalidated document against the limits.
func (l Limits) check(doc *ast.QueryDocument) *gqlerror.Error {
	total, err := measure(doc, !l.NoIntrospection)
	if err != nil {
		return err
	}
	for _, m := range []struct {
		name            string
		actual, maximum int
	}{
		{"depth", total.depth, l.MaxDepth},
		{"aliases", total.aliases, l.MaxAliases},
		{"fields", total.fields, l.MaxFields},
		{"directives", total.directives, l.MaxDirectives},
	} {
		if m.actual > m.maximum {
			return tooComplex(m.name, m.actual, m.maximum)
		}
	}
	return nil
}

func tooComplex(limit string, actual, maximum int) *gqlerror.Error {
	err := newError(CodeQueryTooComplex, "the query is too complex: its %s is %d, the maximum is %d", limit, actual, maximum)
	err.Extensions["limit"] = limit
	err.Extensions["actual"] = actual
	err.Extensions["maximum"] = maximum
	return err
}

// extent is the size of a selection set once its fragments are expanded.
type extent struct{ depth, fields, aliases, directives int }

// add puts another selection beside this one. Counts saturate: n fragments can expand to 2^n
// fields.
func (e *extent) add(other extent) {
	e.depth = max(e.depth, other.depth)
	e.fields = saturatingAdd(e.fields, other.fields)
	e.aliases = saturatingAdd(e.aliases, other.aliases)
	e.directives = saturatingAdd(e.directives, other.directives)
}

func saturatingAdd(a, b int) int { return min(a+b, math.MaxInt32) }

// measurer walks each fragment once, however often it is spread.
type measurer struct {
	introspection bool // whether it is allowed
	fragments     map[string]*fragmentExtent
	err           *gqlerror.Error
}

type fragmentExtent struct {
	definition *ast.FragmentDefinition
	extent     extent
	state      visitState
}

type visitState int

const (
	unvisited visitState = iota
	visiting
	visited
)

// measure adds up all operations, and the fragments that no operation uses: validation walks those
// too.
func measure(doc *ast.QueryDocument, introspection bool) (extent, *gqlerror.Error) {
	m := measurer{introspection: introspection, fragments: make(map[string]*fragmentExtent, len(doc.Fragments))}
	for _, fragment := range doc.Fragments {
		if _, duplicate := m.fragments[fragment.Name]; !duplicate { // the validator reports it
			m.fragments[fragment.Name] = &fragmentExtent{definition: fragment}
		}
	}
	var total extent
	for _, operation := range doc.Operations {
		total.add(m.directives(operation.Directives))
		for _, variable := range operation.VariableDefinitions {
			total.add(m.directives(variable.Directives))
		}
		total.add(m.selections(operation.SelectionSet))
	}
	for _, fragment := range doc.Fragments {
		if m.fragments[fragment.Name].state == unvisited {
			total.add(m.spread(fragment.Name))
		}
	}
	return total, m.err
}

func (m *measurer) selections(set ast.SelectionSet) extent {
	var total extent
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			total.add(m.field(selection))
		case *ast.InlineFragment:
			total.add(m.directives(selection.Directives))
			total.add(m.selections(selection.SelectionSet))
		case *ast.FragmentSpread:
			total.add(m.directives(selection.Directives))
			total.add(m.spread(selection.Name))
		}
	}
	return total
}

func (m *measurer) field(field *ast.Field) extent {
	inside := m.selections(field.SelectionSet)
	inside.depth++
	if isIntrospection(field.Name) && !m.introspection {
		m.fail(newError(CodeIntrospectionDisabled, "this server answers no introspection: %s", field.Name))
	}
	if isIntrospection(field.Name) && inside.depth <= introspectionDepth {
		inside.depth = 1
	}
	own := m.directives(field.Directives)
	own.fields = 1
	if field.Alias != field.Name {
		own.aliases = 1
	}
	inside.add(own)
	return inside
}

// spread measures a fragment where it is used, and rejects cycles before anything can follow them.
func (m *measurer) spread(name string) extent {
	fragment, ok := m.fragments[name]
	if !ok {
		return extent{} // the validator reports it
	}
	switch fragment.state {
	case visiting:
		m.fail(newError(CodeValidationFailed, "fragment %q spreads itself", name))
		return extent{}
	case visited:
		return fragment.extent
	case unvisited:
	}
	fragment.state = visiting
	fragment.extent = m.directives(fragment.definition.Directives)
	fragment.extent.add(m.selections(fragment.definition.SelectionSet))
	fragment.state = visited
	return fragment.extent
}

// directives counts directives, and rejects those of incremental delivery: gqlgen would leak a
// goroutine for each.
func (m *measurer) directives(list ast.DirectiveList) extent {
	for _, directive := range list {
		if directive.Name == "defer" || directive.Name == "stream" {
			m.fail(newError(CodeValidationFailed, "the directive @%s is not supported", directive.Name))
		}
	}
	return extent{directives: len(list)}
}

func (m *measurer) fail(err *gqlerror.Error) {
	if m.err == nil {
		m.err = err
	}
}

func isIntrospection(name string) bool { return name == "__schema" || name == "__type" }

// isParserLimit tells the parser's own limits from syntax errors: gqlparser has no type for them.
func isParserLimit(message string) bool {
	return strings.HasPrefix(message, "exceeded token limit") ||
		strings.HasPrefix(message, "exceeded maximum nesting depth")
}
