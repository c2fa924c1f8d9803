package mongodb_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// paged are the layouts that keep long threads in several buckets.
var paged = []string{mongodb.CommentsPages, mongodb.CommentsAdaptive, mongodb.TinyPages, mongodb.TinyAdaptive}

// tidyBuckets checks a thread's buckets, and returns how many there are.
func (w *town) tidyBuckets(post social.PostID) int {
	w.t.Helper()
	n, faults, err := w.CheckBuckets(w.ctx, post)
	w.ok(err)
	for _, fault := range faults {
		w.t.Errorf("%s: %s", w.layout, fault)
	}
	return n
}

// thread reads a whole thread.
func (w *town) thread(post social.PostID, order social.CommentOrder) []*social.Comment {
	w.t.Helper()
	list := lists(social.Page{Limit: 100_000}, social.Thread{Post: post, Order: order})
	threads, err := w.Thread(w.ctx, list)
	w.ok(err)
	return threads[list[0]]
}

// TestManyWritersOfBuckets lets 64 writers on two servers write to one thread concurrently, and 64
// others delete half of it: no bucket is above its limit, nothing is lost, all counts are exact.
func TestManyWritersOfBuckets(t *testing.T) {
	t.Parallel()
	for _, layout := range paged {
		t.Run(layout, func(t *testing.T) {
			w := newTownIn(t, nil, layout)
			servers := []*town{w, secondServer(t, w)}
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			root := w.comment(p, nil, ada)
			const writers, each = 64, 4
			written := make([][]*social.Comment, writers)
			atOnce(writers, func(i int) {
				for n := range each {
					parents := []*social.Comment{nil, root, nil, root}
					c := newComment(p, parents[n], ada)
					if n > 1 && i%2 == 0 {
						c = newComment(p, written[i][n-2], ada)
					}
					if err := servers[i%2].InsertComment(w.ctx, c, happened(social.EventCommentAdded)); err != nil {
						t.Error(err)
					}
					written[i] = append(written[i], c)
				}
			})
			const total = writers*each + 1
			if n := w.tidyBuckets(p.ID); n < 2*total/100 {
				t.Errorf("%d comments are in %d buckets", total, n)
			}
			wantCount(t, w, p.ID, total)
			atOnce(writers, func(i int) {
				for _, c := range slices.Backward(written[i]) {
					if i%4 != 0 {
						continue
					}
					if err := servers[i%2].DeleteComment(w.ctx, c.ID, happened(social.EventCommentDeleted)); err != nil {
						t.Error(err)
					}
				}
			})
			w.tidyBuckets(p.ID)
			wantCount(t, w, p.ID, total-writers/4*each)
		})
	}
}

// atOnce runs n goroutines, and waits for them.
func atOnce(n int, run func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { run(i) })
	}
	all.Wait()
}

func wantCount(t *testing.T, w *town, post social.PostID, n int) {
	t.Helper()
	wantCounts(t, w, post, n, 0)
}

func wantCounts(t *testing.T, w *town, post social.PostID, live, tombstones int) {
	t.Helper()
	posts, err := w.Posts(w.ctx, []social.PostID{post})
	w.ok(err)
	if got := posts[post].CommentCount; got != live {
		t.Errorf("CommentCount is %d, want %d", got, live)
	}
	for _, order := range []social.CommentOrder{social.OrderOldest, social.OrderNewest, social.OrderThreaded} {
		if got := len(w.thread(post, order)); got != live+tombstones {
			t.Errorf("%s: %d comments, want %d", order, got, live+tombstones)
		}
	}
}

// TestBucketsAreTidyAfterAnything writes, edits and deletes in random order.
func TestBucketsAreTidyAfterAnything(t *testing.T) {
	t.Parallel()
	for _, layout := range append(paged, mongodb.CommentsEmbedded) {
		t.Run(layout, func(t *testing.T) {
			w := newTownIn(t, nil, layout)
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			dice := rand.New(rand.NewPCG(1, 2))
			var living []*social.Comment
			add := func() {
				var parent *social.Comment
				if len(living) > 0 && dice.IntN(3) > 0 {
					parent = living[dice.IntN(len(living))]
				}
				c := newComment(p, parent, ada)
				if dice.IntN(4) == 0 { // a clock that is behind
					c = commentWithID(id.At(time.Now().Add(-time.Duration(dice.IntN(1000))*time.Millisecond)), p, parent, ada)
				}
				w.ok(w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)))
				living = append(living, c)
			}
			changes := 80
			if slices.Contains([]string{mongodb.CommentsPages, mongodb.CommentsAdaptive}, layout) {
				changes = 160 // more comments than a page has
			}
			for range changes {
				add()
				if dice.IntN(3) == 0 {
					text := strings.Repeat("x", dice.IntN(300))
					w.ok(w.EditComment(w.ctx, living[dice.IntN(len(living))].ID, text, time.Now(), happened(social.EventCommentEdited)))
				}
				if dice.IntN(3) == 0 {
					i := dice.IntN(len(living))
					w.ok(w.DeleteComment(w.ctx, living[i].ID, happened(social.EventCommentDeleted)))
					living = slices.Delete(living, i, i+1)
				}
			}
			w.tidyBuckets(p.ID)
			for _, c := range living {
				w.ok(w.DeleteComment(w.ctx, c.ID, happened(social.EventCommentDeleted)))
			}
			if n := w.tidyBuckets(p.ID); n > 2 {
				t.Errorf("%d buckets are left of an empty thread", n)
			}
			wantCount(t, w, p.ID, 0)
			w.ok(w.DeletePost(w.ctx, p.ID, happened(social.EventPostDeleted)))
			if n := w.tidyBuckets(p.ID); n != 0 {
				t.Errorf("%d buckets are left of a deleted post", n)
			}
		})
	}
}

// TestReadersSeeNoMove reads threads while they grow from one bucket into many: each read contains
// everything that was acknowledged before, once.
func TestReadersSeeNoMove(t *testing.T) {
	t.Parallel()
	w := newTownIn(t, nil, mongodb.TinyAdaptive)
	reader := secondServer(t, w)
	ada := w.people(1)[0].User.ID
	for range 6 {
		p := w.post(status(ada, ada, public))
		var mu sync.Mutex
		var acknowledged []social.CommentID
		ctx, stop := context.WithCancel(w.ctx)
		var readers sync.WaitGroup
		for _, order := range []social.CommentOrder{social.OrderOldest, social.OrderThreaded} {
			readers.Go(func() {
				for ctx.Err() == nil {
					mu.Lock()
					due := slices.Clone(acknowledged)
					mu.Unlock()
					checkRead(t, reader.thread(p.ID, order), due)
				}
			})
		}
		var parent *social.Comment
		for i := range 16 {
			c := w.comment(p, parent, ada)
			mu.Lock()
			acknowledged = append(acknowledged, c.ID)
			mu.Unlock()
			if i%3 == 0 {
				parent = c
			}
		}
		stop()
		readers.Wait()
		w.tidyBuckets(p.ID)
	}
}

func checkRead(t *testing.T, read []*social.Comment, due []social.CommentID) {
	t.Helper()
	times := map[social.CommentID]int{}
	for _, c := range read {
		times[c.ID]++
	}
	for _, c := range due {
		if times[c] == 0 {
			t.Errorf("a comment is lost: %d were read, want %d", len(read), len(due))
		}
	}
	for _, n := range times {
		if n > 1 {
			t.Error("a comment is doubled")
		}
	}
}

// TestFullThreadsAreRefused fills embedded threads, with short texts and with the longest, and
// checks that a refused comment changes nothing, and that a thread accepts comments again when it
// has room.
func TestFullThreadsAreRefused(t *testing.T) {
	t.Parallel()
	for layout, text := range map[string]string{
		mongodb.TinyEmbedded:     "short",
		mongodb.CommentsEmbedded: strings.Repeat("\U0001F600", social.MaxTextLen),
	} {
		t.Run(layout, func(t *testing.T) {
			w := newTownIn(t, nil, layout)
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			next := func() *social.Comment {
				c := newComment(p, nil, ada)
				c.Text = text
				return c
			}
			write := func() (*social.Comment, error) {
				c := next()
				return c, w.InsertComment(w.ctx, c, happened(social.EventCommentAdded))
			}
			var all []*social.Comment
			if layout == mongodb.CommentsEmbedded { // each of them alone would rewrite megabytes
				for range (8<<20)/len(text) - 7 {
					all = append(all, next())
				}
				w.ok(w.Fill(w.ctx, p.ID, all))
			}
			c, err := write()
			for ; err == nil && len(all) < 1000; c, err = write() {
				all = append(all, c)
			}
			full := func(err error) {
				t.Helper()
				if !errors.Is(err, social.ErrThreadFull) {
					t.Errorf("got %v, want ErrThreadFull", err)
				}
				w.tidyBuckets(p.ID)
				wantCount(t, w, p.ID, len(all))
			}
			full(err)
			edit := func(text string) error {
				return w.EditComment(w.ctx, all[0].ID, text, time.Now(), happened(social.EventCommentEdited))
			}
			full(edit(strings.Repeat(text, 120)))
			w.ok(edit("less"))
			w.ok(w.DeleteComment(w.ctx, all[1].ID, happened(social.EventCommentDeleted)))
			c, err = write()
			w.ok(err)
			all = append(slices.Delete(all, 1, 2), c)
			w.tidyBuckets(p.ID)
			wantCount(t, w, p.ID, len(all))
			read, err := w.Comments(w.ctx, []social.CommentID{all[0].ID, c.ID})
			w.ok(err)
			if read[all[0].ID].Text != "less" || read[c.ID].Text != text {
				t.Error("a text was lost")
			}
		})
	}
}

// TestFailedSplitChangesNothing makes the database fail in the middle of a move and of a split: the
// comment fails, nothing else changes, and the next comment moves the thread.
func TestFailedSplitChangesNothing(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	uri := mongotest.InDatabase(t, server.URI(), "plaza")
	for name, limit := range map[string]int{"the move": 4, "a cut": 6} {
		t.Run(name, func(t *testing.T) {
			w := &town{
				Store: openAt(t, uri, mongodb.Options{Comments: mongodb.TinyAdaptive}), uri: uri, layout: mongodb.TinyAdaptive,
				t: t, ctx: t.Context(),
			}
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			early := newComment(p, nil, ada)
			for range limit {
				w.comment(p, nil, ada)
			}
			before := w.thread(p.ID, social.OrderThreaded)
			broken := failTwice(t, server, "insert", "plaza.threads."+mongodb.TinyAdaptive)
			if err := w.InsertComment(w.ctx, early, happened(social.EventCommentAdded)); err == nil {
				t.Error("nothing failed")
			}
			broken()
			if diff := cmp.Diff(before, w.thread(p.ID, social.OrderThreaded)); diff != "" {
				t.Errorf("the thread has changed:\n%s", diff)
			}
			wantCount(t, w, p.ID, limit)
			w.tidyBuckets(p.ID)
			w.ok(w.InsertComment(w.ctx, early, happened(social.EventCommentAdded)))
			wantCount(t, w, p.ID, limit+1)
			if n := w.tidyBuckets(p.ID); n < 4 {
				t.Errorf("there are only %d buckets", n)
			}
		})
	}
}

// TestSparsePagesAreJoined deletes most of long threads, in several orders: there are never two
// neighbours that together fill at most half a page, and no other comments are lost.
func TestSparsePagesAreJoined(t *testing.T) {
	t.Parallel()
	for layout, size := range map[string]int{mongodb.SmallPages: 8, mongodb.CommentsPages: 100} {
		for name, order := range map[string]func(all []*social.Comment){
			"from the start": func([]*social.Comment) {},
			"from the end":   slices.Reverse[[]*social.Comment],
			"anywhere": func(all []*social.Comment) {
				dice := rand.New(rand.NewPCG(3, 4))
				dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			},
		} {
			t.Run(layout+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newTownIn(t, nil, layout)
				ada := w.people(1)[0].User.ID
				p := w.post(status(ada, ada, public))
				all := flat(p, ada, 5*size/2)
				w.ok(w.Fill(w.ctx, p.ID, all))
				before := w.tidyBuckets(p.ID)
				order(all)
				left := len(all)
				for i, c := range all {
					if i%10 == 9 {
						continue
					}
					w.ok(w.DeleteComment(w.ctx, c.ID, happened(social.EventCommentDeleted)))
					left--
				}
				wantCount(t, w, p.ID, left)
				after := w.tidyBuckets(p.ID)
				n, err := w.SparseNeighbours(w.ctx, p.ID)
				w.ok(err)
				if n > 0 || after >= before {
					t.Errorf("%d of %d buckets (%d before) could be joined with the next", n, after, before)
				}
			})
		}
	}
}

// flat returns n comments on the post itself.
func flat(p *social.Post, author social.UserID, n int) []*social.Comment {
	all := make([]*social.Comment, n)
	for i := range all {
		all[i] = newComment(p, nil, author)
	}
	return all
}

// TestPagesHaveAByteLimit writes the longest comments, at the end and in the middle, and makes
// short ones long: no page and no small thread exceeds 256 KB, although 100 such comments would
// take 4 MB.
func TestPagesHaveAByteLimit(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("\U0001F600", social.MaxTextLen)
	for _, layout := range []string{mongodb.CommentsPages, mongodb.CommentsAdaptive} {
		t.Run(layout, func(t *testing.T) {
			w := newTownIn(t, nil, layout)
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			early := flat(p, ada, 10)
			var all []*social.Comment
			write := func(c *social.Comment, text string) {
				t.Helper()
				c.Text = text
				w.ok(w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)))
				all = append(all, c)
				w.tidyBuckets(p.ID)
			}
			for range 16 {
				write(newComment(p, nil, ada), longest)
			}
			for _, c := range early {
				write(c, longest)
			}
			wantCount(t, w, p.ID, len(all))
			read, err := w.Comments(w.ctx, []social.CommentID{early[3].ID})
			w.ok(err)
			if read[early[3].ID].Text != longest {
				t.Error("a text was lost")
			}
			q := w.post(status(ada, ada, public))
			p = q
			all = nil
			for range 20 {
				write(newComment(q, nil, ada), "short")
			}
			for _, c := range all {
				w.ok(w.EditComment(w.ctx, c.ID, longest, time.Now(), happened(social.EventCommentEdited)))
				w.tidyBuckets(q.ID)
			}
			wantCount(t, w, q.ID, len(all))
			for _, c := range w.thread(q.ID, social.OrderThreaded) {
				if c.Text != longest {
					t.Error("an edit was lost")
				}
			}
		})
	}
}

// TestErasingIsDoneInParts leaves an erasure to the workers of another server, which do a little at
// a time.
func TestErasingIsDoneInParts(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.CommentsDocuments, mongodb.TinyAdaptive} {
		t.Run(layout, func(t *testing.T) {
			w := newTownIn(t, nil, layout)
			other := secondServer(t, w)
			w.EraseSlowly()
			other.EraseSlowly()
			users := w.people(2)
			ada, ben := users[0].User.ID, users[1].User.ID
			var posts []*social.Post
			for range 6 {
				p := w.post(status(ada, ada, public))
				w.ok(w.Fill(w.ctx, p.ID, append(flat(p, ben, 25), flat(p, ada, 3)...)))
				posts = append(posts, p)
			}
			remaining, err := w.EraseComments(w.ctx, ben, social.CommentID{ID: id.New()}, happened(social.EventErasureBegun))
			w.ok(err)
			if remaining != 6*25-20 { // one transaction's are gone
				t.Errorf("%d remain", remaining)
			}
			erasure, err := other.CommentErasure(w.ctx, ben)
			w.ok(err)
			if erasure.RemainingCount != remaining || time.Since(erasure.StartedAt) > testtime.Patience() {
				t.Errorf("the erasure is %+v", erasure)
			}
			ctx, stop := context.WithCancel(w.ctx)
			done := make(chan struct{})
			go func() {
				defer close(done)
				other.Work(ctx)
			}()
			defer func() { stop(); <-done }()
			for {
				if erasure, err = w.CommentErasure(w.ctx, ben); errors.Is(err, social.ErrNotFound) {
					break
				}
				w.ok(err)
				if erasure.RemainingCount > remaining {
					t.Fatalf("%d remain, after %d", erasure.RemainingCount, remaining)
				}
				remaining = erasure.RemainingCount
			}
			for _, p := range posts {
				wantCount(t, w, p.ID, 3)
			}
		})
	}
}

// failTwice makes the server fail two commands with an error that is not retried, and returns a
// function that checks that it did. One failure would not be enough: a write that could share its
// transaction is tried again by itself.
func failTwice(t *testing.T, server *mongotest.Server, command, namespace string) (broken func()) {
	t.Helper()
	client := adminOf(t, server.URI()).Client()
	set := func(mode any) int {
		return mongotest.FailCommand(t, client, mode, bson.D{{Key: "failCommands", Value: bson.A{command}}, {Key: "namespace", Value: namespace}, {Key: "errorCode", Value: 8}})
	}
	before := set(bson.D{{Key: "times", Value: 2}})
	return func() {
		if set("off") != before+2 {
			t.Error("no command was refused")
		}
	}
}
