package storagetest

import (
	"context"
	"fmt"

	"plaza/social"
)

// sliceRead is a method of the service that reads pages of several lists.
type sliceRead[K comparable, T any] = func(context.Context, []social.List[K]) (map[social.List[K]]social.Slice[T], error)

// onePage turns a method that reads a page of the viewer's own list into a sliceRead.
func onePage[K comparable, T any](read func(context.Context, social.Page) (social.Slice[T], error)) sliceRead[K, T] {
	return func(ctx context.Context, lists []social.List[K]) (map[social.List[K]]social.Slice[T], error) {
		answer := map[social.List[K]]social.Slice[T]{}
		for _, list := range lists {
			slice, err := read(ctx, list.Page)
			if err != nil {
				return nil, err
			}
			answer[list] = slice
		}
		return answer, nil
	}
}

// lists compares a family of lists with the model's, in pages.
type lists[K comparable, T any] struct {
	*answers
	name string
	read sliceRead[K, T]
	text func(T) string
	key  func(K, T) social.Key
	all  map[K][]entry      // what is in each list, seen by the viewer or not
	want map[K][]string     // the entries that the viewer sees
	keys map[K][]social.Key // the keys of these
}

// compareLists reads whole lists, and then either walks them page by page, in one direction or the
// other, or reads pages between random bounds; always all lists in one call.
func compareLists[K comparable, T any](a *answers, name string, want map[K][]entry, read sliceRead[K, T],
	text func(T) string, key func(K, T) social.Key,
) {
	a.t.Helper()
	if len(want) == 0 {
		return
	}
	l := &lists[K, T]{
		answers: a, name: name, read: read, text: text, key: key,
		all: want, want: map[K][]string{}, keys: map[K][]social.Key{},
	}
	for of, entries := range want {
		l.want[of] = seen(entries)
	}
	l.compareWhole()
	if a.random.IntN(2) == 0 {
		l.compareWalk(1+a.random.IntN(4), a.random.IntN(2) == 0)
		return
	}
	for range 2 {
		l.compareBetween()
	}
}

// request is a page to read, with the range of entries that it must contain: from begin to end.
type request struct {
	page       social.Page
	begin, end int
	more       bool
}

// answer reads one page of each list, and compares them.
func (l *lists[K, T]) answer(requests map[K]request) map[social.List[K]]social.Slice[T] {
	l.t.Helper()
	var asked []social.List[K]
	for of, r := range requests {
		asked = append(asked, social.List[K]{Of: of, Page: r.page})
	}
	slices, err := l.read(l.ctx, asked)
	l.ok(err, l.name)
	for _, list := range asked {
		r := requests[list.Of]
		var got []string
		for _, item := range slices[list].Items {
			got = append(got, l.text(item))
		}
		what := fmt.Sprintf("%s of %v, entries %d to %d (limit %d, last %t)", l.name, list.Of, r.begin, r.end, r.page.Limit, r.page.Last)
		l.same(got, l.want[list.Of][r.begin:r.end], "%s", what)
		l.same(slices[list].More, r.more, "whether there are more than %s", what)
	}
	return slices
}

// compareWhole reads the whole lists, and learns the keys.
func (l *lists[K, T]) compareWhole() {
	l.t.Helper()
	requests := map[K]request{}
	for of, want := range l.want {
		requests[of] = request{page: social.Page{Limit: 100}, end: len(want)}
	}
	for list, slice := range l.answer(requests) {
		for _, item := range slice.Items {
			l.keys[list.Of] = append(l.keys[list.Of], l.key(list.Of, item))
		}
	}
}

// compareWalk reads the lists page by page.
func (l *lists[K, T]) compareWalk(size int, backward bool) {
	l.t.Helper()
	for step := 0; ; step++ {
		requests := map[K]request{}
		for of, want := range l.want {
			if done := step * size; done < len(want) || step == 0 {
				requests[of] = l.step(of, done, size, backward)
			}
		}
		if len(requests) == 0 {
			return
		}
		l.answer(requests)
	}
}

// step returns the page of a walk after n entries.
func (l *lists[K, T]) step(of K, done, size int, backward bool) request {
	n := len(l.want[of])
	r := request{page: social.Page{Limit: size, Last: backward}, more: n > done+size}
	if backward {
		r.begin, r.end = max(0, n-done-size), n-done
		if done > 0 {
			r.page.Before = l.keys[of][r.end]
		}
		return r
	}
	r.begin, r.end = done, min(n, done+size)
	if done > 0 {
		r.page.After = l.keys[of][done-1]
	}
	return r
}

// compareBetween reads pages between two random entries, seen or not.
func (l *lists[K, T]) compareBetween() {
	l.t.Helper()
	requests := map[K]request{}
	for of, entries := range l.all {
		r := request{page: social.Page{Limit: 1 + l.random.IntN(4), Last: l.random.IntN(2) == 0}}
		i, j := l.random.IntN(len(entries)+1), l.random.IntN(len(entries)+1)
		r.page.After, r.begin, _ = l.bound(of, i)
		_, _, r.end = l.bound(of, len(entries))
		if j > i {
			r.page.Before, _, r.end = l.bound(of, j)
		}
		requests[of] = r.cut()
	}
	l.answer(requests)
}

// bound returns the key of entry i (empty if the model does not know it, or there is no such
// entry), how many seen entries there are up to it, and how many before it.
func (l *lists[K, T]) bound(of K, i int) (key social.Key, upTo, before int) {
	seen := 0
	for place, e := range l.all[of] {
		if e.seen {
			if e.key == "" {
				e.key = l.keys[of][seen]
			}
			seen++
		}
		if place == i && e.key != "" && e.seen {
			return e.key, seen, seen - 1
		} else if place == i && e.key != "" {
			return e.key, seen, seen
		}
	}
	return "", 0, seen
}

// cut limits the range to the size of the page.
func (r request) cut() request {
	if over := r.end - r.begin - r.page.Limit; over > 0 {
		r.more = true
		if r.page.Last {
			r.begin += over
		} else {
			r.end -= over
		}
	}
	return r
}
