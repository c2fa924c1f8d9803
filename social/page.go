package social

import "plaza/paging"

// The pages of this package's lists.
type (
	// Key is a sort key of a list.
	Key = paging.Key
	// Page selects a range of a list.
	Page = paging.Page
	// List is one page of the list that belongs to Of.
	List[K comparable] = paging.List[K]
	// Slice is a page that was read, in list order.
	Slice[T any] = paging.Slice[T]
)
