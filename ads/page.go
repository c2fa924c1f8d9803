package ads

import (
	"slices"

	"plaza/id"
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

// keyOf returns the key of an entry in a list ordered by id.
func keyOf(i id.ID) paging.Key { return paging.Key(i.Bytes()) }

// slice reads one entry more than requested, to find out whether there is a next page.
func slice[T any](p Page, key func(T) paging.Key, read func(Page) ([]T, error)) (Slice[T], error) {
	limit := p.Limit
	p.Limit++
	items, err := read(p)
	if err != nil {
		return Slice[T]{}, present(err)
	}
	more := len(items) > limit
	switch {
	case more && p.Last:
		items = slices.Clone(items[1:])
	case more:
		items = items[:limit]
	}
	keys := make([]paging.Key, len(items))
	for i, item := range items {
		keys[i] = key(item)
	}
	return Slice[T]{Items: items, Keys: keys, More: more}, nil
}
