package adserver

import (
	"slices"

	"plaza/ads"
	"plaza/id"
	"plaza/paging"
)

// keyOf returns the key of an entry in a list ordered by id.
func keyOf(i id.ID) paging.Key { return paging.Key(i.Bytes()) }

// slice reads one entry more than requested, to find out whether there is a next page.
func slice[T any](p ads.Page, key func(T) paging.Key, read func(ads.Page) ([]T, error)) (ads.Slice[T], error) {
	limit := p.Limit
	p.Limit++
	items, err := read(p)
	if err != nil {
		return ads.Slice[T]{}, present(err)
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
	return ads.Slice[T]{Items: items, Keys: keys, More: more}, nil
}
