package app

import (
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rs/cors"

	"plaza/ads/adserver"
	"plaza/issuer"
	"plaza/resolvers/advertising"
	"plaza/resolvers/gate"
	"plaza/social/network"
	"plaza/storage"
	"plaza/transport/connections"
)

// NewsAds configures the ads in news.
type NewsAds = advertising.News

// Config configures a server. Only Addr is required: by default no other web origin may use the
// API, and news has no ads.
type Config struct {
	Addr            string         // to listen on, as host:port
	PublicURL       string         // where clients reach the server; "" for http:// and the address
	AllowedOrigins  []string       // web origins whose pages may use the API; "*" for all
	MetricsAddr     string         // to serve metrics on, as host:port; "" for none
	BehindProxy     bool           // the last entry of X-Forwarded-For is the client's address
	TrustedProxies  []netip.Prefix // whose entries in X-Forwarded-For are believed
	RateLimits      bool           // limit what each client, user and token may use
	SocketLimits    connections.Limits
	NewsAds         NewsAds
	NoGraphiQL      bool // serve no page to explore the API
	NoApp           bool // serve no web app
	NoIntrospection bool // do not tell clients the schema
	// TrustedDocuments are documents that clients can run by their ids, which are the keys; see
	// ReadManifest. With OnlyTrusted nothing else runs.
	TrustedDocuments map[string]string
	OnlyTrusted      bool
	Issuer           *issuer.Options   // of the tokens of another site that are accepted; nil: none
	PublishHook      *PublishHook      // decides what is published; nil: everything is
	Providers        []issuer.Provider // OpenID providers whose users can sign in
	MembersOnly      bool              // signed-out clients read nothing
	SendsMail        bool              // Social's mails are sent, not only logged
	PublicMaxAge     time.Duration     // how long caches may keep what a signed-out client reads by GET
	AccessLog        bool              // log each request and operation
	AuditLog         bool              // log sign-ins, and changes of accounts and rights
	SlowOperation    time.Duration     // warn of queries and mutations that take longer; 0: never
	Demo             bool              // fill the database with a community, and keep it active
	Version          string            // for the log

	// LastCall is called when a server shuts down and is no longer ready, before it stops
	// listening. It returns when proxies have had time to notice. Nil: return immediately.
	LastCall func()

	Social     network.Options
	Ads        adserver.Options
	LoaderWait time.Duration // how long loaders wait to fill a batch; 0 for loaders.DefaultWait
}

// keepTimeOf takes the time from the database, if the store can tell it: its servers compare times
// that they have not stored themselves, such as the ends of sessions, polls and leases.
func (c *Config) keepTimeOf(st storage.Store) {
	if c.Social.Now == nil {
		c.Social.Now = storage.TimeOf(st)
	}
	if c.Ads.Now == nil {
		c.Ads.Now = storage.TimeOf(st)
	}
}

// issuer returns what verifies the tokens of another site; nil: none are accepted.
func (c *Config) issuer() gate.Issuer {
	if c.Issuer == nil {
		return nil
	}
	o := *c.Issuer
	o.Now, o.Logger = c.Social.Now, slog.Default()
	return issuer.New(o)
}

func (c *Config) cors() *cors.Cors {
	origins := c.origins()
	return cors.New(cors.Options{
		AllowedOrigins:   origins,
		AllowCredentials: !slices.Contains(origins, "*"), // cookies, only for pages that the operator has named
		AllowedMethods:   []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders:   []string{"Authorization", "Content-Type", "Accept", "X-Request-Id", "Traceparent", "If-None-Match", "Idempotency-Key", "X-Graphql-Event-Stream-Token"},
		ExposedHeaders:   []string{"X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After", "ETag"},
		MaxAge:           600,
	})
}

// origins returns the web origins that may use the API: the allowed ones, and the server's own.
// Behind a proxy, only the public URL contains the server's own origin.
func (c *Config) origins() []string {
	origin := originOf(c.PublicURL)
	if origin == "" {
		return c.AllowedOrigins
	}
	return append(slices.Clone(c.AllowedOrigins), origin)
}

// originOf returns the web origin of an address; "" if it has none.
func originOf(address string) string {
	u, err := url.Parse(strings.ToLower(address))
	if err != nil || u.Host == "" {
		return ""
	}
	host := u.Host
	if port, known := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; known {
		host = strings.TrimSuffix(host, port) // browsers omit the default port
	}
	return u.Scheme + "://" + host
}
