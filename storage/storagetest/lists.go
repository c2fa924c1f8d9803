package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"plaza/id"
	"plaza/social"
)

// batchRead is a call of the contract that reads pages of several lists.
type batchRead[K comparable, T any] = func(context.Context, []social.List[K]) (map[social.List[K]][]T, error)

// single turns a call that reads one page into a batch read.
func single[K comparable, T any](call func(context.Context, K, social.Page) ([]T, error)) batchRead[K, T] {
	return func(ctx context.Context, lists []social.List[K]) (map[social.List[K]][]T, error) {
		answer := map[social.List[K]][]T{}
		for _, list := range lists {
			items, err := call(ctx, list.Of, list.Page)
			if err != nil {
				return nil, err
			}
			answer[list] = items
		}
		return answer, nil
	}
}

// listing is a family of lists under test.
type listing[K comparable, T any] struct {
	w          *world
	name       string
	call       batchRead[K, T]
	key        func(T) social.Key
	descending bool         // the list has its greatest key first
	want       map[K][]T    // the whole lists, in order
	gaps       []social.Key // keys without an entry, to be used as bounds
	origin     social.Key   // the least key, which no entry has; "": the zero id
}

// check compares the whole lists, walks them forward in small pages and backward in larger ones,
// and reads pages of three sizes with all kinds of bounds, in both directions; always pages of
// several lists in one call.
func (l *listing[K, T]) check() {
	l.w.t.Helper()
	l.checkWhole()
	l.checkWalk(1, false)
	l.checkWalk(4, true)
	l.checkBounds()
}

func (l *listing[K, T]) checkWhole() {
	l.w.t.Helper()
	for of, got := range l.read(l.every(func(K, int) social.Page { return everything })) {
		l.w.same(got, l.want[of.Of], "%s: the whole list of %v", l.name, of.Of)
	}
}

// every returns a page of each list.
func (l *listing[K, T]) every(page func(of K, i int) social.Page) []social.List[K] {
	var lists []social.List[K]
	for of := range l.want {
		lists = append(lists, social.List[K]{Of: of, Page: page(of, len(lists))})
	}
	return lists
}

// read requests all pages in one call, and reports answers that were not requested.
func (l *listing[K, T]) read(lists []social.List[K]) map[social.List[K]][]T {
	l.w.t.Helper()
	answer, err := l.call(l.w.ctx, lists)
	l.w.ok(err, "%s of %d pages", l.name, len(lists))
	complete := map[social.List[K]][]T{}
	for _, list := range lists {
		complete[list] = answer[list]
	}
	for list, items := range answer {
		if _, asked := complete[list]; !asked {
			l.w.t.Errorf("%s returns %d entries for %+v, which was not requested", l.name, len(items), list)
		}
	}
	return complete
}

// checkWalk reads all lists page by page together, each with a different page size, and compares
// the results.
func (l *listing[K, T]) checkWalk(size int, backward bool) {
	l.w.t.Helper()
	got := map[K][]T{}
	for steps, more := 0, true; more; steps++ {
		if steps > 1000 {
			l.w.t.Fatalf("%s: a walk in pages of %d (backward: %t) does not end", l.name, size, backward)
		}
		more = false
		pages := l.every(func(of K, i int) social.Page { return l.next(got[of], size+i%3, backward) })
		for list, items := range l.read(pages) {
			more = more || len(items) > 0
			if len(items) > list.Page.Limit {
				l.w.t.Errorf("%s of %v: a page has %d entries: %s", l.name, list.Of, len(items), l.describe(list))
			}
			if backward {
				got[list.Of] = slices.Concat(items, got[list.Of])
			} else {
				got[list.Of] = append(got[list.Of], items...)
			}
		}
	}
	for of, want := range l.want {
		l.compare(got[of], want, of, fmt.Sprintf("a walk in pages of %d or more (backward: %t)", size, backward))
	}
}

// next returns the page that follows what a walk has read.
func (l *listing[K, T]) next(got []T, size int, backward bool) social.Page {
	p := social.Page{Limit: size, Last: backward}
	switch {
	case len(got) == 0:
	case backward:
		p.Before = l.key(got[0])
	default:
		p.After = l.key(got[len(got)-1])
	}
	return p
}

// checkBounds reads every combination of bounds and directions, of all lists, in calls that mix
// them. The combinations take turns with the limits, so that one has different limits in different
// lists.
func (l *listing[K, T]) checkBounds() {
	l.w.t.Helper()
	var lists []social.List[K]
	limits, turn := []int{1, 4, 100}, l.w.dice.IntN(3)
	for of := range l.want {
		for _, after := range l.bounds(of) {
			for _, before := range l.bounds(of) {
				directions := []bool{false, true}
				if after != "" && before != "" && !l.ahead(after, before) { // no entry is between them
					directions = directions[turn%2:][:1]
				}
				for _, last := range directions {
					page := social.Page{After: after, Before: before, Limit: limits[turn%len(limits)], Last: last}
					lists = append(lists, social.List[K]{Of: of, Page: page})
					turn++
				}
			}
		}
	}
	l.w.dice.Shuffle(len(lists), func(i, j int) { lists[i], lists[j] = lists[j], lists[i] })
	for chunk := range slices.Chunk(lists, 60) {
		chunk = append(chunk, chunk[0]) // the same page twice in one call
		for list, got := range l.read(chunk) {
			l.compare(got, l.cut(list), list.Of, l.describe(list))
		}
	}
}

// bounds returns the keys to use as bounds of a list's pages: none, those of some entries, and some
// without an entry.
func (l *listing[K, T]) bounds(of K) []social.Key {
	keys := append([]social.Key{"", cmp.Or(l.origin, keyOf(id.ID{}))}, l.gaps...)
	items := l.want[of]
	for _, i := range []int{0, len(items) / 2, len(items) - 1} {
		if i >= 0 && i < len(items) {
			keys = append(keys, l.key(items[i]))
		}
	}
	return keys
}

// cut returns the expected page.
func (l *listing[K, T]) cut(list social.List[K]) []T {
	var in []T
	for _, item := range l.want[list.Of] {
		if l.ahead(list.After, l.key(item)) && (list.Before == "" || l.ahead(l.key(item), list.Before)) {
			in = append(in, item)
		}
	}
	if over := len(in) - list.Limit; over > 0 && list.Last {
		return in[over:]
	} else if over > 0 {
		return in[:list.Limit]
	}
	return in
}

// ahead reports whether a comes before b in the list. The empty key comes before all others.
func (l *listing[K, T]) ahead(a, b social.Key) bool {
	if l.descending && a != "" {
		return a > b
	}
	return a < b
}

// compare compares the positions in the whole list, which gives a short message.
func (l *listing[K, T]) compare(got, want []T, of K, what string) {
	l.w.t.Helper()
	l.w.same(l.places(got, of), l.places(want, of), "%s of %v: %s: places in the list of %d",
		l.name, of, what, len(l.want[of]))
}

// places returns the entries' positions in the whole list; -1 for an unknown entry.
func (l *listing[K, T]) places(items []T, of K) []int {
	var places []int
	for _, item := range items {
		places = append(places, l.place(l.key(item), of))
	}
	return places
}

func (l *listing[K, T]) place(key social.Key, of K) int {
	return slices.IndexFunc(l.want[of], func(item T) bool { return l.key(item) == key })
}

func (l *listing[K, T]) describe(list social.List[K]) string {
	bound := func(key social.Key) string {
		if key == "" {
			return "none"
		} else if place := l.place(key, list.Of); place >= 0 {
			return fmt.Sprint("place ", place)
		}
		return fmt.Sprintf("no entry, %x", string(key))
	}
	return fmt.Sprintf("after %s, before %s, limit %d, last %t", bound(list.After), bound(list.Before), list.Limit, list.Last)
}

// The keys of entries of lists.
func edgeKey(e social.Edge) social.Key            { return keyOf(e.ID.ID) }
func circleKey(c *social.Circle) social.Key       { return keyOf(c.ID.ID) }
func postKey(p *social.Post) social.Key           { return keyOf(p.ID.ID) }
func commentKey(c *social.Comment) social.Key     { return keyOf(c.ID.ID) }
func commentTreeKey(c *social.Comment) social.Key { return c.TreePath }
