package answer

import (
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Selection is what a selection set selects of one type.
type Selection struct {
	Fields []graphql.CollectedField
	names  []string // in JSON: `"name":`; "" if an earlier field has the same
}

// Selections are those of an operation. The zero value is ready for use, by several goroutines.
type Selections struct {
	mu  sync.RWMutex
	all map[selectionKey]*Selection
}

// selectionKey tells selections apart by where their sets and lists of types are in memory.
type selectionKey struct {
	first *ast.Selection
	count int
	of    *string
}

// SelectionsOf returns the selections of an operation, which has them from its first execution on: a
// subscription is executed for each event. It must not be called concurrently for one operation.
func SelectionsOf(op *graphql.OperationContext) *Selections {
	const extension = "Selections"
	known, ok := op.Stats.GetExtension(extension).(*Selections)
	if !ok {
		known = &Selections{}
		op.Stats.SetExtension(extension, known)
	}
	return known
}

// Of returns what the operation selects of a type: fields with the type conditions that it
// satisfies, which are a list that is generated for it.
func (s *Selections) Of(op *graphql.OperationContext, set ast.SelectionSet, satisfies []string) *Selection {
	key := selectionKey{&set[0], len(set), &satisfies[0]}
	s.mu.RLock()
	selection := s.all[key]
	s.mu.RUnlock()
	if selection != nil {
		return selection
	}
	selection = newSelection(graphql.CollectFields(op, set, satisfies))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[selectionKey]*Selection{}
	}
	s.all[key] = selection
	return selection
}

func newSelection(fields []graphql.CollectedField) *Selection {
	s := &Selection{Fields: fields, names: make([]string, len(fields))}
	seen := make(map[string]bool, len(fields))
	for i, field := range fields {
		if seen[field.Alias] {
			continue
		}
		seen[field.Alias] = true
		var name strings.Builder
		graphql.MarshalString(field.Alias).MarshalGQL(&name)
		s.names[i] = name.String() + ":"
	}
	return s
}
