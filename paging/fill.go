package paging

import "context"

// ReadTogether is how many entries are read at once: the largest posts take 40 KB each, and as much
// for each comment that comes with them.
const ReadTogether = 500

// Fill fills pages of lists that hide some entries: it reads candidates, keeps those that see lets
// through, and reads on until every page is full or its list has ended. Lists advance together, so
// a batch takes as many reads as its slowest list, usually one, unless that would be very many
// candidates. The limit bounds the work and the memory.
func Fill[K comparable, T any](
	ctx context.Context,
	lists []List[K],
	read func(context.Context, []List[K]) (map[List[K]][]T, error),
	key func(K, T) Key,
	see func(context.Context, []T) (func(K, T) bool, error),
	limit Limit[T],
) (map[List[K]]Slice[T], error) {
	f := filling[K, T]{read: read, key: key, see: see, limit: limit, answers: make(map[List[K]]Slice[T], len(lists))}
	open := make([]*partialPage[K, T], len(lists))
	for i, list := range lists {
		open[i] = &partialPage[K, T]{list: list, next: list}
	}
	for round := 0; len(open) > 0; round++ {
		var err error
		if open, err = f.advance(ctx, open, round); err != nil {
			return nil, err
		}
	}
	return f.answers, nil
}

// Alone returns the batch read, for Fill, of a list that is filled alone.
func Alone[K comparable, T any](read func(context.Context, K, Page) ([]T, error)) func(context.Context, []List[K]) (map[List[K]][]T, error) {
	return func(ctx context.Context, lists []List[K]) (map[List[K]][]T, error) {
		found, err := read(ctx, lists[0].Of, lists[0].Page)
		return map[List[K]][]T{lists[0]: found}, err
	}
}

// filling is what the pages of one call of Fill have in common.
type filling[K comparable, T any] struct {
	read    func(context.Context, []List[K]) (map[List[K]][]T, error)
	key     func(K, T) Key
	see     func(context.Context, []T) (func(K, T) bool, error)
	limit   Limit[T]
	answers map[List[K]]Slice[T]
}

// advance reads the next candidates of all pages, and returns the pages that need more.
func (f *filling[K, T]) advance(ctx context.Context, pages []*partialPage[K, T], round int) ([]*partialPage[K, T], error) {
	var open, together []*partialPage[K, T]
	candidates := 0
	for i, page := range pages {
		page.next.Limit = page.candidates(page.list.Limit, round)
		together, candidates = append(together, page), candidates+page.next.Limit
		if i < len(pages)-1 && candidates < ReadTogether {
			continue
		}
		unfilled, err := f.readMore(ctx, together)
		if err != nil {
			return nil, err
		}
		open, together, candidates = append(open, unfilled...), nil, 0
	}
	return open, nil
}

// readMore reads the next candidates of some pages, and returns those that need more.
func (f *filling[K, T]) readMore(ctx context.Context, pages []*partialPage[K, T]) (open []*partialPage[K, T], err error) {
	requests := make([]List[K], len(pages))
	for i, page := range pages {
		requests[i] = page.next
	}
	read, err := f.read(ctx, requests)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, page := range pages {
		all = append(all, read[page.next]...)
	}
	visible, err := f.see(ctx, all)
	if err != nil {
		return nil, err
	}
	hidden := len(all)
	for _, page := range pages {
		kept := page.add(read[page.next], f.key, visible)
		hidden -= len(kept)
		if f.limit.Keep != nil {
			if err := f.limit.Keep(kept); err != nil {
				return nil, err
			}
		}
		if page.ended || len(page.kept) > page.list.Limit || f.limit.reached(page.seen-len(page.kept)) {
			f.answers[page.list] = page.answer(f.key, f.limit)
		} else {
			open = append(open, page)
		}
	}
	return open, f.limit.PassOver(hidden)
}

// Limit bounds the work for entries that are hidden, and the memory for those that are not.
type Limit[T any] struct {
	// PassOver counts hidden entries that were read. Its error ends the call.
	PassOver func(hidden int) error
	// Keep counts entries that were read and are kept, if it is not nil. Its error ends the call.
	Keep func(kept []T) error
	// Hidden is how many hidden entries end a page before it is full; zero: any number. It does not
	// depend on other lists, so that nothing can be learned from reading several at once.
	Hidden int
	// Beside returns a key close to that of a hidden entry, before it in the list (after it if last
	// is set), without revealing which entry that is. kept is the nearest entry of the page, if there
	// is one: the key must not be before that (after that).
	Beside func(hidden, kept Key, last bool) Key
}

func (l Limit[T]) reached(hidden int) bool { return l.Hidden > 0 && hidden >= l.Hidden }

// partialPage is a page that is being filled.
type partialPage[K comparable, T any] struct {
	list  List[K]
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
	const most = ReadTogether
	first := limit + 1 + limit/4
	if round == 0 || len(p.kept) == 0 {
		return min(most, first<<(2*min(round, 8)))
	}
	lacking := limit + 1 - len(p.kept)
	likely := 2 * lacking * p.seen / len(p.kept)
	return min(most, (likely+4)<<(2*min(round-1, 8)))
}

// add keeps the visible ones of the next candidates, and returns them.
func (p *partialPage[K, T]) add(candidates []T, key func(K, T) Key, visible func(K, T) bool) (kept []T) {
	p.seen += len(candidates)
	p.ended = len(candidates) < p.next.Limit
	if len(candidates) == 0 {
		return nil
	}
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
	return kept
}

// answer makes the page of what was read. If the list goes on, and there is less than a page of it,
// the page ends where the last candidate was.
func (p *partialPage[K, T]) answer(key func(K, T) Key, limit Limit[T]) Slice[T] {
	list := p.list
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
