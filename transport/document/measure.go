package document

import (
	"math"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// introspectionDepth is enough for the introspection query of every version of GraphiQL. The
// validator limits how often such a query may nest lists.
const introspectionDepth = 20

// maxFragmentDepth is how deep fragments may be nested: validation walks what a fragment contains
// once more for each fragment around it.
const maxFragmentDepth = 16

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
		{"values", total.values, l.MaxTokens},
		{"fragmentDepth", total.fragments, maxFragmentDepth},
	} {
		if m.actual > m.maximum {
			return tooComplex(m.name, m.actual, m.maximum)
		}
	}
	if n := repeatsIn(doc); n > maxRepeats {
		return tooComplex("repeats", n, maxRepeats)
	}
	return nil
}

// extent is the size of a selection set once its fragments are expanded.
type extent struct {
	depth, fields, aliases, directives int

	values    int // arguments, and what their lists and objects contain
	fragments int // how deep fragments are nested, with or without fields between them
}

// add adds another selection on the same level. Counts saturate, because n fragments can expand to
// 2^n fields.
func (e *extent) add(other extent) {
	e.depth = max(e.depth, other.depth)
	e.fields = saturatingAdd(e.fields, other.fields)
	e.aliases = saturatingAdd(e.aliases, other.aliases)
	e.directives = saturatingAdd(e.directives, other.directives)
	e.values = saturatingAdd(e.values, other.values)
	e.fragments = max(e.fragments, other.fragments)
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

// measure adds up all operations, and the fragments that no operation uses, because validation
// walks those too.
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
			total.add(inFragment(m.selections(selection.SelectionSet)))
		case *ast.FragmentSpread:
			total.add(m.directives(selection.Directives))
			total.add(m.spread(selection.Name))
		}
	}
	return total
}

// inFragment returns the extent of a fragment with that of its content.
func inFragment(content extent) extent {
	content.fragments++
	return content
}

func (m *measurer) field(field *ast.Field) extent {
	inside := m.selections(field.SelectionSet)
	inside.depth++
	if isIntrospection(field.Name) && !m.introspection {
		m.fail(codes.Errorf(codes.IntrospectionDisabled, "introspection is disabled on this server: %s", field.Name))
	}
	if isIntrospection(field.Name) && inside.depth <= introspectionDepth {
		inside.depth = 1
	}
	own := m.directives(field.Directives)
	own.fields = 1
	own.values += valuesOf(field.Arguments)
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
		m.fail(codes.Errorf(codes.ValidationFailed, "fragment %q spreads itself", name))
		return extent{}
	case visited:
		return fragment.extent
	case unvisited:
	}
	fragment.state = visiting
	fragment.extent = m.directives(fragment.definition.Directives)
	fragment.extent.add(inFragment(m.selections(fragment.definition.SelectionSet)))
	fragment.state = visited
	return fragment.extent
}

// directives counts directives, and rejects those of incremental delivery: gqlgen would leak a
// goroutine for each.
func (m *measurer) directives(list ast.DirectiveList) extent {
	values := 0
	for _, directive := range list {
		values += valuesOf(directive.Arguments)
		if directive.Name == "defer" || directive.Name == "stream" {
			m.fail(codes.Errorf(codes.ValidationFailed, "the directive @%s is not supported", directive.Name))
		}
	}
	return extent{directives: len(list), values: values}
}

// valuesOf counts the values of arguments. A document without fragments cannot have more of them
// than tokens, but validation checks those of a fragment again for each operation.
func valuesOf(arguments ast.ArgumentList) (n int) {
	for _, argument := range arguments {
		n += valuesIn(argument.Value)
	}
	return n
}

func valuesIn(value *ast.Value) int {
	n := 1
	for _, child := range value.Children {
		n += valuesIn(child.Value)
	}
	return n
}

func (m *measurer) fail(err *gqlerror.Error) {
	if m.err == nil {
		m.err = err
	}
}

func isIntrospection(name string) bool { return name == "__schema" || name == "__type" }
