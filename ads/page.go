package ads

import (
	"plaza/paging"
)

// The lists of this package are read in pages, in the order of their keys: the raw bytes of an id,
// or a zone's text.
type (
	// Page selects a run of a list.
	Page = paging.Page
	// Slice is an answered page, in list order.
	Slice[T any] = paging.Slice[T]
)
