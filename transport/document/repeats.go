package document

import "github.com/vektah/gqlparser/v2/ast"

// maxRepeats bounds the pairs that validation compares: of fields with the same place in the
// answer, and of fragments that are spread in the same place. It is enough for 50 fragments on one
// object that all select the same three fields, which is what the components of a page do.
const maxRepeats = 5000

// repeater counts these pairs.
type repeater struct {
	fragments map[string]*ast.FragmentDefinition
	used      map[string]bool // fragments
	pairs     int
}

// repeatsIn counts the repeats of a document whose other measures are within their limits.
func repeatsIn(doc *ast.QueryDocument) int {
	r := repeater{fragments: make(map[string]*ast.FragmentDefinition, len(doc.Fragments)), used: map[string]bool{}}
	for _, fragment := range doc.Fragments {
		if r.fragments[fragment.Name] == nil {
			r.fragments[fragment.Name] = fragment
		}
	}
	for _, operation := range doc.Operations {
		r.count(operation.SelectionSet)
	}
	for _, fragment := range doc.Fragments {
		if !r.used[fragment.Name] {
			r.count(fragment.SelectionSet)
		}
	}
	return r.pairs
}

// count counts the pairs in selection sets that answer with one object, and in what they select.
func (r *repeater) count(sets ...ast.SelectionSet) {
	merged := mergedSets{expanded: map[string]bool{}, fields: map[string][]ast.SelectionSet{}}
	for _, set := range sets {
		r.merge(&merged, set)
	}
	r.pairs += pairsOf(merged.spreads)
	for _, inside := range merged.fields {
		r.pairs += pairsOf(len(inside))
		r.count(inside...)
	}
}

func pairsOf(n int) int { return n * (n - 1) / 2 }

// mergedSets are selection sets that answer with one object.
type mergedSets struct {
	fields   map[string][]ast.SelectionSet // by their names in the answer: what each of them selects
	spreads  int                           // of fragments
	expanded map[string]bool               // fragments, each of which counts once
}

func (r *repeater) merge(into *mergedSets, set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			into.fields[selection.Alias] = append(into.fields[selection.Alias], selection.SelectionSet)
		case *ast.InlineFragment:
			r.merge(into, selection.SelectionSet)
		case *ast.FragmentSpread:
			into.spreads++
			definition := r.fragments[selection.Name]
			if definition != nil && !into.expanded[selection.Name] {
				into.expanded[selection.Name], r.used[selection.Name] = true, true
				r.merge(into, definition.SelectionSet)
			}
		}
	}
}
