package paging

import "context"

// Fill fills pages of lists that hide some entries: it reads candidates, keeps those that see lets
// through, and reads on until every page is full or its list has ended. All lists advance together,
// so a batch takes as many reads as its slowest list, usually one. Fill reports to limit.PassOver
// how many entries were hidden, and returns its error.
func Fill[K comparable, T any](
	ctx context.Context,
	lists []List[K],
	read func(context.Context, []List[K]) (map[List[K]][]T, error),
	key func(K, T) Key,
	see func(context.Context, []T) (func(K, T) bool, error),
	limit Limit,
) (map[List[K]]Slice[T], error) {
	pages := make(map[List[K]]*partialPage[K, T], len(lists))
	for _, list := range lists {
		pages[list] = &partialPage[K, T]{next: list}
	}
	answers := make(map[List[K]]Slice[T], len(lists))
	for round := 0; len(pages) > 0; round++ {
		requests := make([]List[K], 0, len(pages))
		for list, page := range pages {
			page.next.Limit = page.candidates(list.Limit, round)
			requests = append(requests, page.next)
		}
		read, err := read(ctx, requests)
		if err != nil {
			return nil, err
		}
		var all []T
		for _, page := range pages {
			all = append(all, read[page.next]...)
		}
		visible, err := see(ctx, all)
		if err != nil {
			return nil, err
		}
		hidden := len(all)
		for list, page := range pages {
			hidden -= page.add(read[page.next], key, visible)
			if page.ended || len(page.kept) > list.Limit || limit.reached(page.seen-len(page.kept)) {
				answers[list] = page.answer(list, key, limit)
				delete(pages, list)
			}
		}
		if err := limit.PassOver(hidden); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// Alone returns the batch read, for Fill, of a list that is filled alone.
func Alone[K comparable, T any](read func(context.Context, K, Page) ([]T, error)) func(context.Context, []List[K]) (map[List[K]][]T, error) {
	return func(ctx context.Context, lists []List[K]) (map[List[K]][]T, error) {
		found, err := read(ctx, lists[0].Of, lists[0].Page)
		return map[List[K]][]T{lists[0]: found}, err
	}
}

// Limit bounds the work for entries that are hidden.
type Limit struct {
	// PassOver counts hidden entries that were read. Its error ends the call.
	PassOver func(hidden int) error
	// Hidden is how many hidden entries end a page before it is full; zero: any number. It does not
	// depend on other lists, so that nothing can be learned from reading several at once.
	Hidden int
	// Beside returns a key close to that of a hidden entry, before it in the list (after it if last
	// is set), without revealing which entry that is. kept is the nearest entry of the page, if there
	// is one: the key must not be before that (after that).
	Beside func(hidden, kept Key, last bool) Key
}

func (l Limit) reached(hidden int) bool { return l.Hidden > 0 && hidden >= l.Hidden }

// partialPage is a page that is being filled.
type partialPage[K comparable, T any] struct {
	next  List[K] // the next candidates
	kept  []T
	seen  int  // candidates so far
	ended bool // there are no more candidates
}

// candidates returns how many entries to read for a page of that size. The first read takes one
// more than the page, to know whether there are more, and a quarter for hidden entries: another
// read costs far more than they do. Later reads take twice the number that is likely to fill the
// page, judging by the candidates so far, and grow.
func (p *partialPage[K, T]) candidates(limit, round int) int {
	const most = 1_000
	first := limit + 1 + limit/4
	if round == 0 || len(p.kept) == 0 {
		return min(most, first<<(2*min(round, 8)))
	}
	lacking := limit + 1 - len(p.kept)
	likely := 2 * lacking * p.seen / len(p.kept)
	return min(most, (likely+4)<<(2*min(round-1, 8)))
}

// add keeps the visible ones of the next candidates, and returns their number.
func (p *partialPage[K, T]) add(candidates []T, key func(K, T) Key, visible func(K, T) bool) int {
	p.seen += len(candidates)
	p.ended = len(candidates) < p.next.Limit
	if len(candidates) == 0 {
		return 0
	}
	var kept []T
	for _, c := range candidates {
		if visible(p.next.Of, c) {
			kept = append(kept, c)
		}
	}
	if p.next.Last {
		p.kept = append(kept, p.kept...)
		p.next.Before = key(p.next.Of, candidates[0])
	} else {
		p.kept = append(p.kept, kept...)
		p.next.After = key(p.next.Of, candidates[len(candidates)-1])
	}
	return len(kept)
}

// answer makes the page of what was read. If the list goes on, and there is less than a page of it,
// the page ends where the last candidate was.
func (p *partialPage[K, T]) answer(list List[K], key func(K, T) Key, limit Limit) Slice[T] {
	slice := Cut(p.kept, list.Page, func(item T) Key { return key(list.Of, item) })
	if p.ended || slice.More {
		return slice
	}
	last, kept := p.next.After, slice.Next(list.Page)
	if list.Last {
		last = p.next.Before
	}
	slice.More, slice.End = true, limit.Beside(last, kept, list.Last)
	return slice
}

// Cut makes a page of the entries that were read for it, which may be more than the page can hold:
// with one more (Page.Beyond) it knows whether the list continues.
func Cut[T any](items []T, p Page, key func(T) Key) Slice[T] {
	slice := Slice[T]{Items: items, More: len(items) > p.Limit}
	switch {
	case slice.More && p.Last:
		slice.Items = items[len(items)-p.Limit:]
	case slice.More:
		slice.Items = items[:p.Limit]
	}
	for _, item := range slice.Items {
		slice.Keys = append(slice.Keys, key(item))
	}
	return slice
}
