package paging_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plaza/paging"
)

// numbers is a list of the keys 000 to 999. Only multiples of every are visible.
type numbers struct{ every int }

func (numbers) key(n int) paging.Key { return paging.Key(fmt.Sprintf("%03d", n)) }

func (numbers) read(_ context.Context, lists []paging.List[string]) (map[paging.List[string]][]int, error) {
	found := map[paging.List[string]][]int{}
	for _, list := range lists {
		var all []int
		for n := range 1_000 {
			if k := (numbers{}).key(n); k > list.After && (list.Before == "" || k < list.Before) {
				all = append(all, n)
			}
		}
		if list.Last {
			all = all[max(0, len(all)-list.Limit):]
		}
		found[list] = all[:min(len(all), list.Limit)]
	}
	return found, nil
}

func (l numbers) fill(limit paging.Limit[int], lists ...paging.List[string]) (map[paging.List[string]]paging.Slice[int], error) {
	see := func(context.Context, []int) (func(string, int) bool, error) {
		return func(_ string, n int) bool { return n%l.every == 0 }, nil
	}
	return paging.Fill(context.Background(), lists, l.read, func(_ string, n int) paging.Key { return l.key(n) }, see, limit)
}

// endsAfter ends a page after a number of hidden entries. The keys of their tens are beside them.
func endsAfter(hidden int) paging.Limit[int] {
	beside := func(k, kept paging.Key, last bool) paging.Key {
		switch {
		case !last:
			return max(k[:2]+" ", kept)
		case kept == "":
			return k[:2] + "~"
		default:
			return min(k[:2]+"~", kept)
		}
	}
	return paging.Limit[int]{PassOver: func(int) error { return nil }, Hidden: hidden, Beside: beside}
}

// TestPagesEndAtManyHiddenEntries follows the pages of lists with long gaps, in both directions: each
// visible entry comes once, no page reads much more than the limit, and the end names no entry.
func TestPagesEndAtManyHiddenEntries(t *testing.T) {
	t.Parallel()
	for _, every := range []int{1, 7, 49, 333} {
		for _, last := range []bool{false, true} {
			l, p, pages := numbers{every}, paging.Page{Limit: 5, Last: last}, 0
			var all []int
			for more := true; more; pages++ {
				if pages > 1_000 {
					t.Fatalf("1 in %d, last %v: there is no end", every, last)
				}
				list := paging.List[string]{Of: "", Page: p}
				found, err := l.fill(endsAfter(30), list)
				if err != nil {
					t.Fatal(err)
				}
				slice := found[list]
				if slice.End != "" && !strings.ContainsAny(string(slice.End), " ~") && !slices.Contains(slice.Keys, slice.End) {
					t.Errorf("the end %q is a hidden entry", slice.End)
				}
				if last {
					all = append(slices.Clone(slice.Items), all...)
					p.Before = slice.Next(p)
				} else {
					all = append(all, slice.Items...)
					p.After = slice.Next(p)
				}
				more = slice.More
			}
			var want []int
			for n := 0; n < 1_000; n += every {
				want = append(want, n)
			}
			if !slices.Equal(all, want) {
				t.Errorf("1 in %d, last %v: %v", every, last, all)
			}
		}
	}
}

// TestEndsOfPagesDoNotDependOnOthers: what a page has is the same, however many are read with it.
func TestEndsOfPagesDoNotDependOnOthers(t *testing.T) {
	t.Parallel()
	var lists []paging.List[string]
	for first := 1; first <= 100; first++ {
		lists = append(lists, paging.List[string]{Page: paging.Page{Limit: first}})
	}
	l := numbers{40}
	together, err := l.fill(endsAfter(30), lists...)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		alone, err := l.fill(endsAfter(30), list)
		if err != nil || fmt.Sprint(alone[list]) != fmt.Sprint(together[list]) {
			t.Errorf("first %d: alone %v, together %v, %v", list.Limit, alone[list], together[list], err)
		}
	}
}

func TestHiddenEntriesAreCounted(t *testing.T) {
	t.Parallel()
	failure, hidden := errors.New("too many"), 0
	limit := paging.Limit[int]{PassOver: func(n int) error {
		if hidden += n; hidden > 900 {
			return failure
		}
		return nil
	}}
	if _, err := (numbers{1_001}).fill(limit, paging.List[string]{Page: paging.Page{Limit: 5}}); !errors.Is(err, failure) {
		t.Errorf("%d hidden entries: %v", hidden, err)
	}
}

// TestReadsAreBounded: lists that are requested together are read in turns if they have very many
// candidates, and each turn's visible entries are counted before the next.
func TestReadsAreBounded(t *testing.T) {
	t.Parallel()
	var lists []paging.List[string]
	for first := 1; first <= 100; first++ {
		lists = append(lists, paging.List[string]{Page: paging.Page{Limit: first}})
	}
	const turn, largest = 500, 500
	l, reads := numbers{every: 1}, 0
	read := func(ctx context.Context, lists []paging.List[string]) (map[paging.List[string]][]int, error) {
		candidates := 0
		for _, list := range lists {
			candidates += list.Limit
		}
		if candidates > turn+largest {
			t.Errorf("one read of %d candidates", candidates)
		}
		reads++
		return l.read(ctx, lists)
	}
	see := func(context.Context, []int) (func(string, int) bool, error) {
		return func(_ string, n int) bool { return true }, nil
	}
	failure, kept := errors.New("too large"), 0
	limit := paging.Limit[int]{PassOver: func(int) error { return nil }, Keep: func(more []int) error {
		if kept += len(more); kept > 3_000 {
			return failure
		}
		return nil
	}}
	_, err := paging.Fill(context.Background(), lists, read, func(_ string, n int) paging.Key { return l.key(n) }, see, limit)
	if !errors.Is(err, failure) || reads > 10 {
		t.Errorf("%d entries were kept after %d reads: %v", kept, reads, err)
	}
}
