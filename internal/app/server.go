package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"plaza/ads/adserver"
	"plaza/demo"
	"plaza/fault"
	"plaza/internal/accesslog"
	"plaza/live"
	"plaza/metrics"
	"plaza/notify"
	"plaza/resolvers"
	"plaza/resolvers/advertising"
	"plaza/resolvers/gate"
	"plaza/resolvers/presenter"
	"plaza/social/export"
	"plaza/social/moderation"
	"plaza/social/network"
	"plaza/social/notifications"
	"plaza/storage"
	"plaza/transport"
	"plaza/transport/codes"
	"plaza/transport/connections"
	"plaza/transport/document"
	"plaza/transport/execution"
	"plaza/transport/request"
	"plaza/transport/websocket"
	"plaza/web"
	"plaza/webhook"
)

// Server is the API with everything around it. Hub, Notifier, GraphQL and Metrics are parts that
// tests look at.
type Server struct {
	Handler  http.Handler // answers all requests
	Hub      *live.Hub
	Notifier *notify.Notifier
	GraphQL  *transport.Server
	Metrics  *metrics.Metrics

	store  storage.Store
	social *network.Service
	ads    *adserver.Service
	ending atomic.Bool // the server is shutting down: readiness fails
	config *Config
	limits *limits
	log    *accesslog.Log

	community *demo.Community // with Demo
	visits    visits
}

// reads is what fields cost in addition because they read much more than they return: suggestions
// are found in 30 lists of follows and 200 posts, which takes as long as two pages of news.
var reads = map[string]int{"Viewer.suggestedUsers": 50}

// New builds a server on a store, which the caller closes when the server has ended. Config's Addr
// and MetricsAddr are for Run.
func New(st storage.Store, c Config) *Server { return newServer(st, &c, c.limits(), nil) }

func newServer(st storage.Store, c *Config, limiting *limits, community *demo.Community) *Server {
	c.keepTimeOf(st)
	s := &Server{store: st, ads: adserver.New(st.Ads(), c.Ads), config: c, limits: limiting, community: community}
	domain := c.socialOptions(limiting)
	domain.Reviews = c.PublishHook.reviews(func(o webhook.Outcome, took time.Duration) { s.Metrics.PublishHook(string(o), took) })
	s.social = network.New(st, domain)
	notices := notifications.New(st, s.social)
	s.Notifier = notify.New(notices, s.social, st, st, slog.Default())
	s.Metrics = metrics.New(metrics.Source{
		Worker: st, Sockets: func() int { return s.GraphQL.Sockets() }, LostClicks: s.ads.LostClicks,
		Limits: limiting.all(), WaitingPasswords: s.social.WaitingPasswords, NotifiedUpTo: s.Notifier.UpTo,
		SocketLimits: c.SocketLimits.ByName(), People: s.social.CacheStats, News: newsPages(st),
		Codes: presenter.Codes(), RefusalCodes: codes.All(), Mistake: presenter.MistakeOf,
	})
	s.Hub = live.New(s.social, st, slog.Default(), func(session [32]byte) { s.GraphQL.CloseSession(gate.KeyOf(session)) })
	s.log = s.accessLog()
	errs := &presenter.Presenter{Logger: slog.Default(), RequestID: request.ID}
	entrance := &gate.Gate{Social: s.social, Errors: errs, Issuer: c.issuer(), MembersOnly: c.MembersOnly}
	resolver := &resolvers.Resolver{
		Social: s.social, Moderator: moderation.New(st, s.social), Hub: s.Hub, Logger: slog.Default(), LoaderWait: c.LoaderWait,
		Advertising: &advertising.Resolver{
			Server: s.ads, Social: s.social, News: c.NewsAds, ClickURL: strings.TrimSuffix(c.PublicURL, "/") + clickPath,
		},
		Notices: notices, Providers: c.providers(),
		StreamOf: func(ctx context.Context) resolvers.Stream { return execution.StreamOf(ctx) },
		ClientOf: clientIn,
	}
	from := newProxies(c)
	s.GraphQL = transport.New(resolver.Executable(), transport.Options{
		Documents: document.Options{
			Limits:      document.Limits{NoIntrospection: c.NoIntrospection, Reads: reads},
			Trusted:     c.TrustedDocuments,
			OnlyTrusted: c.OnlyTrusted,
		},
		Execution: execution.Options{
			Arrive:           limiting.arrive,
			Charge:           limiting.charge,
			Work:             limiting.work,
			Owe:              limiting.owe,
			Authenticate:     entrance.Authenticate,
			Refused:          s.refused,
			AroundOperations: []graphql.OperationMiddleware{s.Metrics.AroundOperations, s.log.AroundOperations, entrance.RequireMember, entrance.RequireScopes, entrance.RequireStanding, resolver.OperationLoaders, entrance.OncePerKey},
			AroundResponses:  []graphql.ResponseMiddleware{s.Metrics.AroundResponses},
			ErrorPresenter:   errs.Present,
			Recover:          errs.Recover,
		},
		HTTP: transport.HTTPOptions{
			SignedOut:    gate.SignedOut,
			PublicMaxAge: c.PublicMaxAge,
			Once:         advertising.Once,
		},
		Connections: connections.Options{
			Limits:     c.SocketLimits,
			ClientOf:   clientIn,
			UserOf:     viewerIn,
			SessionKey: gate.SessionKey,
			GroupKey:   gate.IdentityKey,
			Refused:    s.Metrics.SocketRefused,
		},
		WebSocket: websocket.Options{AllowedOrigins: c.origins()},
	})
	s.Handler = s.log.Around(s.Metrics.Requests(closingConnections(&s.ending, guarded(s.routes(s.logging(entrance.Authenticate), from)))))
	return s
}

// SendMails sends the mails that are due, as Serve does all the time.
func (s *Server) SendMails(ctx context.Context) error { return s.social.SendMails(ctx) }

// refused counts and logs the code of a request or operation that is rejected before it runs.
func (s *Server) refused(ctx context.Context, code string) {
	s.Metrics.Refused(code)
	s.log.Refused(ctx, code)
}

// routes answers each path.
func (s *Server) routes(authenticate authenticator, from *proxies) http.Handler {
	c, limited := s.config, func(next http.Handler) http.Handler { return from.note(s.limits.around(next, s.refused)) }
	mux, cookies := http.NewServeMux(), newCookies(c)
	mux.Handle("/graphql", c.cors().Handler(compressed(from.note(s.visits.note(cookies.signIn(s.GraphQL))))))
	if !c.NoIntrospection {
		mux.Handle(sdlPath, c.cors().Handler(getOnly(compressed(sdlHandler()))))
	}
	mux.Handle(clickPath+"{token}", limited(clickHandler(s.ads, from, slog.Default())))
	mux.Handle(impressionPath+"{token}", limited(recordingHandler(s.ads.RecordImpression, slog.Default())))
	mux.Handle(conversionPath+"{token}", limited(recordingHandler(s.ads.RecordConversion, slog.Default())))
	admitted := &exports{authenticate: authenticate, limits: s.limits, refused: s.refused}
	whole := &wholeExport{admitted, export.New(s.store, s.social, adsSeen{s.ads}), &s.ending}
	mux.Handle(wholeExportPath, c.cors().Handler(getOnly(limited(cookies.signIn(whole)))))
	mux.Handle(exportPath, c.cors().Handler(getOnly(limited(cookies.signIn(&commentExport{admitted, s.social})))))
	mux.Handle(sessionPath, c.cors().Handler(limited(cookies.signIn(&sessionCookie{s.social, s.Hub, authenticate, cookies}))))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { writeStatus(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	if s.community != nil {
		mux.Handle(demo.PicturesPath, demo.Pictures())
	}
	s.addPages(mux)
	return mux
}

// logging returns an authenticator that also logs the viewer.
func (s *Server) logging(authenticate authenticator) authenticator {
	return func(ctx context.Context, authorization string) (context.Context, error) {
		ctx, err := authenticate(ctx, authorization)
		s.log.Authenticated(ctx)
		return ctx, err
	}
}

// addPages serves GraphiQL at / and the web app, unless they are switched off.
func (s *Server) addPages(mux *http.ServeMux) {
	config, graphiQL := s.pageConfig(), http.NotFoundHandler()
	if !s.config.NoGraphiQL {
		graphiQL = web.GraphiQL(config)
	}
	mux.Handle(web.GraphiQLPath, graphiQL)
	if !s.config.NoApp {
		mux.Handle(web.AppPath, web.App(config))
	}
}

// pageConfig returns what the pages need to know about this server.
func (s *Server) pageConfig() web.Config {
	config := web.Config{Demo: demoOf(s.community), MembersOnly: s.config.MembersOnly, Mail: s.config.SendsMail, Providers: s.config.providerOrigins()}
	if !s.config.NoGraphiQL {
		config.GraphiQL = web.GraphiQLPath
	}
	if !s.config.NoApp {
		config.App = web.AppPath
	}
	return config
}

// accessLog logs requests as configured.
func (s *Server) accessLog() *accesslog.Log {
	return &accesslog.Log{
		Logger: slog.Default(), Requests: s.config.AccessLog, Slow: s.config.SlowOperation,
		Viewer: viewerIn, CodeOf: s.Metrics.CodeOf,
	}
}

// viewerIn returns the id of ctx's user as the API shows it; "" if signed out.
func viewerIn(ctx context.Context) string {
	user := gate.UserOf(ctx)
	if user.IsZero() {
		return ""
	}
	return user.String()
}

// ready answers whether this server should get requests: it is not shutting down, and its database
// answers and has room.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.ending.Load() {
		writeStatus(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	switch err := s.store.Ping(ctx); {
	case err == nil:
		writeStatus(w, http.StatusOK, "ok")
	case errors.Is(err, fault.ErrNoRoom): // the engine has logged the cause
		writeStatus(w, http.StatusServiceUnavailable, "the disk of the database is full: nothing can be stored, but reads still work")
	default:
		slog.WarnContext(ctx, "the database does not answer", "error", err)
		writeStatus(w, http.StatusServiceUnavailable, "the database does not answer")
	}
}

// isWatched reports whether a visitor has a socket open, or has sent an operation recently.
func (s *Server) isWatched() bool {
	return s.GraphQL.Sockets() > 0 || s.visits.since() < interest
}
