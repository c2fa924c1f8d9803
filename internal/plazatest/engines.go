package plazatest

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/internal/app"
	"plaza/internal/testtime"
	"plaza/issuer"
	"plaza/loaders"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/social/passwords"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/sqlite"
	"plaza/storage/sqlite/sqlitetest"
)

// Engine opens fresh stores of an engine with certain layouts.
type Engine struct {
	Name string
	Open func(t testing.TB) storage.Store
}

// Engines are the engines and layouts that black-box tests run on. SQLite is the first.
var Engines = []Engine{
	{"sqlite", func(t testing.TB) storage.Store {
		st, err := sqlite.OpenWith(t.Context(), sqlitetest.NewFile(t), sqlite.Options{Logger: slog.New(warnings{})})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}},
	{"mongodb", func(t testing.TB) storage.Store {
		return OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: watchRouting(t), Unjournaled: true})
	}},
	{"mongodb hybrid", func(t testing.TB) storage.Store {
		return OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{
			Feeds: mongodb.FeedsHybrid, MergeAbove: 3, Graph: mongodb.GraphTwo, Comments: mongodb.CommentsAdaptive, Monitor: watchRouting(t), Unjournaled: true,
		})
	}},
}

// watchRouting checks all commands of a test for the shard keys of their collections.
func watchRouting(t testing.TB) *event.CommandMonitor {
	return mongotest.WatchRouting(t, mongodb.ShardKeys()).Monitor(nil)
}

func init() { //nolint:gochecknoinits // only in tests
	if _, all := os.LookupEnv("PLAZA_ALL_LAYOUTS"); !all {
		return
	}
	for _, layout := range []string{mongodb.FeedsBucket, mongodb.FeedsMonth} {
		Engines = append(Engines, Engine{Name: "mongodb " + layout, Open: func(t testing.TB) storage.Store {
			return OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Feeds: layout})
		}})
	}
}

// Cheap makes signing up fast: the passwords of tests protect nothing.
var Cheap = network.Options{Accounts: accounts.Options{Passwords: passwords.Cost{Passes: 1, Memory: 64}}}

// ForEachEngine runs a test on every engine, in parallel subtests: they begin when the calling test
// function returns.
func ForEachEngine(t *testing.T, run func(t *testing.T, e Engine)) {
	t.Helper()
	for _, e := range Engines {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			run(t, e)
		})
	}
}

// IsDefault reports whether an engine is SQLite, or MongoDB with the default layouts.
func (e Engine) IsDefault() bool { return e.Name == Engines[0].Name || e.Name == Engines[1].Name }

// ForEachDatabase does the same as ForEachEngine for tests that hardly depend on MongoDB's layouts.
// With PLAZA_ALL_LAYOUTS it runs on all of them.
func ForEachDatabase(t *testing.T, run func(t *testing.T, e Engine)) {
	t.Helper()
	for _, e := range Engines {
		if _, all := os.LookupEnv("PLAZA_ALL_LAYOUTS"); e.IsDefault() || all {
			t.Run(e.Name, func(t *testing.T) {
				t.Parallel()
				run(t, e)
			})
		}
	}
}

// Plaza is a whole server under test.
type Plaza struct {
	URL    string
	Store  storage.Store
	Server *app.Server

	mu     sync.Mutex
	People map[string]Person

	notifying sync.Once

	inviting bool // those who sign up need an invitation
}

// Start serves a fresh store over HTTP until the test ends.
func Start(t testing.TB, e Engine) *Plaza { return Serve(t, e.Open(t)) }

// NewsZone is the zone of the ads in the news of servers under test.
var NewsZone = ads.ZoneID{Site: "example.org", Name: "news"}

// Serve serves a store; several servers may share one.
func Serve(t testing.TB, st storage.Store) *Plaza { return serveAs(t, st, testConfig()) }

// ServeWithAds serves a store, with these options for ads.
func ServeWithAds(t testing.TB, st storage.Store, o adserver.Options) *Plaza {
	t.Helper()
	config := testConfig()
	config.Ads = o
	return serveAs(t, st, config)
}

// ServeLimited serves a store with rate limits, behind a proxy on this machine: see Person.At.
func ServeLimited(t testing.TB, st storage.Store) *Plaza {
	t.Helper()
	config := testConfig()
	config.RateLimits = true
	config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	return serveAs(t, st, config)
}

// ServeAt serves a store at a public URL, for pages of the given origins and its own.
func ServeAt(t testing.TB, st storage.Store, publicURL string, origins ...string) *Plaza {
	t.Helper()
	config := testConfig()
	config.PublicURL, config.AllowedOrigins = publicURL, origins
	return serveAs(t, st, config)
}

// ServeTrusting serves a store for people whose tokens another site issues, by a clock of its own.
// Registration is closed.
func ServeTrusting(t testing.TB, st storage.Store, o issuer.Options, now func() time.Time) *Plaza {
	t.Helper()
	config := testConfig()
	config.Issuer, config.Social.Now, config.Social.Accounts.Registration = &o, now, accounts.RegistrationClosed
	return serveAs(t, st, config)
}

// ServeProviders serves a store for people who sign in with OpenID providers, by a clock of its own.
func ServeProviders(t testing.TB, st storage.Store, now func() time.Time, registration accounts.Registration, providers ...issuer.Provider) *Plaza {
	t.Helper()
	config := testConfig()
	config.Providers, config.Social.Now, config.Social.Accounts.Registration = providers, now, registration
	return serveAs(t, st, config)
}

// ServeInviting serves a store where registration is by invitation, by a clock of its own.
func ServeInviting(t testing.TB, st storage.Store, memberInvitations int, now func() time.Time) *Plaza {
	t.Helper()
	config := testConfig()
	config.Social.Accounts.Registration, config.Social.Accounts.MemberInvitations = accounts.RegistrationByInvitation, memberInvitations
	config.Social.Now = now
	p := serveAs(t, st, config)
	p.inviting = true
	return p
}

// ServeReviewed serves a store with a program that decides what is published.
func ServeReviewed(t testing.TB, st storage.Store, hook app.PublishHook) *Plaza {
	t.Helper()
	config := testConfig()
	config.PublishHook = &hook
	return serveAs(t, st, config)
}

// ServeMailing serves a store, with rate limits if limited, by a clock of its own. Its mails are
// sent when the test calls Server.SendMails.
func ServeMailing(t testing.TB, st storage.Store, mails accounts.Mails, now func() time.Time, limited bool) *Plaza {
	t.Helper()
	config := testConfig()
	config.Social.Accounts.Mails, config.Social.Now, config.RateLimits = mails, now, limited
	return serveAs(t, st, config)
}

// ServeUncached serves a store from which all people are read each time.
func ServeUncached(t testing.TB, st storage.Store) *Plaza {
	t.Helper()
	config := testConfig()
	config.Social.CacheSize = 0
	return serveAs(t, st, config)
}

// ServeCounted serves a store whose commands are counted. Its loaders wait longer for their
// batches: on a busy processor, look-ups would otherwise fall into more batches.
func ServeCounted(t testing.TB, st storage.Store) *Plaza {
	t.Helper()
	config := testConfig()
	config.LoaderWait = testtime.Scale(3 * loaders.DefaultWait)
	return serveAs(t, st, config)
}

// Provider is the OpenID provider of servers under test, which does not exist; see ServeProviders.
var Provider = issuer.Provider{Issuer: "https://id.example", ClientID: "plaza-web"}

// testConfig puts ads of NewsZone into news, one after every second public post, and counts ads
// before a request is answered.
func testConfig() app.Config {
	service := Cheap
	service.CacheSize = 1 << 20
	return app.Config{Providers: []issuer.Provider{Provider}, PublicURL: "http://plaza.test", AllowedOrigins: []string{"*"}, NewsAds: app.NewsAds{Zone: NewsZone, Every: 2}, Social: service, Ads: adserver.Options{Go: func(do func()) { do() }}}
}

func serveAs(t testing.TB, st storage.Store, config app.Config) *Plaza {
	t.Helper()
	listener := httptest.NewUnstartedServer(nil)
	s := app.New(st, config)
	ctx, stop := context.WithCancel(context.Background())
	done, err := s.Hub.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	worked := make(chan struct{})
	go func() { defer close(worked); st.Work(ctx) }()
	listener.Config.Handler = afterWork(st, s.Handler)
	listener.Start()
	t.Cleanup(func() {
		if err := s.GraphQL.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		listener.Close()
		stop()
		<-done
		<-worked
		s.DrainAds()
		if err := st.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &Plaza{URL: listener.URL, Store: st, Server: s, People: map[string]Person{}}
}

// As returns the user with that handle, who signs up at the first call; "anyone" means signed out.
func (p *Plaza) As(t testing.TB, handle string) Person {
	t.Helper()
	if handle == "anyone" {
		return Person{URL: p.URL}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.People[handle]; ok {
		return known
	}
	var answer struct {
		SignUp struct {
			Token      string
			UserErrors []struct{ Message string }
		}
	}
	in := map[string]any{"handle": handle, "name": handle, "password": "password of " + handle}
	if p.inviting {
		in["invitation"] = p.Invite(t, 1)
	}
	Person{URL: p.URL}.Do(t, `mutation($in: SignUpInput!) { signUp(input: $in) { token userErrors { message } } }`, map[string]any{"in": in}, &answer)
	if answer.SignUp.Token == "" {
		t.Fatalf("%s cannot sign up: %v", handle, answer.SignUp.UserErrors)
	}
	p.People[handle] = Person{URL: p.URL, Token: answer.SignUp.Token}
	return p.People[handle]
}

// Invite returns the code of a new invitation by an operator for a number of accounts.
func (p *Plaza) Invite(t testing.TB, uses int) string {
	t.Helper()
	_, code, err := network.New(p.Store, network.Options{}).InviteAsOperator(t.Context(), uses, 7)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// Grant grants a right to an actor; the step is "GRANT: right actor".
func Grant(t *testing.T, p *Plaza, step string) {
	t.Helper()
	words := strings.Fields(step)
	right, err := social.ParseRight(words[1])
	if err != nil {
		t.Fatal(err)
	}
	p.As(t, words[2])
	if _, err := network.New(p.Store, network.Options{}).GrantRight(t.Context(), words[2], right); err != nil {
		t.Fatal(err)
	}
}
