package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/internal/threads"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest"
)

// brisk shortens heartbeats, so that servers agree quickly.
func brisk(o mongodb.Options) mongodb.Options {
	o.Heartbeat = 25 * time.Millisecond
	return o
}

// twoTowns returns two servers on one database.
func twoTowns(t *testing.T, o mongodb.Options) (one, two *town) {
	t.Helper()
	uri := mongotest.Reused(t)
	return newTownAt(t, nil, uri, brisk(o)), newTownAt(t, nil, uri, brisk(o))
}

// withoutTransactionLimit starts a server on which a transaction may take an hour, and returns a
// database's URI and the matching options: a long thread is compared in one transaction, which
// takes minutes on a slow machine.
func withoutTransactionLimit(t *testing.T, comments string) (uri string, o mongodb.Options) {
	t.Helper()
	server := mongotest.OwnServer(t, mongotest.WithParameter("transactionLifetimeLimitSeconds=3600"))
	return mongotest.InDatabase(t, server.URI(), "plaza"), brisk(mongodb.Options{Comments: comments, TransactionLife: time.Hour})
}

// migrate moves comments. No copy may differ.
func (w *town) migrate(to string, goal mongodb.Goal) {
	w.t.Helper()
	w.ok(w.Migrate(w.ctx, mongodb.Migration{Subject: mongodb.MigrateComments, To: to, Goal: goal, Progress: func(s mongodb.MigrationState) {
		if s.Fixed > 0 {
			w.t.Errorf("%d copies had to be replaced", s.Fixed)
		}
	}}))
}

// readsFrom checks the layout that is read, and that another one is kept in step: "" for none.
func (w *town) readsFrom(layout, other string) {
	w.t.Helper()
	all, err := w.Migrations(w.ctx)
	w.ok(err)
	got := all[0]
	also := got.From
	if also == got.Layout {
		also = got.To
	}
	if got.Layout != layout || also != other || got.Driver != "" {
		w.t.Errorf("comments are read from %q, and kept in %q too (%+v); want %q and %q", got.Layout, also, got, layout, other)
	}
}

// migrations returns chores: each continues a migration for some steps or to its end, backs out of
// it, or begins a new one.
func migrations(subject mongodb.Subject, stores []storage.Store, layouts ...string) storagetest.Chore {
	do := func(ctx context.Context, n int) error {
		store := stores[n%len(stores)].(*mongodb.Store)
		all, err := store.Migrations(ctx)
		if err != nil {
			return err
		}
		state := all[slices.IndexFunc(all, func(s mongodb.MigrationState) bool { return s.Subject == subject })]
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		some := n / 2 % 5 // batches; 0 for all
		fixed := 0
		m := mongodb.Migration{Subject: subject, Rate: 20, Progress: func(s mongodb.MigrationState) {
			fixed = s.Fixed
			if some--; some == 0 {
				stop()
			}
		}}
		if some == 0 {
			m.Rate = 0
		}
		m.To, m.Goal = next(state, layouts, n)
		err = store.Migrate(ctx, m)
		switch {
		case fixed > 0:
			return fmt.Errorf("%d copies had to be replaced", fixed)
		case errors.Is(err, context.Canceled):
			return nil
		}
		return err
	}
	return storagetest.Chore{Name: "migrate " + string(subject), Weight: 14, Do: do}
}

// next returns what can come next in a migration.
func next(s mongodb.MigrationState, layouts []string, n int) (to string, goal mongodb.Goal) {
	back := n%4 == 3
	switch s.Phase {
	case "":
		others := slices.DeleteFunc(slices.Clone(layouts), func(l string) bool { return l == s.Layout })
		return others[n%len(others)], mongodb.GoalSwitch
	case "announced", "copying", "comparing":
		if !back {
			return s.To, mongodb.GoalSwitch
		}
	case "switched":
		if !back {
			return "", mongodb.GoalFinish
		}
	case "finishing":
		return "", mongodb.GoalFinish
	}
	return "", mongodb.GoalBackOut
}

// TestModelWhileCommentsMove plays the model's histories over two servers, with migrations between
// their steps.
func TestModelWhileCommentsMove(t *testing.T) {
	t.Parallel()
	stores := twoStores(t, mongodb.Options{})
	storagetest.RunModel(t, func(*testing.T) storage.Store { return storagetest.Several(stores...) }, 4, migrations(mongodb.MigrateComments, stores,
		mongodb.CommentsDocuments, mongodb.TinyPages, mongodb.TinyAdaptive, mongodb.CommentsEmbedded))
}

// TestModelWhileFeedsMove does the same for feeds, with authors who are merged at read.
func TestModelWhileFeedsMove(t *testing.T) {
	t.Parallel()
	stores := twoStores(t, mongodb.Options{MergeAbove: 1})
	storagetest.RunModel(t, func(*testing.T) storage.Store { return storagetest.Several(stores...) }, 4,
		migrations(mongodb.MigrateFeeds, stores, mongodb.FeedsRead, mongodb.FeedsHybrid, mongodb.TinyCache, mongodb.TinyBucket, mongodb.TinyMonth))
}

// TestFeedsMoveWhilePeoplePost moves feeds there and back, over two servers, while people post,
// delete, follow, unfollow, and read their news. In the end, all users' news must be right.
func TestFeedsMoveWhilePeoplePost(t *testing.T) {
	t.Parallel()
	const people = 12
	one, two := twoTowns(t, mongodb.Options{MergeAbove: 8})
	one.atWork()
	two.atWork()
	users := one.people(people)
	for i, u := range users {
		one.follow(u, users[i+1:min(people, i+4)])
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	errs := make([]error, people)
	posts := make([][]social.PostID, people)
	turns := make(chan struct{}, 2) // as many as workers, so that the backlog does not grow
	var all sync.WaitGroup
	for i := range people {
		w := []*town{one, two}[i%2]
		all.Go(func() {
			for n := 0; ctx.Err() == nil && errs[i] == nil; n++ {
				turns <- struct{}{}
				errs[i] = w.live(users, i, n, &posts[i])
				<-turns
			}
		})
	}
	for _, to := range []string{mongodb.FeedsHybrid, mongodb.FeedsCache, mongodb.FeedsBucket, mongodb.FeedsMonth, mongodb.FeedsRead} {
		m := mongodb.Migration{Subject: mongodb.MigrateFeeds, To: to, Goal: mongodb.GoalSwitch}
		one.ok(one.Migrate(one.ctx, m))
		two.ok(two.Migrate(two.ctx, mongodb.Migration{Subject: mongodb.MigrateFeeds, Goal: mongodb.GoalBackOut}))
		m.Goal = mongodb.GoalFinish
		two.ok(two.Migrate(two.ctx, m))
	}
	stop()
	all.Wait()
	for i := range errs {
		one.ok(errs[i])
	}
	one.settle()
	for i, u := range users { // after an even number of changes, everyone follows the same users as at first
		var want []social.PostID
		for k := i; k < min(people, i+4); k++ {
			want = append(want, posts[k]...)
		}
		one.same(two.walk(u, 50, false), newestIDs(want), "the news of %d", i)
		one.same(two.onWall(u), newestIDs(posts[i]), "the wall of %d", i)
	}
}

// onWall reads all posts on a user's wall, page by page.
func (w *town) onWall(owner social.NewUser) (ids []social.PostID) {
	w.t.Helper()
	list := social.List[social.UserID]{Of: owner.User.ID, Page: social.Page{Limit: 50}}
	for {
		walls, err := w.Wall(w.ctx, []social.List[social.UserID]{list})
		w.ok(err)
		for _, p := range walls[list] {
			ids = append(ids, p.ID)
		}
		if len(walls[list]) < list.Limit {
			return ids
		}
		list.After = social.Key(ids[len(ids)-1].Bytes())
	}
}

// live does one round of a user's actions. In the end, the user follows the same users as before.
func (w *town) live(users []social.NewUser, i, n int, posts *[]social.PostID) error {
	me := users[i].User.ID
	p := status(me, me, public)
	if err := w.InsertPost(w.ctx, p, happened(social.EventPostCreated)); err != nil {
		return err
	}
	*posts = append(*posts, p.ID)
	if n%3 == 2 {
		gone := (*posts)[n%len(*posts)]
		*posts = slices.DeleteFunc(*posts, func(p social.PostID) bool { return p == gone })
		if err := w.DeletePost(w.ctx, gone, happened(social.EventPostDeleted)); err != nil {
			return err
		}
	}
	other := users[(i+7)%len(users)]
	m := social.Membership{Circle: users[i].Following.ID, Owner: me, Member: other.User.ID}
	if _, err := w.AddToCircle(w.ctx, m, edge(me, me).ID, happened(social.EventMemberAdded)); err != nil {
		return err
	}
	if _, err := w.News(w.ctx, me, social.Page{Limit: 20}); err != nil {
		return err
	}
	_, err := w.Unfollow(w.ctx, me, other.User.ID, happened(social.EventUnfollowed))
	return err
}

// twoStores returns two servers on one database.
func twoStores(t *testing.T, o mongodb.Options) []storage.Store {
	t.Helper()
	one, two := twoTowns(t, o)
	return []storage.Store{one.Store, two.Store}
}

// story writes to a thread until it is stopped: comments, replies, edits and deletions. It
// remembers the expected result.
type story struct {
	post *social.Post
	all  []*social.Comment // in the order of their ids; tombstones have no text
}

func (s *story) write(w *town, author social.UserID, n int) error {
	var parent *social.Comment
	if n%3 > 0 && len(s.all) > 0 {
		parent = s.all[n*7%len(s.all)]
		if parent.Deleted || parent.Depth() >= 8 {
			parent = nil
		}
	}
	c := newComment(s.post, parent, author)
	c.Text = fmt.Sprint("comment ", n)
	if err := w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)); err != nil {
		return err
	}
	if parent != nil {
		parent.Replies++
	}
	s.all = append(s.all, c)
	if n%4 == 3 {
		old := s.all[n*5%len(s.all)]
		if !old.Deleted {
			old.Text, old.EditedAt = old.Text+"!", time.Unix(int64(n), 0).UTC()
			if err := w.EditComment(w.ctx, old.ID, old.Text, old.EditedAt, happened(social.EventCommentEdited)); err != nil {
				return err
			}
		}
	}
	if n%5 == 4 {
		return s.delete(w, s.all[n*3%len(s.all)])
	}
	return nil
}

func (s *story) delete(w *town, c *social.Comment) error {
	if c.Deleted {
		return nil
	}
	if err := w.DeleteComment(w.ctx, c.ID, happened(social.EventCommentDeleted)); err != nil {
		return err
	}
	c.Deleted, c.Text, c.Author, c.EditedAt = true, "", social.UserID{}, time.Time{}
	for c != nil && c.Deleted && c.Replies == 0 {
		i := slices.Index(s.all, c)
		s.all = slices.Delete(s.all, i, i+1)
		p := slices.IndexFunc(s.all, func(a *social.Comment) bool { return a.ID == c.Parent })
		if c.Parent.IsZero() || p < 0 {
			return nil
		}
		c = s.all[p]
		c.Replies--
	}
	return nil
}

// check compares what people read with the expected result, in both orders, and with the counts.
func (s *story) check(t *testing.T, w *town) {
	t.Helper()
	slices.SortFunc(s.all, func(a, b *social.Comment) int { return a.ID.Compare(b.ID.ID) })
	inTime := w.thread(s.post.ID, social.OrderOldest)
	if diff := cmp.Diff(s.all, inTime); diff != "" {
		t.Errorf("the thread of %s differs (-want +got):\n%s", s.post.ID, diff)
	}
	inTree := slices.Clone(s.all)
	slices.SortFunc(inTree, func(a, b *social.Comment) int { return cmpKeys(a.TreePath, b.TreePath) })
	if diff := cmp.Diff(inTree, w.thread(s.post.ID, social.OrderThreaded)); diff != "" {
		t.Errorf("the tree of %s differs (-want +got):\n%s", s.post.ID, diff)
	}
	live := 0
	for _, c := range s.all {
		if !c.Deleted {
			live++
		}
	}
	posts, err := w.Posts(w.ctx, []social.PostID{s.post.ID})
	if err != nil || posts[s.post.ID].CommentCount != live {
		t.Errorf("%d comments are counted, there are %d, %v", posts[s.post.ID].CommentCount, live, err)
	}
}

func cmpKeys(a, b social.Key) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// TestCommentsMoveWhilePeopleWrite moves comments through all layouts, there and back, over two
// servers, while 32 writers comment, reply, edit, delete, and create and delete posts. Nothing is
// lost, duplicated or reordered, and every count is exact.
func TestCommentsMoveWhilePeopleWrite(t *testing.T) {
	t.Parallel()
	const writers = 32
	one, two := twoTowns(t, mongodb.Options{Comments: mongodb.CommentsDocuments})
	users := one.people(writers)
	stories := make([]*story, writers)
	for i := range stories {
		author := users[i].User.ID
		stories[i] = &story{post: one.post(status(author, author, public))}
		for n := range 10 + i/2 {
			one.ok(stories[i].write(one, author, n))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	errs := make([]error, writers)
	turns := make(chan struct{}, 4) // leaves some CPU time for the migration
	var all sync.WaitGroup
	for i, s := range stories {
		w := []*town{one, two}[i%2]
		all.Go(func() {
			for n := 100; ctx.Err() == nil && errs[i] == nil; n++ {
				turns <- struct{}{}
				errs[i] = s.write(w, users[i].User.ID, n)
				if n%10 == 0 && errs[i] == nil {
					errs[i] = shortLife(w, users[i].User.ID)
				}
				<-turns
			}
		})
	}
	began := time.Now()
	for _, to := range []string{mongodb.TinyAdaptive, mongodb.CommentsEmbedded, mongodb.CommentsDocuments} {
		one.migrate(to, mongodb.GoalSwitch)
		two.migrate("", mongodb.GoalBackOut)
		two.migrate(to, mongodb.GoalSwitch)
		one.migrate("", mongodb.GoalFinish)
		one.readsFrom(to, "")
		t.Logf("in %q after %v", to, time.Since(began))
	}
	stop()
	all.Wait()
	for i, s := range stories {
		if errs[i] != nil {
			t.Errorf("writer %d: %v", i, errs[i])
		}
		s.check(t, two)
	}
}

// shortLife creates a post, comments on it and deletes it.
func shortLife(w *town, author social.UserID) error {
	p := status(author, author, public)
	if err := w.InsertPost(w.ctx, p, happened(social.EventPostCreated)); err != nil {
		return err
	}
	c := newComment(p, nil, author)
	if err := w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)); err != nil {
		return err
	}
	if err := w.DeletePost(w.ctx, p.ID, happened(social.EventPostDeleted)); err != nil {
		return err
	}
	left, err := w.Comments(w.ctx, []social.CommentID{c.ID})
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("a comment has outlived its post: %v", left)
	}
	return err
}

// TestMigrationsUseIndexes explains every shape of command of a migration, and checks what people's
// calls cost while both layouts are kept.
func TestMigrationsUseIndexes(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownAlone(t, r, brisk(mongodb.Options{Comments: mongodb.CommentsDocuments}))
	ada := w.people(1)[0].User.ID
	p := w.post(status(ada, ada, public))
	first := w.comment(p, nil, ada)
	for range 230 {
		w.post(status(ada, ada, public))
		w.comment(p, first, ada)
	}
	costs := func(want int, do func()) {
		t.Helper()
		r.take()
		do()
		if commands := r.take(); len(commands) != want {
			t.Errorf("%d commands, want %d: %s", len(commands), want, names(commands))
		}
	}
	thread := func() { w.thread(p.ID, social.OrderThreaded) }
	comment := func() { w.comment(p, nil, ada) }
	costs(5, comment)
	costs(1, thread)
	r.take()
	w.migrate(mongodb.CommentsAdaptive, mongodb.GoalSwitch)
	explainAll(t, r.take(), 15)
	costs(5+1+3, comment) // the first layout, the homes, and the second layout
	costs(1, thread)
	w.comment(p, first, ada)
	w.ok(w.EditComment(w.ctx, first.ID, "else", time.Now(), happened(social.EventCommentEdited)))
	w.ok(w.DeleteComment(w.ctx, first.ID, happened(social.EventCommentDeleted)))
	w.ok(w.DeletePost(w.ctx, w.post(status(ada, ada, public)).ID, happened(social.EventPostDeleted)))
	explainAll(t, r.take(), 15)
	w.migrate("", mongodb.GoalFinish)
	w.migrate(mongodb.CommentsEmbedded, mongodb.GoalSwitch)
	w.migrate("", mongodb.GoalBackOut)
	explainAll(t, r.take(), 10)
	costs(7, comment)
}

// TestAVeryLongThreadMoves moves a thread that is copied in three parts, with texts that make it too
// large for one document. The comparison is one transaction, which may take longer than a minute on
// a slow machine: the test has a server that allows it.
func TestAVeryLongThreadMoves(t *testing.T) {
	t.Parallel()
	const size = 2*threads.LongThread + 1_003
	uri, options := withoutTransactionLimit(t, mongodb.CommentsDocuments)
	w := newTownAt(t, nil, uri, options)
	ada := w.people(1)[0].User.ID
	p := w.post(status(ada, ada, public))
	long := forest(p, ada, size)
	for i, c := range long {
		c.Text = strings.Repeat(c.Text, 8+i%3)
	}
	w.ok(w.Fill(w.ctx, p.ID, long))
	want := w.thread(p.ID, social.OrderThreaded)
	for _, to := range []string{mongodb.CommentsPages, mongodb.CommentsDocuments} {
		began := time.Now()
		w.migrate(to, mongodb.GoalSwitch)
		t.Logf("%d comments moved to %q, and compared, in %v", size, to, time.Since(began))
		if got := w.thread(p.ID, social.OrderThreaded); !slices.EqualFunc(got, want, func(a, b *social.Comment) bool { return *a == *b }) {
			t.Errorf("%d comments, want %d, or they differ", len(got), len(want))
		}
		w.migrate("", mongodb.GoalFinish)
	}
	err := w.Migrate(w.ctx, mongodb.Migration{Subject: mongodb.MigrateComments, To: mongodb.CommentsEmbedded, Goal: mongodb.GoalSwitch})
	refusedFor(t, err, p.ID.ID.String(), strconv.Itoa(size), mongodb.CommentsEmbedded)
	w.migrate("", mongodb.GoalBackOut)
	w.readsFrom(mongodb.CommentsDocuments, "")
}

// TestALongThreadTakesCommentsWhileItMoves: comments that are added while a long thread is copied
// in parts wait, and are stored afterwards.
func TestALongThreadTakesCommentsWhileItMoves(t *testing.T) {
	t.Parallel()
	const size, writers = threads.LongThread + 17, 2
	uri, options := withoutTransactionLimit(t, mongodb.CommentsDocuments)
	one, two := newTownAt(t, nil, uri, options), newTownAt(t, nil, uri, options)
	ada := one.people(1)[0].User.ID
	p := one.post(status(ada, ada, public))
	old := forest(p, ada, size)
	one.ok(one.Fill(one.ctx, p.ID, old))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wrote [writers]int
	var all sync.WaitGroup
	for i := range writers {
		w := []*town{one, two}[i%2]
		all.Go(func() {
			// Without a pause, most of the test's work would be to write comments.
			pause := time.NewTicker(50 * time.Millisecond)
			defer pause.Stop()
			for ; ctx.Err() == nil; wrote[i]++ {
				if err := w.InsertComment(w.ctx, newComment(p, old[i], ada), happened(social.EventCommentAdded)); err != nil {
					t.Error(err)
					return
				}
				<-pause.C
			}
		})
	}
	for _, to := range []string{mongodb.CommentsAdaptive, mongodb.CommentsPages, mongodb.CommentsDocuments} {
		one.migrate(to, mongodb.GoalFinish)
	}
	stop()
	all.Wait()
	want := size
	for _, n := range wrote {
		want += n
	}
	t.Logf("%d comments were added meanwhile", want-size)
	if inTime, inTree := one.thread(p.ID, social.OrderOldest), two.thread(p.ID, social.OrderThreaded); len(inTime) != want || len(inTree) != want {
		t.Errorf("%d comments by time and %d in the tree, want %d", len(inTime), len(inTree), want)
	}
	wantCount(t, one, p.ID, want)
}

// TestCopiesThatDifferAreMadeAgain damages the copies between copying and comparing. They are
// replaced before they are read.
func TestCopiesThatDifferAreMadeAgain(t *testing.T) {
	t.Parallel()
	w := newTownAlone(t, nil, brisk(mongodb.Options{Comments: mongodb.CommentsPages}))
	ada := w.people(1)[0].User.ID
	var stories []*story
	for range 5 {
		s := &story{post: w.post(status(ada, ada, public))}
		for n := range 12 {
			w.ok(s.write(w, ada, n))
		}
		stories = append(stories, s)
	}
	copied, stop := context.WithCancel(w.ctx)
	err := w.Migrate(copied, mongodb.Migration{
		Subject: mongodb.MigrateComments, To: mongodb.CommentsDocuments, Goal: mongodb.GoalSwitch,
		Progress: func(mongodb.MigrationState) { stop() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	copies := mongotest.Connect(t, w.uri).Collection("comments")
	of := func(i int) bson.D { return bson.D{{Key: "post", Value: uuid(stories[i].post.ID.ID)}} }
	_, err = copies.UpdateOne(w.ctx, of(0), bson.D{{Key: "$set", Value: bson.D{{Key: "text", Value: "something else"}}}})
	w.ok(err)
	_, err = copies.DeleteOne(w.ctx, of(1))
	w.ok(err)
	_, err = copies.UpdateOne(w.ctx, of(2), bson.D{{Key: "$set", Value: bson.D{{Key: "treePath", Value: "0"}}}})
	w.ok(err)
	w.ok(w.Migrate(w.ctx, mongodb.Migration{Subject: mongodb.MigrateComments, To: mongodb.CommentsDocuments, Goal: mongodb.GoalSwitch}))
	all, err := w.Migrations(w.ctx)
	w.ok(err)
	if all[0].Fixed != 3 || all[0].Layout != mongodb.CommentsDocuments {
		t.Errorf("%+v; want 3 copies replaced, and the switch", all[0])
	}
	for _, s := range stories {
		s.check(t, w)
	}
}
