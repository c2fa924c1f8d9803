package relay

import (
	"context"
	"time"

	"plaza/graph/model"
	"plaza/paging"
	"plaza/social"
)

// Read reads a page of a list.
type Read[T any] func(context.Context, paging.Page) (paging.Slice[T], error)

// List can be read in pages.
type List[T any] struct {
	cursors Cursors
	read    Read[T]
	origin  paging.Key // where the cursors of the empty list point; "": it has none
}

// ListOf returns the list that read reads.
func ListOf[T any](cursors Cursors, read Read[T]) List[T] {
	return List[T]{cursors, read, cursors.kind.origin()}
}

// Within limits the list to a range of time, which narrow converts to the bounds of a page. Cursors
// stay those of the whole list; hasNextPage and hasPreviousPage apply to the range. An empty range
// has no cursors: the list may have entries.
func (l List[T]) Within(since, until *time.Time, narrow func(social.TimeRange, paging.Page) (paging.Page, error)) List[T] {
	if since != nil || until != nil {
		l.origin = ""
	}
	read := l.read
	l.read = func(ctx context.Context, p paging.Page) (paging.Slice[T], error) {
		p, err := narrow(social.TimeRange{Since: since, Until: until}, p)
		if err != nil {
			return paging.Slice[T]{}, err
		}
		return read(ctx, p)
	}
	return l
}

// Page is a page with its cursors, before it becomes a connection of the schema.
type Page[T any] struct {
	Items   []T
	Cursors []string // of the items, one each
	Info    *model.PageInfo
}

// Page reads the page that the arguments ask for. Error: INVALID, naming the argument.
func (l List[T]) Page(ctx context.Context, args Args) (Page[T], error) {
	page, err := args.page(l.cursors)
	if err != nil {
		return Page[T]{}, err
	}
	slice, err := l.read(ctx, page)
	if err != nil {
		return Page[T]{}, err
	}
	c := Page[T]{Items: slice.Items, Cursors: make([]string, len(slice.Keys))}
	for i, key := range slice.Keys {
		c.Cursors[i] = l.cursors.Encode(key)
	}
	c.Info = l.pageInfo(page, slice)
	c.Info.StartCursor, c.Info.EndCursor = l.ends(page, slice, c.Cursors)
	return c, nil
}

// ends returns the cursors of both ends of a page, given those of its entries.
func (l List[T]) ends(page paging.Page, slice paging.Slice[T], cursors []string) (start, end *string) {
	at, isEmpty := slice.End, len(cursors) == 0
	if !isEmpty {
		start, end = &cursors[0], &cursors[len(cursors)-1]
	} else if at == "" && page.After == "" && page.Before == "" {
		at = l.origin
	}
	if at == "" {
		return start, end
	}
	cursor := l.cursors.Encode(at)
	if isEmpty || page.Last {
		start = &cursor
	}
	if isEmpty || !page.Last {
		end = &cursor
	}
	return start, end
}

// pageInfo reports whether there are more entries before and after a page. Reading the page has
// determined one of the two; the other is read only if a client asks.
func (l List[T]) pageInfo(page paging.Page, slice paging.Slice[T]) *model.PageInfo {
	behind := func(ctx context.Context) (bool, error) { return l.beyond(ctx, page.Before, slice, false) }
	ahead := func(ctx context.Context) (bool, error) { return l.beyond(ctx, page.After, slice, true) }
	more := func(context.Context) (bool, error) { return true, nil }
	switch {
	case slice.More && page.Last:
		ahead = more
	case slice.More:
		behind = more
	}
	return &model.PageInfo{Next: behind, Previous: ahead}
}

// beyond reports whether the list has entries on the side of the page that a cursor bounds; without
// a cursor it has none.
func (l List[T]) beyond(ctx context.Context, bound paging.Key, slice paging.Slice[T], ahead bool) (bool, error) {
	if bound == "" {
		return false, nil
	}
	probe := paging.Page{Limit: 1} // for an empty page: all entries are beyond it
	if n := len(slice.Keys); n > 0 && ahead {
		probe.Before = slice.Keys[0]
	} else if n > 0 {
		probe.After = slice.Keys[n-1]
	}
	found, err := l.read(ctx, probe)
	return len(found.Items) > 0 || found.More, err
}
