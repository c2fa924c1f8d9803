package recent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"plaza/id"
	"plaza/social"
)

// TestMergerFindsTheFirst compares merges of random lists with sorting.
func TestMergerFindsTheFirst(t *testing.T) {
	t.Parallel()
	for range 300 {
		var all []social.PostID
		lists := make([][]social.PostID, rand.IntN(9))
		for i := range lists {
			for range rand.IntN(7) {
				lists[i] = append(lists[i], social.PostID{ID: id.WithSerial(rand.Int64N(1 << 40))})
			}
			slices.SortFunc(lists[i], func(a, b social.PostID) int { return a.Compare(b.ID) })
			all = append(all, lists[i]...)
		}
		p := social.Page{Limit: 1 + rand.IntN(20), Last: rand.IntN(2) == 0}
		m := merger{oldestFirst: p.Last}
		for _, list := range lists {
			m.add(list)
		}
		if got, want := m.first(p.Limit), firstOf(all, p); !slices.Equal(got, want) {
			t.Fatalf("%+v of %d lists: %d ids, want %d, or another order", p, len(lists), len(got), len(want))
		}
	}
}

// firstOf returns the first ids of a page, newest first.
func firstOf(ids []social.PostID, p social.Page) []social.PostID {
	slices.SortFunc(ids, func(a, b social.PostID) int { return b.Compare(a.ID) })
	if p.Last {
		return ids[max(0, len(ids)-p.Limit):]
	}
	return ids[:min(len(ids), p.Limit)]
}

// TestPostsAreBounded adds many posts, and expects the newest ones. Then it forgets them.
func TestPostsAreBounded(t *testing.T) {
	t.Parallel()
	const step, most = 7, 53
	r := New(nil, step, most)
	authors := []social.UserID{{ID: id.New()}, {ID: id.New()}, {ID: id.New()}}
	var at Sequence
	var all []social.PostID // newest first
	for range 200 {
		var newer []authoredPost
		for range rand.IntN(step) {
			at.Last += 1 + rand.Int64N(3)
			newer = append(newer, authoredPost{social.PostID{ID: id.WithSerial(at.Last)}, authors[rand.IntN(len(authors))]})
			all = slices.Insert(all, 0, newer[len(newer)-1].ID)
		}
		at.Last++ // as if the newest one was deleted
		r.add(at, newer)
		n := len(r.all)
		if n > most || n < min(len(all), most-step) {
			t.Fatalf("%d of %d posts are in memory", n, len(all))
		}
		known, _ := r.known(at)
		floor := known.Floor
		got, ok := known.Page(authors, social.Page{Limit: 2 * most})
		if !ok || !slices.Equal(got, all[:n]) {
			t.Fatalf("%d posts, want the newest %d, or another order", len(got), n)
		}
		if hasRoom := r.hasRoom(at, floor); hasRoom != (!floor.IsZero() && n+step <= most) {
			t.Fatalf("there is room for more than %d posts: %t", n, hasRoom)
		}
		if want := floorIn(all, n); floor != want {
			t.Fatalf("the floor of %d posts is %v, want %v", n, floor, want)
		}
	}
	r.Forget(all)
	if known, ok := r.known(at); !ok || len(r.by) != 0 {
		t.Errorf("%d authors have posts after all were deleted, down to %v", len(r.by), known.Floor)
	}
}

// floorIn returns the floor of the newest n posts.
func floorIn(all []social.PostID, n int) social.PostID {
	if n == len(all) {
		return social.PostID{}
	}
	return all[n-1]
}

// TestPostsOfOtherSnapshots: a reader whose snapshot is older than the last backdated post, or
// newer than what is in memory, finds nothing there. One with an older snapshot does not find newer
// posts.
func TestPostsOfOtherSnapshots(t *testing.T) {
	t.Parallel()
	author := social.UserID{ID: id.New()}
	post := func(serial int64) authoredPost { return authoredPost{social.PostID{ID: id.WithSerial(serial)}, author} }
	r := New(nil, 5, 50)
	found := func(last, backdated int64) int {
		known, isKnown := r.known(Sequence{Last: last, Backdated: backdated})
		ids, ok := known.Page([]social.UserID{author}, social.Page{Limit: 9})
		if isKnown != ok {
			t.Errorf("the floor is known: %t, and the page: %t", isKnown, ok)
		}
		if !ok {
			return -1
		}
		return len(ids)
	}
	expect := func(what string, want int, last, backdated int64) {
		t.Helper()
		if n := found(last, backdated); n != want {
			t.Errorf("%s: %d posts, want %d", what, n, want)
		}
	}
	expect("nothing was read", -1, 0, 0)
	r.add(Sequence{Last: 10}, []authoredPost{post(3), post(10)})
	r.add(Sequence{Last: 20}, []authoredPost{post(15), post(20)})
	r.add(Sequence{Last: 15}, []authoredPost{post(15)}) // of a slower reader
	expect("the newest", 4, 20, 0)
	expect("between two posts", 3, 17, 0)
	expect("newer", -1, 21, 0)
	expect("after a backdated post", -1, 20, 1)
	r.add(Sequence{Last: 20, Backdated: 1}, []authoredPost{post(3), post(4), post(10), post(20)})
	expect("before the backdated post", -1, 20, 0)
	expect("with the backdated post", 4, 20, 1)
	r.add(Sequence{Last: 90, Backdated: 1}, []authoredPost{post(50), post(60), post(70), post(80), post(90)})
	expect("after more posts than are read together", 5, 90, 1)
	floor := r.floor
	if floor.Serial() != 50 {
		t.Errorf("the floor is %d", floor.Serial())
	}
	before, _ := r.known(Sequence{Last: 90, Backdated: 1})
	older := []authoredPost{post(20), post(40)}
	r.addOlder(Sequence{Last: 49, Backdated: 1}, floor, older)
	expect("with older posts of a snapshot before the floor", 5, 90, 1)
	r.addOlder(Sequence{Last: 90}, floor, older)
	expect("with older posts of a snapshot before the backdated post", 5, 90, 1)
	r.addOlder(Sequence{Last: 80, Backdated: 1}, floor, older)
	r.addOlder(Sequence{Last: 90, Backdated: 1}, floor, older) // of a slower reader
	expect("with older posts", 7, 90, 1)
	if r.hasRoom(Sequence{Last: 90, Backdated: 1}, r.floor) {
		t.Error("there is room below the first post")
	}
	if ids, ok := before.Page([]social.UserID{author}, social.Page{Limit: 9}); !ok || len(ids) != 5 {
		t.Errorf("%d posts from the floor of before, want 5 (%t)", len(ids), ok)
	}
	r.add(Sequence{Last: 99, Backdated: 1}, []authoredPost{post(95), post(96), post(97), post(98), post(99)})
	if _, ok := before.Page([]social.UserID{author}, social.Page{Limit: 9}); ok {
		t.Error("posts below the floor are known")
	}
}
