// Package paging has the types with which all lists are read in pages: the request for a page, and
// its answer. It imports nothing, so that domains, engines and resolvers can share these types.
package paging

// Key is a sort key of a list in raw form: the 16 bytes of an id, a comment's TreePath, or a zone's
// text. "" means none. A list's keys are unique, and stay valid while entries come and go: the
// entry of a key need not exist. The zero id, and its text as a TreePath, are less than the keys of
// all entries.
type Key string

// Page selects a run of a list.
type Page struct {
	After  Key  // only entries after this key, in list order; "" means no bound
	Before Key  // only entries before this key, in list order; "" means no bound
	Limit  int  // the maximum number of entries; 1 or more
	Last   bool // take the run from the end of the bounds instead of from their start
}

// Beyond returns the page with one entry more, for Cut.
func (p Page) Beyond() Page {
	p.Limit++
	return p
}

// List is one page of the list that belongs to Of: batch reads take several.
type List[K comparable] struct {
	Of K
	Page
}

// Slice is an answered page, in list order.
type Slice[T any] struct {
	Items []T
	Keys  []Key // the keys of the items, in the same order
	// More reports whether there are entries beyond this page: after it, or before it if Page.Last
	// is set. There may be none if End is set.
	More bool
	// End is set if the page ends before it is full, because very many entries are hidden: the next
	// page continues from there. It names no entry.
	End Key
}

// Next returns the key from which the next page continues.
func (s *Slice[T]) Next(p Page) Key {
	switch n := len(s.Keys); {
	case s.End != "" || n == 0:
		return s.End
	case p.Last:
		return s.Keys[0]
	default:
		return s.Keys[n-1]
	}
}
