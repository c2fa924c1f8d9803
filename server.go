// Command plaza is a headless social network: a GraphQL API over MongoDB or an embedded SQLite file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	_ "time/tzdata" // campaigns have time zones, and machines may have none

	"github.com/99designs/gqlgen/graphql"
	"github.com/alecthomas/kong"
	"github.com/klauspost/compress/gzhttp"
	"github.com/lmittmann/tint"
	"github.com/rs/cors"
	"golang.org/x/term"

	"plaza/ads"
	"plaza/demo"
	"plaza/fault"
	"plaza/live"
	"plaza/metrics"
	"plaza/resolvers"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/sqlite"
	"plaza/transport"
	"plaza/web"
)

// commandLine is all of plaza's commands, flags and environment variables.
type commandLine struct {
	Data       string           `help:"Folder of the embedded database; made where it is missing." env:"PLAZA_DATA" default:"plaza-data" type:"path" placeholder:"DIR"`
	MongodbURI uriFlag          `help:"Store in MongoDB (a replica set) instead of the embedded database: mongodb://host/database." env:"PLAZA_MONGODB_URI" name:"mongodb-uri" placeholder:"URI"`
	Comments   string           `help:"How MongoDB keeps comment threads: documents, embedded, pages or adaptive. Recorded in the database by the first server; default: what the database has, documents in a new one." env:"PLAZA_COMMENTS" placeholder:"LAYOUT"`
	Feeds      string           `help:"How MongoDB keeps news feeds and walls: read, hybrid, bucket or month. Recorded in the database by the first server; default: what the database has, read in a new one." env:"PLAZA_FEEDS" placeholder:"LAYOUT"`
	Graph      string           `help:"How MongoDB keeps followers: reverse or two (for sharded clusters). Recorded in the database by the first server; default: what the database has, reverse in a new one." env:"PLAZA_GRAPH" placeholder:"LAYOUT"`
	MergeAbove int              `help:"With --feeds=hybrid: number of followers above which an author's posts are merged in when somebody reads." env:"PLAZA_FEEDS_MERGE_ABOVE" name:"feeds-merge-above" default:"10000" placeholder:"N"`
	Version    kong.VersionFlag `help:"Print the version, the commit and the version of Go, and exit."`
	LogLevel   string           `help:"Least level that is logged: debug, info, warn or error." env:"PLAZA_LOG_LEVEL" default:"info" enum:"debug,info,warn,error"`

	Heartbeat       time.Duration `help:"How often a server on MongoDB says that it lives." env:"PLAZA_HEARTBEAT" hidden:""`
	Lease           time.Duration `help:"How long a server on MongoDB goes on without having been heard." env:"PLAZA_LEASE" hidden:""`
	TransactionLife time.Duration `help:"MongoDB's transactionLifetimeLimitSeconds." env:"PLAZA_TRANSACTION_LIFE" hidden:""`

	Serve   serveCommand   `cmd:"" default:"withargs" help:"Serve the API, GraphiQL and live updates (the default command)."`
	Import  importCommand  `cmd:"" help:"Load people and circles from files."`
	Export  exportCommand  `cmd:"" help:"Write what somebody has stored to the standard output."`
	Work    workCommand    `cmd:"" help:"Look at the database's background work."`
	Grant   grantCommand   `cmd:"" help:"Give a user a right."`
	Revoke  revokeCommand  `cmd:"" help:"Take a right from a user."`
	Rights  rightsCommand  `cmd:"" help:"Say who has rights."`
	Delete  deleteCommand  `cmd:"" help:"Delete a user."`
	Shard   shardCommand   `cmd:"" help:"Spread a MongoDB database over the shards of a cluster."`
	Bench   benchCommand   `cmd:"" help:"Compare what layouts and designs cost."`
	Migrate migrateCommand `cmd:"" help:"Move a MongoDB database to another layout, or its documents to the newest version, while servers run."`
	Ads     adsCommand     `cmd:"" help:"Load ads from a file, and add up their reports anew."`

	Outdated func(error) `kong:"-"` // is told that the database was upgraded beyond this Plaza; see mongodb.Options
}

const description = `Plaza is a headless social network: a GraphQL API over MongoDB or an embedded SQLite file.

Try it:  plaza --demo   and open http://127.0.0.1:8080 in a browser. A server's flags: plaza serve --help

Every flag can be given as the environment variable that stands behind it.`

//go:generate go tool gqlgen generate
//go:generate go run ./internal/cmd/boundanswers graph/generated/root_.generated.go
//go:generate go run ./internal/cmd/schemadoc graph/schema docs

func main() { os.Exit(run()) }

func run() (exitCode int) {
	var cli commandLine
	command, err := kong.Must(&cli, kong.Name("plaza"), kong.Description(description), kong.Vars{"version": build()}).Parse(os.Args[1:])
	if mistake, ok := errors.AsType[*kong.ParseError](err); ok {
		fmt.Fprintf(os.Stderr, "plaza: %v\n%s --help says how it is used.\n", mistake, mistaken(mistake))
		return mistake.ExitCode()
	}
	slog.SetDefault(newLogger(cli.LogLevel))
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	if err := checkEnvironment(command.Model, os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, "plaza:", err)
		return 1
	}
	if err := command.Run(&cli); err != nil {
		fmt.Fprintln(os.Stderr, "plaza:", err)
		return 1
	}
	return 0
}

// endSignals ask a process to end. A hangup is left alone where it is ignored already, as nohup asks for.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// mistaken is the command that a mistake was made with, as far as it was understood; the default one must have been named.
func mistaken(mistake *kong.ParseError) string {
	if command := mistake.Context.Selected(); command != nil && slices.Contains(os.Args, command.Name) {
		return command.FullPath()
	}
	return "plaza"
}

func newLogger(level string) *slog.Logger {
	var least slog.Level
	_ = least.UnmarshalText([]byte(level)) // the command line's enum has checked it
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{Level: least, TimeFormat: time.TimeOnly}))
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: least}))
}

// makeStore opens the database that the configuration names, and makes it where it is missing.
func (c *commandLine) makeStore(ctx context.Context) (storage.Store, error) {
	o := c.mongodbOptions()
	o.Logger, o.Outdated = slog.Default(), c.Outdated
	return c.openWith(ctx, o, sqlite.Open)
}

// openStore opens the database that the configuration names, for a command that needs what is in it: it makes none.
func (c *commandLine) openStore(ctx context.Context) (storage.Store, error) {
	st, err := c.openWith(ctx, c.existingMongoDB(), sqlite.OpenExisting)
	if c.MongodbURI == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no Plaza database in %s: name its folder with --data or PLAZA_DATA", c.Data)
	}
	return st, err
}

// openWith opens the engine that the configuration names. Layouts that there are not are refused, also where the embedded database would not have them anyway.
func (c *commandLine) openWith(ctx context.Context, o mongodb.Options, embedded func(context.Context, string) (*sqlite.Store, error)) (storage.Store, error) {
	o.Comments, o.Feeds, o.Graph = c.Comments, c.Feeds, c.Graph
	if err := o.CheckLayouts(); err != nil {
		return nil, err
	}
	if c.MongodbURI != "" {
		return mongodb.Open(ctx, string(c.MongodbURI), o)
	}
	return embedded(ctx, filepath.Join(c.Data, "plaza.sqlite"))
}

// openMongoDB opens the database of a command that only MongoDB has, whatever its layouts are; embedded says why the embedded
// database has not.
func (c *commandLine) openMongoDB(ctx context.Context, embedded string, o mongodb.Options) (*mongodb.Store, error) {
	if c.MongodbURI == "" {
		return nil, fmt.Errorf("the embedded database %s (name a MongoDB database with --mongodb-uri or PLAZA_MONGODB_URI)", embedded)
	}
	return mongodb.Open(ctx, string(c.MongodbURI), o)
}

// mongodbOptions are all but the layouts, which the database knows.
func (c *commandLine) mongodbOptions() mongodb.Options {
	return mongodb.Options{
		MergeAbove: c.MergeAbove, Heartbeat: c.Heartbeat, Lease: c.Lease, TransactionLife: c.TransactionLife,
	}
}

// existingMongoDB are mongodbOptions of a database that must be there.
func (c *commandLine) existingMongoDB() mongodb.Options {
	o := c.mongodbOptions()
	o.MustExist = true
	return o
}

type serveCommand struct {
	Addr           string        `help:"Address to listen on." env:"PLAZA_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	PublicURL      string        `help:"Where clients reach this server; default: http:// and the address." env:"PLAZA_PUBLIC_URL" name:"public-url" placeholder:"URL"`
	AllowedOrigins []string      `help:"Web origins whose pages may use the API; * for all, which is safe because no cookie signs anybody in." env:"PLAZA_ALLOWED_ORIGINS" name:"allowed-origin" default:"*" placeholder:"ORIGIN"`
	MetricsAddr    string        `help:"Address to serve Prometheus' /metrics on, apart from the API; default: none." env:"PLAZA_METRICS_ADDR" name:"metrics-addr" placeholder:"HOST:PORT"`
	BehindProxy    bool          `help:"All requests come through a proxy that adds the client's address to X-Forwarded-For: count clicks on ads by that." env:"PLAZA_BEHIND_PROXY" name:"behind-proxy"`
	NewsAds        zoneFlag      `help:"Let news carry ads, of this zone: an entry's field sponsored has them. Default: none." env:"PLAZA_NEWS_ADS" name:"news-ads" placeholder:"SITE/ZONE"`
	NewsAdsEvery   int           `help:"With --news-ads: after how many public posts there is one." env:"PLAZA_NEWS_ADS_EVERY" name:"news-ads-every" default:"8" placeholder:"N"`
	DrainDelay     time.Duration `help:"How long to keep serving after SIGTERM while /readyz already fails, so that proxies switch to other servers. Ctrl-C skips it." env:"PLAZA_DRAIN_DELAY" name:"drain-delay" default:"5s" placeholder:"TIME"`
	EventRetention time.Duration `help:"How long to keep the event log: 1h to 87600h." env:"PLAZA_EVENT_RETENTION" name:"event-retention" default:"720h" placeholder:"TIME"`
	Demo           bool          `help:"Start with a small lively community, in a database of its own: one that has other users is refused." env:"PLAZA_DEMO"`

	Ads        ads.Options    `kong:"-"` // of tests
	Social     social.Options `kong:"-"` // of tests
	LoaderWait time.Duration  `kong:"-"` // of tests

	community *demo.Community // with --demo
}

// zoneFlag is the place for ads that a flag names: site/zone.
type zoneFlag ads.ZoneID

// UnmarshalText implements encoding.TextUnmarshaler. An empty text, as an empty environment variable has, is no zone.
func (z *zoneFlag) UnmarshalText(text []byte) error {
	*z = zoneFlag{}
	if len(text) == 0 {
		return nil
	}
	zone, err := ads.ParseZoneID(string(text))
	if err != nil {
		return errors.New("must be SITE/ZONE: two names of 1 to 64 characters, of a–z, 0–9, '.', '-' and '_'")
	}
	*z = zoneFlag(zone)
	return nil
}

// newsAds is where news carries ads.
func (c *serveCommand) newsAds() resolvers.NewsAds {
	if c.NewsAds == (zoneFlag{}) {
		return resolvers.NewsAds{}
	}
	return resolvers.NewsAds{Zone: ads.ZoneID(c.NewsAds), Every: c.NewsAdsEvery}
}

// check refuses settings that cannot work.
func (c *serveCommand) check() error {
	switch {
	case c.NewsAds != (zoneFlag{}) && (c.NewsAdsEvery < 1 || c.NewsAdsEvery > social.MaxPageSize):
		return fmt.Errorf("--news-ads-every must be from 1 to %d", social.MaxPageSize)
	case c.DrainDelay < 0:
		return errors.New("--drain-delay must not be negative")
	case c.EventRetention < social.MinEventRetention || c.EventRetention > maxEventRetention:
		return fmt.Errorf("--event-retention (PLAZA_EVENT_RETENTION) must be from 1h to 87600h (ten years): %v is not", c.EventRetention)
	}
	return c.checkAddresses()
}

const maxEventRetention = 87_600 * time.Hour

// writeTimeout is how long a request may take from its header to the last byte of its answer: to send a body and to run an
// operation takes up to 30 s each, so that 30 s are left for a slow reader.
const writeTimeout = 90 * time.Second

// Run serves until ctx ends, or until the database is upgraded beyond this Plaza; then it drains.
func (c *serveCommand) Run(ctx context.Context, cli *commandLine) error {
	serving, end := context.WithCancelCause(ctx)
	defer end(nil)
	cli.Outdated = end
	err := c.run(serving, cli)
	if ctx.Err() == nil && err == nil {
		err = context.Cause(serving)
	}
	return err
}

func (c *serveCommand) run(ctx context.Context, cli *commandLine) error {
	if err := c.check(); err != nil {
		return err
	}
	tuneMemory()
	st, f, err := c.awaitStore(ctx, cli)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer func() { _ = st.Close() }()
	upgrading, stopUpgrading := context.WithCancel(ctx)
	upgraded := inBackground(upgrading, func(ctx context.Context) { upgradeDocuments(ctx, st) })
	defer func() { stopUpgrading(); <-upgraded }()
	if f == nil {
		if f, err = c.newFront(ctx); err != nil {
			return err
		}
	}
	defer f.close()
	if c.PublicURL == "" {
		c.PublicURL = "http://" + f.address()
	}
	site, err := c.prepareDemo(ctx, st)
	if err != nil {
		return err
	}
	interrupted, ignore := signal.NotifyContext(context.Background(), os.Interrupt)
	defer ignore()
	s := newServer(st, c, site)
	s.lastCall = func() { proxiesNotice(interrupted, c.DrainDelay) }
	_, stop, err := serveMetrics(ctx, c.MetricsAddr, s.metrics)
	if err != nil {
		return err
	}
	defer stop()
	return s.serve(ctx, f)
}

// unlessEnded is err, or nothing where it comes from ctx, which has ended as it was asked to.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// server is the API with everything around it.
type server struct {
	store    storage.Store
	social   *social.Service
	ads      *ads.Service
	hub      *live.Hub
	graphql  *transport.Server
	metrics  *metrics.Metrics
	handler  http.Handler
	ending   atomic.Bool // it was told to end: readiness fails
	lastCall func()      // returns when proxies have had the time to notice that

	publicURL string
	community *demo.Community // with --demo
	visits    visits
}

func newServer(st storage.Store, c *serveCommand, site web.Config) *server {
	s := &server{
		store: st, social: social.New(st, c.Social), ads: ads.New(st.Ads(), c.Ads), lastCall: func() {},
		publicURL: c.PublicURL, community: c.community,
	}
	s.metrics = metrics.New(metrics.Source{
		Worker: st, Sockets: func() int { return s.graphql.Sockets() }, LostClicks: s.ads.LostClicks,
		Codes: resolvers.Codes(), RefusalCodes: transport.Codes(), Mistake: resolvers.MistakeOf,
	})
	s.hub = live.New(s.social, st, slog.Default(), func(session [32]byte) { s.graphql.CloseSession(resolvers.KeyOf(session)) })
	resolver := &resolvers.Resolver{
		Social: s.social, Ads: s.ads, Hub: s.hub, Logger: slog.Default(), NewsAds: c.newsAds(), LoaderWait: c.LoaderWait,
		ClickURL:        strings.TrimSuffix(c.PublicURL, "/") + clickPath,
		EndSubscription: transport.EndSubscription,
		RequestID:       transport.RequestID,
	}
	s.graphql = transport.New(resolver.Executable(), transport.Options{
		Authenticate:     resolver.Authenticate,
		SessionKey:       resolvers.SessionKey,
		Refused:          s.metrics.Refused,
		AroundOperations: []graphql.OperationMiddleware{s.metrics.AroundOperations, resolver.OperationLoaders},
		AroundResponses:  []graphql.ResponseMiddleware{resolver.EventLoaders},
		ErrorPresenter:   resolver.PresentError,
		Recover:          resolver.Recover,
		AllowedOrigins:   c.origins(),
	})
	mux := http.NewServeMux()
	mux.Handle("/graphql", c.cors().Handler(compressed(s.visits.note(s.graphql))))
	mux.Handle(sdlPath, c.cors().Handler(getOnly(compressed(sdlHandler()))))
	mux.Handle(clickPath+"{token}", clickHandler(s.ads, c.BehindProxy, slog.Default()))
	mux.Handle(impressionPath+"{token}", recordingHandler(s.ads.RecordImpression, slog.Default()))
	mux.Handle(conversionPath+"{token}", recordingHandler(s.ads.RecordConversion, slog.Default()))
	mux.Handle(exportPath, c.cors().Handler(getOnly(exportHandler(s.social, resolver.Authenticate))))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { writeStatus(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	if c.community != nil {
		mux.Handle(demo.PicturesPath, demo.Pictures())
	}
	mux.Handle("/", web.GraphiQL(site))
	s.handler = s.metrics.Requests(s.lettingGo(mux))
	return s
}

// compressed answers with gzip where a client takes both that and zstd: some offer zstd and cannot read it.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.PreferZstd(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(next)
}

// getOnly answers every other method with 405.
func getOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", "GET")
			http.Error(w, "This is a GET.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (c *serveCommand) cors() *cors.Cors {
	return cors.New(cors.Options{
		AllowedOrigins: c.origins(),
		AllowedMethods: []string{http.MethodGet, http.MethodPost},
		AllowedHeaders: []string{"Authorization", "Content-Type", "Accept"},
		ExposedHeaders: []string{"X-Request-Id"},
		MaxAge:         600,
	})
}

// origins are those that may use the API: the allowed ones, and the server's own. Behind a proxy only the public URL says what
// that is.
func (c *serveCommand) origins() []string {
	public, err := url.Parse(strings.ToLower(c.PublicURL))
	if err != nil || public.Host == "" {
		return c.AllowedOrigins
	}
	host := public.Host
	if port, known := map[string]string{"http": ":80", "https": ":443"}[public.Scheme]; known {
		host = strings.TrimSuffix(host, port) // browsers leave it out
	}
	return append(slices.Clone(c.AllowedOrigins), public.Scheme+"://"+host)
}

func writeStatus(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text)
}

// ready says whether this server should get requests: it is not shutting down, and its database answers and has room.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	if s.ending.Load() {
		writeStatus(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	switch err := s.store.Ping(ctx); {
	case err == nil:
		writeStatus(w, http.StatusOK, "ok")
	case errors.Is(err, fault.ErrNoRoom): // the engine has logged it
		writeStatus(w, http.StatusServiceUnavailable, "the disk of the database is full: nothing can be stored, reads go on")
	default:
		slog.WarnContext(ctx, "the database does not answer", "error", err)
		writeStatus(w, http.StatusServiceUnavailable, "the database does not answer")
	}
}

// serve answers requests until ctx ends, and drains.
func (s *server) serve(ctx context.Context, f *front) error {
	defer f.close() // also connections that wait for nothing
	background, stop := context.WithCancel(context.Background())
	defer stop()
	hubDone, err := s.hub.Open(background)
	if err != nil {
		return fmt.Errorf("cannot follow the event log: %w", err)
	}
	working, rest := context.WithCancel(background) // jobs are durable: nobody waits for them
	worked := inBackground(working, s.store.Work)
	kept := inBackground(working, func(ctx context.Context) { s.ads.Work(ctx, slog.Default()) })
	lived := inBackground(working, s.liveDemo)
	defer func() { rest(); <-lived; <-worked; <-kept; s.drainAds() }()
	f.open(s.handler)
	s.announce(ctx, "http://"+f.address())
	select {
	case err := <-f.failed:
		return fmt.Errorf("the server stopped: %w", err)
	case <-ctx.Done():
	}
	s.drain(f)
	f.close()
	rest()
	stop()
	<-hubDone
	return nil
}

// announce logs that requests are served at an address, and what with: the first thing to look at when something is odd.
func (s *server) announce(ctx context.Context, address string) {
	on := s.store.Description()
	attributes := []slog.Attr{
		slog.String("version", version()), slog.String("engine", on.Engine), slog.String("database", on.Database),
		slog.String("publicURL", s.publicURL), slog.String("graphiql", address), slog.String("graphql", address+"/graphql"),
	}
	for _, of := range slices.Sorted(maps.Keys(on.Layouts)) {
		attributes = append(attributes, slog.String(of, on.Layouts[of]))
	}
	slog.LogAttrs(ctx, slog.LevelInfo, "Plaza is open", attributes...)
}

// drainAds stores the clicks that still wait for the database, gives back the money that this server has on lease, and stores what was counted of requests for
// ads until the last one.
func (s *server) drainAds() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := s.ads.Drain(ctx); err != nil {
		slog.WarnContext(ctx, "the last clicks on ads were not stored", "error", err)
	}
	if err := s.ads.Close(ctx); err != nil {
		slog.WarnContext(ctx, "the last work on ads was left undone", "error", err)
	}
}

// inBackground starts a task that runs until ctx ends; the channel is closed when it has returned.
func inBackground(ctx context.Context, task func(context.Context)) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		task(ctx)
	}()
	return done
}
