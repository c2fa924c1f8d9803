package main

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/ads"
	"plaza/internal/testtime"
	"plaza/loaders"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/sqlite"
	"plaza/web"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Tests{M: m}.Run()) }

// engine opens a fresh store.
type engine struct {
	name string
	open func(t testing.TB) storage.Store
}

var engines = []engine{
	{"sqlite", func(t testing.TB) storage.Store {
		st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "plaza.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		return st
	}},
	{"mongodb", func(t testing.TB) storage.Store {
		return openMongoDB(t, pooledURI(t, ""), mongodb.Options{Monitor: watchRouting(t)})
	}},
	{"mongodb hybrid", func(t testing.TB) storage.Store {
		return openMongoDB(t, pooledURI(t, "hybrid"), mongodb.Options{
			Feeds: mongodb.FeedsHybrid, MergeAbove: 3, Graph: mongodb.GraphTwo, Comments: mongodb.CommentsAdaptive, Monitor: watchRouting(t),
		})
	}},
}

// watchRouting holds every command of a test to the shard keys of the collections.
func watchRouting(t testing.TB) *event.CommandMonitor {
	return mongotest.WatchRouting(t, mongodb.ShardKeys()).Monitor(nil)
}

func init() { //nolint:gochecknoinits // only in tests
	if _, all := os.LookupEnv("PLAZA_ALL_LAYOUTS"); !all {
		return
	}
	for _, layout := range []string{mongodb.FeedsBucket, mongodb.FeedsMonth} {
		engines = append(engines, engine{"mongodb " + layout, func(t testing.TB) storage.Store {
			return openMongoDB(t, pooledURI(t, layout), mongodb.Options{Feeds: layout})
		}})
	}
}

// mongoURI names a fresh database.
func mongoURI(t testing.TB) string { return withDatabase(t, mongotest.Database) }

// pooledURI names an empty database, which may have the collections of earlier tests with the same layouts.
func pooledURI(t testing.TB, layouts string) string {
	return withDatabase(t, func(t testing.TB) (uri, name string) { return mongotest.Reused(t, layouts) })
}

func withDatabase(t testing.TB, database func(testing.TB) (uri, name string)) string {
	uri, name := database(t)
	at, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

// cheap makes signing up quick: what the passwords of tests guard is worth nothing.
var cheap = social.Options{Passwords: social.PasswordCost{Passes: 1, Memory: 64}}

// patient gives a store all the time that this machine may need.
func patient(o mongodb.Options) mongodb.Options {
	o.Timeout = cmp.Or(o.Timeout, testtime.Patience())
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, testtime.Patience())
	o.Lease = cmp.Or(o.Lease, testtime.Patience())
	return o
}

// openMongoDB opens a store that is closed at the test's end, if it was not before: its heartbeat would miss the database.
func openMongoDB(t testing.TB, uri string, o mongodb.Options) storage.Store {
	t.Helper()
	st, err := mongodb.Open(t.Context(), uri, patient(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

func forEachEngine(t *testing.T, run func(t *testing.T, e engine)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { run(t, e) })
	}
}

// forEachDatabase is forEachEngine for what the layouts of MongoDB hardly touch; PLAZA_ALL_LAYOUTS has them nevertheless.
func forEachDatabase(t *testing.T, run func(t *testing.T, e engine)) {
	t.Helper()
	for i, e := range engines {
		if _, all := os.LookupEnv("PLAZA_ALL_LAYOUTS"); i < 2 || all {
			t.Run(e.name, func(t *testing.T) { run(t, e) })
		}
	}
}

// plaza is a whole server under test.
type plaza struct {
	url    string
	store  storage.Store
	server *server

	mu     sync.Mutex
	people map[string]person
}

// startPlaza serves a fresh store over HTTP until the test ends.
func startPlaza(t testing.TB, e engine) *plaza { return servePlaza(t, e.open(t)) }

// newsZone is where news of servers under test has its ads from.
var newsZone = ads.ZoneID{Site: "example.org", Name: "news"}

// servePlaza serves a store; several servers may share one.
func servePlaza(t testing.TB, st storage.Store) *plaza { return serveAs(t, st, testConfig()) }

// servePlazaWith serves a store, with ads of those options.
func servePlazaWith(t testing.TB, st storage.Store, o ads.Options) *plaza {
	t.Helper()
	config := testConfig()
	config.Ads = o
	return serveAs(t, st, config)
}

// serveCounted serves a store whose commands are counted: look-ups wait for those that a busy processor delays, or they would
// fall into more batches.
func serveCounted(t testing.TB, st storage.Store) *plaza {
	t.Helper()
	config := testConfig()
	config.LoaderWait = testtime.Scale(3 * loaders.DefaultWait)
	return serveAs(t, st, config)
}

// testConfig lets news carry ads of newsZone, one behind every second public post, and has ads counted before a request is answered.
func testConfig() *serveCommand {
	return &serveCommand{PublicURL: "http://plaza.test", AllowedOrigins: []string{"*"}, NewsAds: zoneFlag(newsZone), NewsAdsEvery: 2, Social: cheap, Ads: ads.Options{Go: func(do func()) { do() }}}
}

func serveAs(t testing.TB, st storage.Store, config *serveCommand) *plaza {
	t.Helper()
	listener := httptest.NewUnstartedServer(nil)
	s := newServer(st, config, web.Config{})
	ctx, stop := context.WithCancel(context.Background())
	done, err := s.hub.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	worked := inBackground(ctx, st.Work)
	listener.Config.Handler = afterWork(st, s.handler)
	listener.Start()
	t.Cleanup(func() {
		if err := s.graphql.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		listener.Close()
		stop()
		<-done
		<-worked
		s.drainAds()
		if err := st.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &plaza{url: listener.URL, store: st, server: s, people: map[string]person{}}
}

// afterWork lets requests wait until the background work is done, so that each sees what those before it have written.
func afterWork(st social.Worker, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		look := time.NewTicker(time.Millisecond) // the work needs the processor, too
		defer look.Stop()
		for {
			backlog, err := st.Backlog(r.Context())
			if err != nil || backlog.Waiting == 0 {
				break
			}
			<-look.C
		}
		next.ServeHTTP(w, r)
	})
}

// as is somebody with that handle, who signs up at the first call; "anyone" is nobody.
func (p *plaza) as(t testing.TB, handle string) person {
	t.Helper()
	if handle == "anyone" {
		return person{url: p.url}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.people[handle]; ok {
		return known
	}
	var answer struct {
		SignUp struct {
			Token      string
			UserErrors []struct{ Message string }
		}
	}
	person{url: p.url}.do(t, `mutation($in: SignUpInput!) { signUp(input: $in) { token userErrors { message } } }`,
		map[string]any{"in": map[string]any{"handle": handle, "name": handle, "password": "password of " + handle}}, &answer)
	if answer.SignUp.Token == "" {
		t.Fatalf("%s cannot sign up: %v", handle, answer.SignUp.UserErrors)
	}
	p.people[handle] = person{url: p.url, token: answer.SignUp.Token}
	return p.people[handle]
}
