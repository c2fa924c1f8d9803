// Package paging has the types with which every list is read in pages: what a page is asked for
// with, and what is answered. It imports nothing, so that domains, engines and resolvers share
// them.
package paging

// Key is a sort key of a list in raw form: the 16 bytes of an id, a comment's TreePath, or a zone's
// text. "" is none. A list's keys are unique, and stay right while entries come and go: the entry
// of a key need not exist.
type Key string

// Page selects a run of a list.
type Page struct {
	After  Key  // only entries behind this key, in list order; "" for no bound
	Before Key  // only entries ahead of this key, in list order; "" for no bound
	Limit  int  // the most entries that are answered; 1 or more
	Last   bool // take the run from the end of the bounds instead of from their start
}

// List is one page of the list that belongs to Of: batch reads take several.
type List[K comparable] struct {
	Of K
	Page
}

// Slice is an answered page, in list order.
type Slice[T any] struct {
	Items []T
	Keys  []Key // of the items, one each
	// More says whether entries lie beyond this page: behind it, or ahead of it where Page.Last is
	// set.
	More bool
}
