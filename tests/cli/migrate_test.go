package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// briskLease returns the time after which a dead server is given up. It is far longer than a
// heartbeat takes.
func briskLease() time.Duration { return testtime.Scale(2 * time.Second) }

// briskServers returns flags with which servers agree quickly, and give up dead servers quickly.
func briskServers() []string {
	return []string{"PLAZA_HEARTBEAT=25ms", "PLAZA_LEASE=" + briskLease().String()}
}

var brisk = mongodb.Options{Heartbeat: 25 * time.Millisecond}

// migrateProcess prepares "plaza migrate" as a process.
func migrateProcess(t *testing.T, uri string, args ...string) (command *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	command, stdout, stderr = plazatest.Command(t.Context(), t.TempDir(), append([]string{"migrate"}, args...)...)
	command.Env = append(append(command.Env, briskServers()...), "PLAZA_MONGODB_URI="+uri)
	return command, stdout, stderr
}

func migrateNow(t *testing.T, uri string, args ...string) (stdout string) {
	t.Helper()
	command, out, said := migrateProcess(t, uri, args...)
	if err := command.Run(); err != nil {
		t.Fatalf("migrate %v: %v\n%s", args, err, said)
	}
	return out.String()
}

// refuseNow checks that a migration is refused, with an error that contains these words.
func refuseNow(t *testing.T, uri string, args []string, words ...string) {
	t.Helper()
	command, out, said := migrateProcess(t, uri, args...)
	if err := command.Run(); err == nil || out.Len() > 0 {
		t.Errorf("migrate %v is not refused, and says %q", args, out)
	}
	for _, word := range words {
		if !strings.Contains(said.String(), word) {
			t.Errorf("migrate %v does not say %q: %s", args, word, said)
		}
	}
}

// forum is a store with threads, and the expected content of these.
type forum struct {
	t      *testing.T
	store  *mongodb.Store
	author social.UserID
	posts  []social.PostID
	want   map[social.PostID][]*social.Comment // in the order of their ids
}

func newForum(t *testing.T, uri string, posts int) *forum {
	t.Helper()
	store, err := mongodb.Open(t.Context(), uri, plazatest.Patient(brisk))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	f := &forum{t: t, store: store, author: social.UserID{ID: id.New()}, want: map[social.PostID][]*social.Comment{}}
	for i := range posts {
		p := &social.Post{
			ID: social.PostID{ID: id.New()}, Author: f.author, WallOwner: f.author,
			Audience: social.Audience{Kind: social.AudiencePublic}, Content: social.Content{Status: &social.Status{Text: "hello"}},
		}
		f.ok(store.InsertPost(t.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}))
		f.posts = append(f.posts, p.ID)
		for range i % 4 {
			f.comment(p.ID)
		}
	}
	return f
}

func (f *forum) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *forum) comment(post social.PostID) {
	f.t.Helper()
	c := plazatest.NewComment(post, f.author)
	f.ok(f.store.InsertComment(f.t.Context(), c, plazatest.CommentAdded()))
	f.want[post] = append(f.want[post], c)
}

func (f *forum) thread(post social.PostID) []*social.Comment {
	f.t.Helper()
	return f.threads(post)[post]
}

// threads reads whole threads in one call.
func (f *forum) threads(posts ...social.PostID) map[social.PostID][]*social.Comment {
	f.t.Helper()
	var lists []social.List[social.Thread]
	for _, post := range posts {
		lists = append(lists, social.List[social.Thread]{Of: social.Thread{Post: post, Order: social.OrderOldest}, Page: social.Page{Limit: 100_000}})
	}
	read, err := f.store.Thread(f.t.Context(), lists)
	f.ok(err)
	found := map[social.PostID][]*social.Comment{}
	for list, comments := range read {
		found[list.Of.Post] = comments
	}
	return found
}

// check compares all threads with their expected content.
func (f *forum) check(when string) {
	f.t.Helper()
	i := 0
	for some := range slices.Chunk(f.posts, 100) {
		found := f.threads(some...)
		for _, post := range some {
			if diff := cmp.Diff(f.want[post], found[post]); diff != "" {
				f.t.Errorf("%s: the thread of post %d differs (-want +got):\n%s", when, i, diff)
			}
			i++
		}
	}
}

func (f *forum) state() mongodb.MigrationState { return f.stateOf(mongodb.MigrateComments) }

func (f *forum) stateOf(subject mongodb.Subject) mongodb.MigrationState {
	f.t.Helper()
	all, err := f.store.Migrations(f.t.Context())
	f.ok(err)
	return all[slices.IndexFunc(all, func(s mongodb.MigrationState) bool { return s.Subject == subject })]
}

// killIn starts a migration, runs meanwhile until the migration is in the middle of a phase, and
// kills it (SIGKILL).
func (f *forum) killIn(uri string, subject mongodb.Subject, phase string, meanwhile func(), args ...string) {
	f.t.Helper()
	command, _, said := migrateProcess(f.t, uri, append([]string{string(subject), "--rate=100"}, args...)...)
	f.ok(command.Start())
	in := func() bool {
		s := f.stateOf(subject)
		return s.Phase == phase && s.Done > 0 && s.Done < s.Total
	}
	if !testtime.Becomes(func() bool { meanwhile(); return in() }) {
		f.t.Fatalf("the migration has not reached %s: %+v\n%s", phase, f.stateOf(subject), said)
	}
	_ = command.Process.Kill()
	_ = command.Wait()
}

// settled checks that a migration has left nothing behind.
func settled(t *testing.T, uri, gone string) {
	t.Helper()
	db := mongotest.Connect(t, uri)
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil || slices.Contains(names, gone) {
		t.Errorf("%v: %s is still there, %v", names, gone, err)
	}
	marked, err := db.Collection("posts").CountDocuments(t.Context(), bson.D{{Key: "homes", Value: bson.D{{Key: "$exists", Value: true}}}})
	if err != nil || marked > 0 {
		t.Errorf("%d posts are still marked, %v", marked, err)
	}
}

// TestMigrationContinuesAfterItIsKilled kills "plaza migrate" in every phase, writes in between,
// and runs it again. It continues where it stopped, and everything is there at the end.
func TestMigrationContinuesAfterItIsKilled(t *testing.T) {
	t.Parallel()
	const posts = 400
	uri := plazatest.PatientURI(t)
	f := newForum(t, uri, posts)
	kill := func(phase string, args ...string) {
		t.Helper()
		f.killIn(uri, mongodb.MigrateComments, phase, func() { f.comment(f.posts[posts/2]) }, args...)
		f.comment(f.posts[1])
		f.comment(f.posts[posts-1])
		f.check("killed while " + phase)
	}
	kill("copying", "--to=pages")
	kill("copying", "--to=pages")
	kill("comparing", "--to=pages")
	comparing := f.state().Since
	if said := migrateNow(t, uri, "comments", "--to=pages"); !strings.Contains(said, `, and still stored in "documents" as well`) {
		t.Errorf("it says %s", said)
	}
	f.check("switched")
	if s := f.state(); !s.Since.After(comparing) {
		t.Errorf("switched since %v, and comparing since %v", s.Since, comparing)
	}
	kill("finishing", "--finish")
	migrateNow(t, uri, "comments", "--finish")
	f.check("finished")
	settled(t, uri, "comments")
	kill("copying", "--to=adaptive")
	kill("undoing", "--back-out")
	migrateNow(t, uri, "comments", "--back-out")
	f.check("backed out")
	settled(t, uri, "threads.adaptive")
	if s := f.state(); s.Layout != "pages" || s.From != "" {
		t.Errorf("at the end: %+v", s)
	}
}

// TestFeedMigrationContinuesAfterItIsKilled does the same with feeds. The process that migrates
// also does the background work.
func TestFeedMigrationContinuesAfterItIsKilled(t *testing.T) {
	t.Parallel()
	const people = 400
	uri := mongotest.Reused(t)
	f := newForum(t, uri, 1)
	users := make([]social.NewUser, people)
	for i := range users {
		user := social.UserID{ID: id.New()}
		users[i] = social.NewUser{
			User:      social.User{ID: user, Handle: user.ID.String(), WallPolicy: social.WallEveryone},
			Following: social.NewBuiltInCircle(user),
		}
	}
	_, err := f.store.ImportUsers(t.Context(), users)
	f.ok(err)
	author := users[0].User.ID
	var memberships []social.Membership
	var edges []social.EdgeID
	for _, u := range users[1:] {
		memberships = append(memberships, social.Membership{Circle: u.Following.ID, Owner: u.User.ID, Member: author})
		edges = append(edges, social.EdgeID{ID: id.New()})
	}
	_, err = f.store.ImportMemberships(t.Context(), memberships, edges)
	f.ok(err)
	var posts []social.PostID
	post := func() {
		p := &social.Post{
			ID: social.PostID{ID: id.New()}, Author: author, WallOwner: author,
			Audience: social.Audience{Kind: social.AudiencePublic}, Content: social.Content{Status: &social.Status{Text: "hello"}},
		}
		f.ok(f.store.InsertPost(t.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}))
		posts = append([]social.PostID{p.ID}, posts...)
	}
	check := func(when string) {
		t.Helper()
		for _, u := range users[:20] {
			news, err := f.store.News(t.Context(), u.User.ID, social.Page{Limit: 1000})
			f.ok(err)
			got := make([]social.PostID, len(news))
			for i, p := range news {
				got[i] = p.ID
			}
			if !slices.Equal(got, posts) {
				t.Fatalf("%s: %d posts in the news, want %d", when, len(got), len(posts))
			}
		}
	}
	post()
	for _, phase := range []string{"copying", "comparing"} {
		f.killIn(uri, mongodb.MigrateFeeds, phase, func() {}, "--to=hybrid")
		post()
		check("killed while " + phase)
	}
	migrateNow(t, uri, "feeds", "--to=hybrid") // does the work that remains to compare
	check("switched")
	if said := migrateNow(t, uri, "feeds", "--finish"); !strings.Contains(said, `feeds: read from "hybrid"`) {
		t.Errorf("it says %s", said)
	}
	check("finished")
	f.killIn(uri, mongodb.MigrateFeeds, "copying", func() {}, "--to=read")
	migrateNow(t, uri, "feeds", "--to=read", "--finish")
	check("back")
	lists, err := mongotest.Connect(t, uri).Collection("newsLists").CountDocuments(t.Context(), bson.D{})
	if err != nil || lists > 0 {
		t.Errorf("%d lists are left, %v", lists, err)
	}
}

func TestMigrationsThatAreRefused(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	f := newForum(t, uri, 40)
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"comments"}, []string{"--to LAYOUT"}},
		{[]string{"comments", "--to=scrolls"}, []string{`no layout "scrolls" of comments`, "adaptive"}},
		{[]string{"comments", "--to=documents"}, []string{`in the layout "documents" already`}},
		{[]string{"comments", "--finish"}, []string{"no migration of comments is under way"}},
		{[]string{"comments", "--back-out"}, []string{"no migration of comments is under way"}},
		{[]string{"comments", "--back-out", "--to=pages"}, []string{"--back-out"}},
		{[]string{"comments", "--to=pages", "--rate=-1"}, []string{"--rate"}},
	} {
		refuseNow(t, uri, c.args, c.words...)
	}
	migrateNow(t, uri, "comments", "--to=pages")
	refuseNow(t, uri, []string{"comments", "--to=embedded"}, `from "documents" to "pages" is under way`, "--back-out")
	for _, layout := range []string{"documents", "pages"} { // both are accepted during the migration
		f.ok(reopen(t, uri, mongodb.Options{Comments: layout}))
	}
	if err := reopen(t, uri, mongodb.Options{Comments: "adaptive"}); err == nil {
		t.Error("a third layout is accepted")
	}
	migrateNow(t, uri, "comments", "--finish")
	err := reopen(t, uri, mongodb.Options{Comments: "documents"})
	if refused, ok := errors.AsType[*mongodb.LayoutError](err); !ok || refused.Has != "pages" {
		t.Errorf("the old layout: %v", err)
	}
	slow, _, said := migrateProcess(t, uri, "comments", "--to=embedded", "--rate=5")
	f.ok(slow.Start())
	testtime.Eventually(t, "something is moved", func() bool { return f.state().Done > 0 })
	refuseNow(t, uri, []string{"comments", "--to=embedded"}, "another process")
	f.ok(slow.Process.Signal(os.Interrupt))
	_ = slow.Wait()
	if !strings.Contains(said.String(), "the same command resumes it") {
		t.Errorf("after Ctrl-C it says %s", said)
	}
	migrateNow(t, uri, "comments", "--back-out")
	f.check("at the end")
	embedded, _, said := plazatest.Command(t.Context(), t.TempDir(), "migrate", "comments", "--to=pages")
	if err := embedded.Run(); err == nil || !strings.Contains(said.String(), "one layout") {
		t.Errorf("SQLite: %v, %s", err, said)
	}
}

func reopen(t *testing.T, uri string, o mongodb.Options) error {
	t.Helper()
	store, err := mongodb.Open(t.Context(), uri, plazatest.Patient(o))
	if err == nil {
		err = store.Close()
	}
	return err
}

// envCommentOn makes this test program a process that comments on a post of the database.
const envCommentOn = "PLAZA_TEST_COMMENT_ON"

// TestCommentingProcess writes "wrote ID" for each comment that is stored, and "refused" for each
// that is not.
func TestCommentingProcess(t *testing.T) {
	uri, post, ok := strings.Cut(os.Getenv(envCommentOn), " ")
	if !ok {
		t.Skip("not a test: a process that other tests start")
	}
	on, err := id.ParseText(post)
	if err != nil {
		t.Fatal(err)
	}
	store, err := mongodb.Open(t.Context(), uri, plazatest.Patient(mongodb.Options{Heartbeat: 25 * time.Millisecond, Lease: briskLease()}))
	if err != nil {
		t.Fatal(err)
	}
	for {
		c := plazatest.NewComment(social.PostID{ID: on}, social.UserID{ID: id.New()})
		if err := store.InsertComment(t.Context(), c, plazatest.CommentAdded()); err != nil {
			fmt.Fprintln(os.Stdout, "refused", c.ID.ID)
		} else {
			fmt.Fprintln(os.Stdout, "wrote", c.ID.ID)
		}
	}
}

// TestServerSleepsThroughASwitch stops a server in the middle of its writes (SIGSTOP), migrates and
// finishes without it, and wakes it. The server has written nothing to the abandoned layout, and
// continues in the new one.
func TestServerSleepsThroughASwitch(t *testing.T) {
	t.Parallel()
	uri := plazatest.PatientURI(t)
	f := newForum(t, uri, 8)
	post := f.posts[0]
	sleeper := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCommentingProcess$")
	sleeper.Env = append(os.Environ(), envCommentOn+"="+uri+" "+post.ID.String())
	said, err := sleeper.StdoutPipe()
	f.ok(err)
	f.ok(sleeper.Start())
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	lines := bufio.NewScanner(said)
	wrote := map[string]bool{} // comments that are not refused may or may not be stored
	until := func(what string, n int) {
		for n > 0 && lines.Scan() {
			if word, comment, _ := strings.Cut(lines.Text(), " "); word == "wrote" {
				wrote[comment] = true
				n--
			} else if word == what {
				n--
			}
		}
	}
	for _, layout := range []string{"pages", "documents", "adaptive"} {
		until("", 20)
		f.ok(sleeper.Process.Signal(syscall.SIGSTOP))
		migrateNow(t, uri, "comments", "--to="+layout, "--finish")
		f.ok(sleeper.Process.Signal(syscall.SIGCONT))
	}
	until("", 20)
	_ = sleeper.Process.Kill()
	_ = sleeper.Wait()
	stored := map[string]bool{}
	for _, c := range f.thread(post) {
		stored[c.ID.ID.String()] = true
	}
	for comment := range wrote {
		if !stored[comment] {
			t.Errorf("comment %s is lost", comment)
		}
	}
	posts, err := f.store.Posts(t.Context(), []social.PostID{post})
	f.ok(err)
	if posts[post].CommentCount != len(stored) {
		t.Errorf("the count is %d comments, want %d", posts[post].CommentCount, len(stored))
	}
	settled(t, uri, "threads.pages")
}

// TestCursorsSurviveAMigration starts lists of comments in one layout and continues them in others,
// page by page, forwards and backwards.
func TestCursorsSurviveAMigration(t *testing.T) {
	t.Parallel()
	store, err := mongodb.Open(t.Context(), mongotest.Reused(t), plazatest.Patient(brisk))
	if err != nil {
		t.Fatal(err)
	}
	plaza := plazatest.Serve(t, store)
	ada := plaza.As(t, "ada")
	post := ada.Status(t, "What do you think?", plazatest.Public)
	var parent any
	for n := range 15 {
		in := map[string]any{"postId": post, "text": fmt.Sprint("comment ", n)}
		if n%3 > 0 {
			in["parentId"] = parent
		}
		var answer struct {
			AddComment struct{ Comment struct{ ID string } }
		}
		ada.Do(t, `mutation($in: AddCommentInput!) { addComment(input: $in) { comment { id } } }`, map[string]any{"in": in}, &answer)
		if n%3 == 0 {
			parent = answer.AddComment.Comment.ID
		}
	}
	page := func(variables map[string]any) (texts []string, start, end string) {
		var answer struct {
			Post struct {
				Comments struct {
					Nodes    []struct{ Text string }
					PageInfo struct{ StartCursor, EndCursor string }
				}
			}
		}
		variables["post"] = post
		ada.Do(t, `query($post: ID!, $order: CommentOrder!, $first: Int, $after: String, $last: Int, $before: String) { post(id: $post) {
			comments(order: $order, first: $first, after: $after, last: $last, before: $before) {
				nodes { text } pageInfo { startCursor endCursor } } } }`, variables, &answer)
		for _, n := range answer.Post.Comments.Nodes {
			texts = append(texts, n.Text)
		}
		return texts, answer.Post.Comments.PageInfo.StartCursor, answer.Post.Comments.PageInfo.EndCursor
	}
	layouts := []string{"pages", "embedded", "adaptive", "documents"}
	moved := 0
	move := func() {
		m := mongodb.Migration{Subject: mongodb.MigrateComments, To: layouts[moved%len(layouts)], Goal: mongodb.GoalFinish}
		if err := store.Migrate(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		moved++
	}
	for _, order := range []string{"OLDEST", "NEWEST", "THREADED"} {
		want, first, last := page(map[string]any{"order": order, "first": 100})
		var forwards, backwards []string
		for after := any(nil); len(forwards) < len(want); {
			texts, _, end := page(map[string]any{"order": order, "first": 4, "after": after})
			forwards, after = append(forwards, texts...), end
			move()
		}
		for before := any(nil); len(backwards) < len(want); {
			texts, start, _ := page(map[string]any{"order": order, "last": 4, "before": before})
			backwards, before = append(texts, backwards...), start
			move()
		}
		if !slices.Equal(forwards, want) || !slices.Equal(backwards, want) {
			t.Errorf("%s: %q forwards, %q backwards, want %q", order, forwards, backwards, want)
		}
		if _, firstNow, lastNow := page(map[string]any{"order": order, "first": 100}); firstNow != first || lastNow != last {
			t.Errorf("%s: the cursors have changed", order)
		}
	}
}
