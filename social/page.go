package social

import "plaza/paging"

// Lists of this package are read in these pages.
type (
	// Key is a sort key of a list.
	Key = paging.Key
	// Page selects a run of a list.
	Page = paging.Page
	// List is one page of the list that belongs to Of.
	List[K comparable] = paging.List[K]
	// Slice is an answered page, in list order.
	Slice[T any] = paging.Slice[T]
)
