package crash

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/internal/app"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// envWorkOn makes this test binary a Plaza server on the database that it names, and envAdsAhead
// sets its clock for ads ahead.
const (
	envWorkOn   = "PLAZA_TEST_SERVE_ON"
	envAdsAhead = "PLAZA_TEST_ADS_AHEAD"
)

// TestServerProcess is the server that other tests start as a process, and kill.
func TestServerProcess(t *testing.T) {
	uri := os.Getenv(envWorkOn)
	if uri == "" {
		t.Skip("not a test: a server that other tests start")
	}
	config := app.Config{Addr: "127.0.0.1:0"}
	if ahead, err := time.ParseDuration(os.Getenv(envAdsAhead)); err == nil {
		config.Ads.Now = func() time.Time { return time.Now().Add(ahead) }
	}
	open := func(ctx context.Context) (storage.Store, error) {
		return mongodb.Open(ctx, uri, mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1_000_000, Logger: slog.Default()})
	}
	if err := app.Run(t.Context(), open, config); err != nil {
		t.Fatal(err)
	}
}

// startProcess starts a server on the database, and returns a function that kills it.
func startProcess(t *testing.T, uri string) (kill func()) {
	t.Helper()
	server := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServerProcess$")
	server.Env = append(os.Environ(), envWorkOn+"="+uri)
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		if !killed {
			killed = true
			_ = server.Process.Kill() // SIGKILL
			_ = server.Wait()
		}
		if t.Failed() {
			t.Logf("the server said:\n%s", said.Bytes())
		}
	}
	t.Cleanup(kill)
	return kill
}

// crowd is an author with very many followers, who all have feed lists, as after a visit.
type crowd struct {
	t      *testing.T
	store  storage.Store
	db     *mongo.Database
	lists  *mongo.Collection
	author social.NewUser
}

func newCrowd(t *testing.T, uri string, size int) *crowd {
	t.Helper()
	c := &crowd{t: t, store: plazatest.OpenMongoDB(t, uri, mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1_000_000})}
	c.db = mongotest.Connect(t, uri)
	c.lists = c.db.Collection("newsLists")
	author := social.UserID{ID: id.New()}
	c.author = social.NewUser{
		User:      social.User{ID: author, Handle: "author", WallPolicy: social.WallEveryone},
		Following: social.NewBuiltInCircle(author),
	}
	if _, err := c.store.ImportUsers(t.Context(), []social.NewUser{c.author}); err != nil {
		t.Fatal(err)
	}
	c.follow(size)
	return c
}

// follow adds this many followers with empty lists. It inserts the documents directly, in bulk, in
// the form in which the store writes them.
func (c *crowd) follow(size int) {
	c.t.Helper()
	const batch = 10_000
	author := c.author.User.ID.ID
	for left := size; left > 0; left -= batch {
		edges, lists := make([]any, min(left, batch)), make([]any, min(left, batch))
		for i := range edges {
			follower := id.New()
			edges[i] = bson.D{
				{Key: "_id", Value: bson.Binary{Data: append(follower.Bytes(), author.Bytes()...)}},
				{Key: "v", Value: 1},
				{Key: "owner", Value: uuid(follower)},
				{Key: "other", Value: uuid(author)},
				{Key: "follow", Value: uuid(id.New())},
				{Key: "circles", Value: bson.A{uuid(id.New())}},
			}
			lists[i] = bson.D{
				{Key: "_id", Value: uuid(follower)},
				{Key: "v", Value: 1},
				{Key: "ids", Value: bson.A{}},
				{Key: "merged", Value: bson.A{}},
				{Key: "pushed", Value: 0},
				{Key: "ready", Value: true},
				{Key: "usedAt", Value: time.Now()},
			}
		}
		c.insert(c.db.Collection("edges"), edges)
		c.insert(c.lists, lists)
	}
	counted := bson.D{{Key: "$set", Value: bson.D{{Key: "followers", Value: size}}}}
	if _, err := c.db.Collection("users").UpdateByID(c.t.Context(), uuid(author), counted); err != nil {
		c.t.Fatal(err)
	}
}

func (c *crowd) insert(into *mongo.Collection, docs []any) {
	c.t.Helper()
	if _, err := into.InsertMany(c.t.Context(), docs, options.InsertMany().SetOrdered(false)); err != nil {
		c.t.Fatal(err)
	}
}

func uuid(of id.ID) bson.Binary { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: of.Bytes()} }

func (c *crowd) post() social.PostID {
	c.t.Helper()
	p := &social.Post{
		ID: social.PostID{ID: id.New()}, Author: c.author.User.ID, WallOwner: c.author.User.ID,
		Audience: social.Audience{Kind: social.AudiencePublic}, Content: social.Content{Status: &social.Status{Text: "hello"}},
	}
	if err := c.store.InsertPost(c.t.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}); err != nil {
		c.t.Fatal(err)
	}
	return p.ID
}

// count counts the lists that match.
func (c *crowd) count(filter bson.D) int {
	c.t.Helper()
	n, err := c.lists.CountDocuments(c.t.Context(), filter)
	if err != nil {
		c.t.Fatal(err)
	}
	return int(n)
}

// has matches lists that contain the post.
func has(post social.PostID) bson.D {
	return bson.D{{Key: "ids", Value: uuid(post.ID)}}
}

// until waits for a condition.
func (c *crowd) until(what string, condition func() bool) {
	c.t.Helper()
	if !testtime.Becomes(condition) {
		backlog, err := c.store.Backlog(c.t.Context())
		c.t.Fatalf("timed out waiting for %s: %+v, %v", what, backlog, err)
	}
}

// TestFanOutContinuesAfterAKill kills a server process while it adds a post to the feeds of an
// author's followers, and starts another. Every list gets the post exactly once.
func TestFanOutContinuesAfterAKill(t *testing.T) {
	t.Parallel()
	const followers = 30_000 // the fan-out has 60 jobs
	uri := mongotest.Reused(t)
	c := newCrowd(t, uri, followers)
	var posts []social.PostID
	for inTheMiddle := false; !inTheMiddle; {
		if len(posts) == 10 {
			t.Fatal("ten fan-outs were over before the server was killed")
		}
		post := c.post() // this process does no work
		posts = append(posts, post)
		kill := startProcess(t, uri)
		c.until("a quarter of the fan-out", func() bool { return c.count(has(post)) > followers/4 })
		kill()
		reached := c.count(has(post))
		inTheMiddle = reached < followers
		t.Logf("killed after %d of %d lists", reached, followers)
	}
	startProcess(t, uri)
	started := time.Now()
	c.until("the end of the work", func() bool {
		backlog, err := c.store.Backlog(t.Context())
		return err == nil && backlog.Waiting == 0
	})
	t.Logf("complete %v after the restart", time.Since(started))
	for i, post := range posts {
		if n := c.count(has(post)); n != followers {
			t.Errorf("post %d is in %d lists, want %d", i, n, followers)
		}
	}
	tooLong := bson.D{{Key: "ids", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$size", Value: len(posts)}}}}}, {Key: "ready", Value: true}}
	if n := c.count(tooLong); n != 0 {
		t.Errorf("%d lists have more or fewer than the %d posts", n, len(posts))
	}
}

// TestAccountDeletionContinuesAfterAKill kills a server process while it removes the data of a
// deleted user, and starts another. Nothing is left.
func TestAccountDeletionContinuesAfterAKill(t *testing.T) {
	t.Parallel()
	const followers = 8_000 // removed in 16 transactions or more
	uri := plazatest.PatientURI(t)
	c := newCrowd(t, uri, followers)
	c.post()
	author := c.author.User.ID
	e := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventUserDeleted, Target: author}
	if err := c.store.DeleteUser(t.Context(), author, e); err != nil { // this process does no work
		t.Fatal(err)
	}
	follows := func() int {
		n, err := c.db.Collection("edges").CountDocuments(t.Context(), bson.D{
			{Key: "other", Value: uuid(author.ID)}, {Key: "follow", Value: bson.D{{Key: "$exists", Value: true}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return int(n)
	}
	kill := startProcess(t, uri)
	c.until("a tenth of the deletion", func() bool { return follows() < followers*9/10 })
	kill()
	left := follows()
	if t.Logf("killed with %d of %d follows left", left, followers); left == 0 {
		t.Fatal("all follows were removed before the server was killed")
	}
	startProcess(t, uri)
	c.until("the end of the deletion", func() bool {
		deleting, err := c.store.IsDeleting(t.Context(), author)
		return err == nil && !deleting
	})
	posts, err := c.db.Collection("posts").CountDocuments(t.Context(), bson.D{{Key: "author", Value: uuid(author.ID)}})
	if follows() != 0 || posts != 0 || err != nil {
		t.Errorf("%d follows and %d posts are left, %v", follows(), posts, err)
	}
}
