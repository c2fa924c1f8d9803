package mongodb_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
)

// TestRecentPostsAreThoseOfTheDatabase plays random histories on two servers that have recent posts
// in memory: they post with ids of the sequence and with old ones, and delete. After each step,
// random pages of both servers must have the posts that are left.
func TestRecentPostsAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.FeedsRead, mongodb.TinyRead} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			h := newPostHistory(t, layout, rand.New(rand.NewPCG(seed, 0)))
			for range 150 {
				h.step()
				h.check()
			}
		})
	}
}

// postHistory is what two servers have stored.
type postHistory struct {
	servers []*town
	dice    *rand.Rand
	authors []social.NewUser
	reader  social.NewUser  // follows all of them but the last
	posts   []social.PostID // of followed authors, newest first
	others  []social.PostID
}

func newPostHistory(t *testing.T, layout string, dice *rand.Rand) *postHistory {
	t.Helper()
	w := newTownOf(t, nil, mongodb.Options{Feeds: layout})
	people := w.people(6)
	h := &postHistory{servers: []*town{w, newTownAt(t, nil, w.uri, mongodb.Options{Feeds: layout})}, dice: dice, reader: people[0], authors: people[1:]}
	w.follow(h.reader, h.authors[:len(h.authors)-1])
	return h
}

// step lets a random server post several times, or delete something.
func (h *postHistory) step() {
	w := h.servers[h.dice.IntN(len(h.servers))]
	switch n := h.dice.IntN(10); {
	case n < 5:
		for range 1 + h.dice.IntN(5) {
			h.post(w, social.PostID{})
		}
	case n < 6:
		h.post(w, social.PostID{ID: id.At(time.Now().Add(-time.Duration(h.dice.IntN(1_000)) * time.Second))})
	case n < 7 && len(h.posts) > 0 && h.dice.IntN(2) == 0:
		h.post(w, social.PostID{ID: id.WithSerial(h.posts[0].Serial())})
	case n < 7:
		h.post(w, social.PostID{ID: id.At(time.Now().Add(time.Duration(h.dice.IntN(1_000)) * time.Millisecond))})
	case len(h.posts) > 0:
		at := h.dice.IntN(min(7, len(h.posts)))
		w.ok(w.DeletePost(w.ctx, h.posts[at], happened(social.EventPostDeleted)))
		h.posts = slices.Delete(h.posts, at, at+1)
	}
}

func (h *postHistory) post(w *town, given social.PostID) {
	by := h.dice.IntN(len(h.authors))
	author := h.authors[by].User.ID
	p := status(author, author, public)
	p.ID = given
	w.ok(w.InsertPost(w.ctx, p, happened(social.EventPostCreated)))
	if by == len(h.authors)-1 {
		h.others = append(h.others, p.ID)
		return
	}
	h.posts = newestIDs(append(h.posts, p.ID))
}

// check reads random pages of both servers.
func (h *postHistory) check() {
	for i, w := range h.servers {
		p := social.Page{Limit: 1 + h.dice.IntN(13), Last: h.dice.IntN(3) == 0}
		want := h.posts
		if all := slices.Concat(h.posts, h.others); len(all) > 0 {
			if after := all[h.dice.IntN(len(all))]; h.dice.IntN(3) == 0 {
				p.After = social.Key(after.Bytes())
				want = slices.DeleteFunc(slices.Clone(want), func(post social.PostID) bool { return post.Compare(after.ID) >= 0 })
			}
			if before := all[h.dice.IntN(len(all))]; h.dice.IntN(3) == 0 {
				p.Before = social.Key(before.Bytes())
				want = slices.DeleteFunc(slices.Clone(want), func(post social.PostID) bool { return post.Compare(before.ID) <= 0 })
			}
		}
		if p.Last {
			want = want[max(0, len(want)-p.Limit):]
		} else {
			want = want[:min(len(want), p.Limit)]
		}
		w.same(w.news(h.reader, p), want, "server %d, page %+v of %d posts", i, p, len(h.posts))
	}
}

// TestRecentPostsForgetDeleted: a page with a deleted post takes one more command, but only once.
func TestRecentPostsForgetDeleted(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	people := w.people(3)
	w.follow(people[0], people[1:])
	posts := w.posts(people[1:], 31)
	page := social.Page{Limit: 20}
	w.same(w.news(people[0], page), posts[:20], "before the deletion")
	w.ok(w.DeletePost(w.ctx, posts[3], happened(social.EventPostDeleted)))
	w.same(w.news(people[0], page), slices.Delete(posts, 3, 4)[:20], "after the deletion")
	r.take()
	w.news(people[0], page)
	if commands := r.take(); len(commands) != 3 {
		t.Errorf("%d commands, want 3: %s", len(commands), names(commands))
	}
}

// TestRecentPostsOfManyDeletions: a page behind many deleted posts takes few commands.
func TestRecentPostsOfManyDeletions(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	people := w.people(3)
	w.follow(people[0], people[1:])
	posts := w.posts(people[1:], 191)
	w.news(people[0], social.Page{Limit: 1})
	for _, post := range posts[20:170] {
		w.ok(w.DeletePost(w.ctx, post, happened(social.EventPostDeleted)))
	}
	for _, page := range []social.Page{{Limit: 23}, {Limit: 23, Last: true, Before: social.Key(posts[173].Bytes())}} {
		want := slices.Concat(posts[:20], posts[170:173])
		r.take()
		w.same(w.news(people[0], page), want, "page %+v", page)
		if commands := r.take(); len(commands) > 9 {
			t.Errorf("page %+v: %d commands: %s", page, len(commands), names(commands))
		}
	}
}

// TestRecentPostsAreReadOnce: readers who come at the same time to a new server read the newest
// posts once.
func TestRecentPostsAreReadOnce(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	people := w.people(3)
	w.follow(people[0], people[1:])
	posts := w.posts(people[1:], 61)
	r.take()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			posts, err := w.News(w.ctx, people[0].User.ID, social.Page{Limit: 5, After: social.Key(posts[i].Bytes())})
			if err != nil || len(posts) != 5 {
				t.Errorf("%d posts, %v", len(posts), err)
			}
		})
	}
	all.Wait()
	reads := 0
	for _, raw := range r.take() {
		if _, err := raw.LookupErr("filter", "_id", "$gt"); err == nil {
			reads++
		}
	}
	if reads != 1 {
		t.Errorf("%d reads", reads)
	}
}

// TestReadersOfOlderPostsPause: when a reader's newest page was not in memory, the next one is
// merged immediately.
func TestReadersOfOlderPostsPause(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Feeds: mongodb.TinyRead})
	people := w.people(3)
	w.follow(people[0], people[1:])
	posts := w.posts(people[1:], 61)
	for i := range 6 {
		r.take()
		w.same(w.news(people[0], social.Page{Limit: 20}), posts[:20], "page %d", i)
		if commands := r.take(); (len(commands) == 2) != (i%2 == 1) {
			t.Errorf("page %d: %d commands: %s", i, len(commands), names(commands))
		}
	}
}

// TestRecentPostsWhileOthersWrite: while two servers store new and old posts, and delete some,
// readers of both see each post from its acknowledgement to its deletion, and no post twice.
func TestRecentPostsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.FeedsRead, mongodb.TinyRead} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			w := newTownOf(t, nil, mongodb.Options{Feeds: layout})
			servers := []*town{w, newTownAt(t, nil, w.uri, mongodb.Options{Feeds: layout})}
			people := w.people(4)
			reader, authors := people[0], people[1:]
			w.follow(reader, authors)
			var all sync.WaitGroup
			for i := range 6 {
				server, author := servers[i%2], authors[i%len(authors)].User.ID
				all.Go(func() {
					for k := range 25 {
						p := status(author, author, public)
						if p.ID = (social.PostID{}); i == 5 && k%4 == 0 {
							p.ID = social.PostID{ID: id.At(time.Now().Add(-time.Duration(k) * time.Hour))}
						}
						if err := server.InsertPost(w.ctx, p, happened(social.EventPostCreated)); err != nil {
							t.Error(err)
							return
						}
						h := servers[(i+k)%2]
						if !hasNewsOf(t, h, reader, p.ID) {
							t.Errorf("writer %d: post %d is not in the news of server %d", i, k, (i+k)%2)
						}
						if k%5 == 2 {
							if err := server.DeletePost(w.ctx, p.ID, happened(social.EventPostDeleted)); err != nil {
								t.Error(err)
							}
							if hasNewsOf(t, h, reader, p.ID) {
								t.Errorf("writer %d: post %d is in the news after its deletion", i, k)
							}
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// hasNewsOf reports whether a post is in the pages of its neighbours.
func hasNewsOf(t *testing.T, w *town, reader social.NewUser, post social.PostID) bool {
	t.Helper()
	ids := func(p social.Page) []social.PostID {
		posts, err := w.News(w.ctx, reader.User.ID, p)
		if err != nil {
			t.Error(err)
		}
		ids := idsOf(posts)
		if len(slices.Compact(newestIDs(ids))) != len(ids) {
			t.Errorf("a post is twice in %v", ids)
		}
		return ids
	}
	inAll := slices.Contains(ids(social.Page{Limit: 200}), post)
	older := post
	older.ID[15]-- // the id before it, or one far after it
	if older.Compare(post.ID) > 0 {
		return inAll
	}
	if inNext := slices.Contains(ids(social.Page{Limit: 1, Last: true, Before: social.Key(older.Bytes())}), post); inNext != inAll {
		t.Errorf("the post is in all news: %t, and in the page that begins with it: %t", inAll, inNext)
	}
	return inAll
}
