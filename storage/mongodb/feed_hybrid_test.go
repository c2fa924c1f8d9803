package mongodb_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
)

// atWork lets the town's store do its background work until the test ends.
func (w *town) atWork() {
	w.t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); w.Work(w.ctx) }()
	w.t.Cleanup(func() { <-done }) // the test's context ends before its cleanups
}

// finish does the pending background work, and stops.
func (w *town) finish() { w.t.Helper(); w.finishWithin(testtime.Patience()) }

func (w *town) finishWithin(limit time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	defer cancel()
	w.ok(social.WorkOff(ctx, w))
}

// settle waits until the background work is done.
func (w *town) settle() { w.t.Helper(); w.settleWithin(testtime.Patience()) }

func (w *town) settleWithin(limit time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	defer cancel()
	w.ok(social.Settle(ctx, w))
}

// posts stores n statuses by the authors in turn, many of them concurrently, and returns their ids,
// newest first.
func (w *town) posts(authors []social.NewUser, n int) []social.PostID {
	w.t.Helper()
	ids := make([]social.PostID, n)
	errs := make([]error, 8)
	var writers sync.WaitGroup
	for i := range errs {
		writers.Go(func() {
			for k := i; k < n && errs[i] == nil; k += len(errs) {
				author := authors[k%len(authors)].User.ID
				p := status(author, author, public)
				ids[k] = p.ID
				errs[i] = w.InsertPost(w.ctx, p, happened(social.EventPostCreated))
			}
		})
	}
	writers.Wait()
	for _, err := range errs {
		w.ok(err)
	}
	return newestIDs(ids)
}

func newestIDs(ids ...[]social.PostID) []social.PostID {
	return slices.SortedFunc(slices.Values(slices.Concat(ids...)), func(a, b social.PostID) int { return b.Compare(a.ID) })
}

func (w *town) news(viewer social.NewUser, p social.Page) []social.PostID {
	w.t.Helper()
	posts, err := w.News(w.ctx, viewer.User.ID, p)
	w.ok(err)
	return idsOf(posts)
}

func idsOf(posts []*social.Post) []social.PostID {
	ids := make([]social.PostID, len(posts))
	for i, p := range posts {
		ids[i] = p.ID
	}
	return ids
}

// walk reads all news in pages, from the newest or from the oldest, and returns them newest first.
func (w *town) walk(viewer social.NewUser, size int, backwards bool) []social.PostID {
	w.t.Helper()
	var all []social.PostID
	for p := (social.Page{Limit: size, Last: backwards}); ; {
		ids := w.news(viewer, p)
		if backwards {
			all = append(slices.Clone(ids), all...)
		} else {
			all = append(all, ids...)
		}
		if len(ids) < size {
			return all
		}
		if backwards {
			p.Before = social.Key(ids[0].Bytes())
		} else {
			p.After = social.Key(ids[len(ids)-1].Bytes())
		}
	}
}

func (w *town) same(got, want []social.PostID, what string, args ...any) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		missing := slices.DeleteFunc(slices.Clone(want), func(id social.PostID) bool { return slices.Contains(got, id) })
		w.t.Errorf("%s: %d posts, want %d, of which %d are missing", fmt.Sprintf(what, args...), len(got), len(want), len(missing))
	}
}

// TestNewsOlderThanTheList pages through more than a layout keeps, when the feed is new, after pushes,
// and after it was cut, with and without authors who are merged at read.
func TestNewsOlderThanTheList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mongodb.Options
		posts, more int // with more, the reader cuts the list, or a part is closed
	}{
		{mongodb.Options{Feeds: mongodb.TinyCache}, 90, 13},
		{mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1000}, 200, 80},
		{mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1}, 200, 80},
		{mongodb.Options{Feeds: mongodb.FeedsBucket}, 620, 90},
		{mongodb.Options{Feeds: mongodb.FeedsMonth}, 220, 40},
		{mongodb.Options{Feeds: mongodb.TinyBucket}, 90, 13},
		{mongodb.Options{Feeds: mongodb.TinyMonth}, 90, 13},
	} {
		t.Run(c.Feeds+" "+strconv.Itoa(c.MergeAbove), func(t *testing.T) {
			w := newTownOf(t, nil, c.Options)
			w.atWork()
			users := w.people(6)
			reader, second, authors := users[0], users[1], users[2:]
			w.follow(reader, authors)
			w.follow(second, authors[:1]) // so that one author has two followers
			want := w.posts(authors, c.posts)
			w.settle()
			for _, more := range []int{0, c.more / 4, c.more, 10} {
				want = newestIDs(want, w.posts(authors, more))
				w.settle()
				w.same(w.news(reader, social.Page{Limit: 20}), want[:20], "the first page, %d posts later", more)
				for _, backwards := range []bool{false, true} {
					w.same(w.walk(reader, 70, backwards), want, "all pages, %d posts later, backwards: %t", more, backwards)
				}
			}
			gone := want[5:32] // more than a page
			for _, post := range gone {
				w.ok(w.DeletePost(w.ctx, post, happened(social.EventPostDeleted)))
			}
			want = slices.Delete(want, 5, 32)
			w.same(w.walk(reader, 20, false), want, "immediately after deletions")
			w.settle()
			w.same(w.walk(reader, 20, true), want, "after deletions, backwards")
			old := status(authors[0].User.ID, authors[0].User.ID, public)
			old.ID = social.PostID{ID: id.At(time.Unix(1, 0))}
			w.post(old)
			w.settle()
			w.same(w.walk(reader, 70, false), append(want, old.ID), "after a post with a past")
		})
	}
}

// TestUnreadListBecomesDormant fills a list until it becomes dormant; it is complete when the
// reader comes back.
func TestUnreadListBecomesDormant(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, nil, mongodb.Options{Feeds: mongodb.FeedsHybrid})
	w.atWork()
	users := w.people(2)
	w.follow(users[0], users[1:])
	want := w.posts(users[1:], 1)
	w.settle()
	w.same(w.news(users[0], social.Page{Limit: 20}), want, "the first visit")
	want = newestIDs(want, w.posts(users[1:], 140))
	w.settle()
	w.same(w.walk(users[0], 100, false), want, "the second visit")
}

// TestBuildingListsDuringPushes: readers build lists all the time, because their follows change,
// while people post. In Socialite's cache, this is a race.
func TestBuildingListsDuringPushes(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.TinyCache, mongodb.FeedsHybrid, mongodb.TinyBucket, mongodb.TinyMonth} {
		t.Run(layout, func(t *testing.T) { buildingMeetsPushes(t, layout) })
	}
}

func buildingMeetsPushes(t *testing.T, layout string) {
	t.Helper()
	const rounds = 12
	w := newTownOf(t, nil, mongodb.Options{Feeds: layout})
	w.atWork()
	users := w.people(9)
	readers, authors, fickle := users[:4], users[4:8], users[8]
	for _, reader := range readers {
		w.follow(reader, authors)
	}
	var want [][]social.PostID
	var all sync.WaitGroup
	stopped := make(chan struct{})
	for _, reader := range readers {
		all.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				m := social.Membership{Circle: reader.Following.ID, Owner: reader.User.ID, Member: fickle.User.ID}
				if _, err := w.AddToCircle(w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded)); err != nil {
					t.Error(err)
				}
				if _, err := w.News(w.ctx, reader.User.ID, social.Page{Limit: 20}); err != nil {
					t.Error(err)
				}
				if _, err := w.Unfollow(w.ctx, reader.User.ID, fickle.User.ID, happened(social.EventUnfollowed)); err != nil {
					t.Error(err)
				}
				if _, err := w.News(w.ctx, reader.User.ID, social.Page{Limit: 20}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range rounds {
		want = append(want, w.posts(append(authors, readers...), 8))
	}
	close(stopped)
	all.Wait()
	w.settle()
	for i, reader := range readers {
		mine := slices.DeleteFunc(newestIDs(want...), func(post social.PostID) bool {
			p, err := w.Posts(w.ctx, []social.PostID{post})
			w.ok(err)
			author := p[post].Author
			return author != reader.User.ID && !slices.ContainsFunc(authors, func(a social.NewUser) bool { return a.User.ID == author })
		})
		w.same(w.walk(reader, 100, false), mine, "the news of reader %d", i)
	}
}

// TestNewsCommandCounts checks how many commands a page takes on each layout, whatever its size,
// and how MongoDB finds it.
func TestNewsCommandCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		o                   mongodb.Options
		newest, large, deep int // commands
	}{
		{"cache", mongodb.Options{Feeds: mongodb.FeedsCache}, 3, 3, 3},
		{"hybrid", mongodb.Options{Feeds: mongodb.FeedsHybrid}, 3, 3, 3},
		{"hybrid, an author merged", mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1}, 4, 4, 4},
		{"bucket", mongodb.Options{Feeds: mongodb.FeedsBucket}, 3, 3, 3},
		{"month", mongodb.Options{Feeds: mongodb.FeedsMonth}, 3, 4, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := new(recorder)
			w := newTownOf(t, r, c.o)
			users := w.people(303)
			reader, other, authors := users[0], users[1], users[2:]
			w.follow(reader, authors)
			w.follow(other, authors[:1])
			w.finish()
			for i := range 130 { // one after another: readers of copies expect the last ones to be the newest
				w.post(status(authors[i%3].User.ID, authors[i%3].User.ID, public))
				if i%40 == 0 { // a server delivers that many in order
					w.finish()
				}
			}
			w.finish()
			w.news(reader, social.Page{Limit: 1}) // builds the list
			client := plainClient(t)
			middle := w.news(reader, social.Page{Limit: 50})[49]
			for _, p := range []social.Page{{Limit: 21}, {Limit: 101}, {Limit: 21, After: social.Key(middle.Bytes())}, {Limit: 21, Last: true, Before: social.Key(middle.Bytes())}} {
				r.take()
				if got := w.news(reader, p); len(got) != p.Limit {
					t.Errorf("%d posts, want %d", len(got), p.Limit)
				}
				commands := r.take()
				want := c.deep
				if p.After == "" && !p.Last {
					want = c.newest
				}
				if p.Limit > 100 {
					want = c.large
				}
				if len(commands) != want {
					t.Errorf("a page of %d: %d commands, want %d: %s", p.Limit, len(commands), want, names(commands))
				}
				for _, raw := range commands {
					checkCommand(t, client, raw, p.Limit)
				}
			}
		})
	}
}

// TestFeedQueriesUseIndexes explains every shape of command, including those of background work.
func TestFeedQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.TinyCache, mongodb.FeedsHybrid, mongodb.TinyBucket, mongodb.TinyMonth} {
		t.Run(layout, func(t *testing.T) { feedQueriesUseIndexes(t, layout) })
	}
}

func feedQueriesUseIndexes(t *testing.T, layout string) {
	t.Helper()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Feeds: layout, MergeAbove: 1})
	users := w.people(4)
	w.follow(users[0], users[2:])
	w.follow(users[1], users[2:])
	var posts []social.PostID
	for range 3 {
		posts = w.posts(users[2:], 40)
		w.finish()
		for _, reader := range users[:2] {
			w.news(reader, social.Page{Limit: 20})
			w.walk(reader, 2, false)
			w.walk(reader, 2, true)
		}
	}
	pages(func(p social.Page) {
		for _, of := range [][]social.UserID{{users[2].User.ID}, {users[2].User.ID, users[3].User.ID}} {
			_, err := w.Wall(w.ctx, lists(p, of...))
			w.ok(err)
		}
	})
	p := w.post(status(users[2].User.ID, users[2].User.ID, public))
	w.comment(p, nil, users[1].User.ID)
	w.ok(w.PutReaction(w.ctx, posts[2], users[1].User.ID, social.ReactionLike, happened(social.EventReactionAdded)))
	w.news(users[0], social.Page{Limit: 20})
	w.finish()
	w.ok(w.DeletePost(w.ctx, p.ID, happened(social.EventPostDeleted)))
	w.finish()
	_, err := w.Revive(w.ctx)
	w.ok(err)
	_, err = w.Block(w.ctx, edge(users[0].User.ID, users[2].User.ID), happened(social.EventBlocked))
	w.ok(err)
	explainAll(t, r.take(), 30)
}

// TestKeptFeedsMergeIndexRanges is TestNewsMergesIndexRanges for building feeds, and for pages
// beyond what they keep.
func TestKeptFeedsMergeIndexRanges(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Feeds: mongodb.TinyBucket})
	users := w.people(5001)
	for i := range 120 {
		w.post(status(users[1+i%len(users)].User.ID, users[1+i%len(users)].User.ID, public))
	}
	w.finish()
	client := plainClient(t)
	for _, n := range []int{10, 199, 201, 5000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			viewer := w.people(1)[0]
			w.follow(viewer, users[1:n+1])
			r.take()
			w.finish()
			const built = 9
			for _, raw := range r.take() {
				for _, command := range explainable(t, raw) {
					if name := command[0].Key; name == "find" || name == "aggregate" {
						checkPlan(t, explain(t, client, command, "executionStats"), built)
					}
				}
			}
			all := w.walk(viewer, 100, false)
			if len(all) != min(n, 120) {
				t.Errorf("%d posts, want %d", len(all), min(n, 120))
			}
			for _, p := range []social.Page{{Limit: 5}, {Limit: 5, After: social.Key(all[min(n, 40)-1].Bytes())}, {Limit: 5, Last: true}} {
				r.take()
				w.news(viewer, p)
				for _, raw := range r.take() {
					checkCommand(t, client, raw, 20)
				}
			}
		})
	}
}
