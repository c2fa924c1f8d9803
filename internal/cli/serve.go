package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"time"

	"plaza/ads"
	"plaza/internal/app"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

type serveCommand struct {
	Addr             string         `help:"Address to listen on." env:"PLAZA_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	PublicURL        string         `help:"The URL at which clients reach this server; default: http:// and the address." env:"PLAZA_PUBLIC_URL" name:"public-url" placeholder:"URL"`
	AllowedOrigins   []string       `help:"Web origins whose pages may use the API; * for all. That is safe, because pages of other origins then can't use cookies." env:"PLAZA_ALLOWED_ORIGINS" name:"allowed-origin" default:"*" placeholder:"ORIGIN"`
	MetricsAddr      string         `help:"Separate address on which to serve /metrics for Prometheus; default: none." env:"PLAZA_METRICS_ADDR" name:"metrics-addr" placeholder:"HOST:PORT"`
	BehindProxy      bool           `help:"All requests come through one proxy, which adds the client's address to X-Forwarded-For. Clicks on ads and rate limits are counted by that address. For a chain of proxies, use --trusted-proxy." env:"PLAZA_BEHIND_PROXY" name:"behind-proxy"`
	TrustedProxies   []networkFlag  `help:"Networks of proxies that add their client's address to X-Forwarded-For. Clicks on ads and rate limits are counted by that address. The header is ignored in requests from other addresses." env:"PLAZA_TRUSTED_PROXIES" name:"trusted-proxy" placeholder:"CIDR"`
	RateLimits       string         `help:"Whether to limit what each address, token and user may use: on or off." env:"PLAZA_RATE_LIMITS" name:"rate-limits" default:"on" enum:"on,off"`
	SocketLimits     map[string]int `help:"Limits of open websockets and event streams, such as user=50. server: in total; address: from each address; signed-out: signed-out ones from each address; user: of each user; operations: operations on each; signed-out-operations: operations on each signed-out one. 0: unlimited (not for operations)." env:"PLAZA_SOCKET_LIMITS" name:"socket-limit" mapsep:"," placeholder:"NAME=N"`
	NewsAds          zoneFlag       `help:"Show ads of this zone in news, in the field sponsored of its entries. Default: none." env:"PLAZA_NEWS_ADS" name:"news-ads" placeholder:"SITE/ZONE"`
	NewsAdsEvery     int            `help:"With --news-ads: the number of public posts between ads." env:"PLAZA_NEWS_ADS_EVERY" name:"news-ads-every" default:"8" placeholder:"N"`
	GraphiQL         string         `help:"Whether to serve GraphiQL at /: on or off." env:"PLAZA_GRAPHIQL" name:"graphiql" default:"on" enum:"on,off"`
	App              string         `help:"Whether to serve the web app at /app/: on or off." env:"PLAZA_APP" name:"app" default:"on" enum:"on,off"`
	Introspection    string         `help:"Whether clients may read the schema, by introspection or at /schema.graphql: on or off. If off, GraphiQL has no completion and no documentation." env:"PLAZA_INTROSPECTION" default:"on" enum:"on,off"`
	Registration     string         `help:"Who may create accounts: open (anyone, with signUp), invitation (those who have the code of an invitation: plaza invitation create) or closed (only operators, with plaza user add)." env:"PLAZA_REGISTRATION" default:"open" enum:"open,invitation,closed"`
	MemberInvites    int            `help:"With --registration=invitation: how many invitations, each for one account, a member may have that have not expired; 0: only operators invite." env:"PLAZA_MEMBER_INVITATIONS" name:"member-invitations" default:"0" placeholder:"NUMBER"`
	Reading          string         `help:"Who may read public content: open (anyone) or members (only signed-in users)." env:"PLAZA_READING" default:"open" enum:"open,members"`
	TrustedDocuments string         `help:"A manifest: a JSON file of the operations that clients can run by id, in the format of Apollo, Relay or GraphQL Code Generator." env:"PLAZA_TRUSTED_DOCUMENTS" name:"trusted-documents" type:"path" placeholder:"FILE"`
	OnlyTrusted      bool           `help:"Run only the operations in --trusted-documents, and refuse all others." env:"PLAZA_ONLY_TRUSTED_DOCUMENTS" name:"only-trusted-documents"`
	PublicMaxAge     time.Duration  `help:"How long caches may serve what signed-out clients read by GET without asking again. Deleted or hidden content may remain visible there for that long." env:"PLAZA_PUBLIC_MAX_AGE" name:"public-max-age" default:"0s" placeholder:"TIME"`
	AccessLog        string         `help:"Whether to log each request and operation: on or off." env:"PLAZA_ACCESS_LOG" name:"access-log" default:"off" enum:"on,off"`
	SlowOperation    time.Duration  `help:"Log a warning for queries and mutations that take longer; 0: never." env:"PLAZA_SLOW_OPERATION" name:"slow-operation" default:"5s" placeholder:"TIME"`
	PeopleCache      int64          `help:"MiB of memory for caching users, relations between them, and sessions; 0: no cache. Every server still sees each change immediately." env:"PLAZA_PEOPLE_CACHE" name:"people-cache" default:"64" placeholder:"MIB"`
	DrainDelay       time.Duration  `help:"How long to keep serving after SIGTERM, while /readyz already fails, so that proxies can switch to other servers. Ctrl-C skips the delay." env:"PLAZA_DRAIN_DELAY" name:"drain-delay" default:"5s" placeholder:"TIME"`
	EventRetention   time.Duration  `help:"How long to keep the event log: 1h to 87600h." env:"PLAZA_EVENT_RETENTION" name:"event-retention" default:"720h" placeholder:"TIME"`
	JWT              jwtFlags       `embed:"" prefix:"jwt-"`
	OIDCProviders    []providerFlag `help:"An OpenID provider whose users can sign in, by signInWithIdToken, as issuer=URL,client-id=ID; with ,registration=open a first sign-in creates an account although --registration is closed. Several: repeat the flag; in the variable, separate them with semicolons." env:"PLAZA_OIDC_PROVIDERS" name:"oidc-provider" sep:";" placeholder:"SETTINGS"`

	Mail        mailFlags        `embed:""`
	PublishHook publishHookFlags `embed:"" prefix:"publish-hook-"`

	Demo bool `help:"Start with a small lively community, in a database of its own: one that has other users is refused." env:"PLAZA_DEMO"`
}

// zoneFlag is a zone for ads, as a flag names it: site/zone.
type zoneFlag ads.ZoneID

// UnmarshalText implements encoding.TextUnmarshaler. An empty text, as in an empty environment
// variable, means no zone.
func (z *zoneFlag) UnmarshalText(text []byte) error {
	*z = zoneFlag{}
	if len(text) == 0 {
		return nil
	}
	zone, err := ads.ParseZoneID(string(text))
	if err != nil {
		return errors.New("must be SITE/ZONE: two names of 1 to 64 characters (a–z, 0–9, '.', '-' and '_')")
	}
	*z = zoneFlag(zone)
	return nil
}

// networkFlag is a network.
type networkFlag struct{ netip.Prefix }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *networkFlag) UnmarshalText(text []byte) (err error) {
	if n.Prefix, err = netip.ParsePrefix(string(text)); err != nil {
		return fmt.Errorf("must be a network such as 10.0.0.0/8, or an address with its length such as 192.0.2.7/32: %q is not", text)
	}
	return nil
}

// networks returns the networks of trusted proxies.
func (c *serveCommand) networks() []netip.Prefix {
	networks := make([]netip.Prefix, len(c.TrustedProxies))
	for i, n := range c.TrustedProxies {
		networks[i] = n.Prefix
	}
	return networks
}

// newsAds returns the configuration of ads in news.
func (c *serveCommand) newsAds() app.NewsAds {
	if c.NewsAds == (zoneFlag{}) {
		return app.NewsAds{}
	}
	return app.NewsAds{Zone: ads.ZoneID(c.NewsAds), Every: c.NewsAdsEvery}
}

// The default and the maximum of --people-cache, in MiB.
const (
	defaultPeopleCache = 64
	maxPeopleCache     = 1 << 20
)

// check rejects settings that cannot work.
func (c *serveCommand) check() error {
	switch {
	case c.Addr == "":
		return errors.New("--addr (PLAZA_ADDR) is empty: it must be HOST:PORT, such as 127.0.0.1:8080")
	case c.NewsAds != (zoneFlag{}) && (c.NewsAdsEvery < 1 || c.NewsAdsEvery > social.MaxPageSize):
		return fmt.Errorf("--news-ads-every must be from 1 to %d", social.MaxPageSize)
	case c.PeopleCache < 0 || c.PeopleCache > maxPeopleCache:
		return fmt.Errorf("--people-cache must be from 0 to %d", maxPeopleCache)
	case c.MemberInvites < 0 || c.MemberInvites > maxMemberInvitations:
		return fmt.Errorf("--member-invitations must be from 0 to %d", maxMemberInvitations)
	case c.MemberInvites > 0 && registrations[c.Registration] != accounts.RegistrationByInvitation:
		return errors.New("--member-invitations requires --registration=invitation: otherwise invitations have no use")
	case c.BehindProxy && len(c.TrustedProxies) > 0:
		return errors.New("--behind-proxy (PLAZA_BEHIND_PROXY) and --trusted-proxy (PLAZA_TRUSTED_PROXIES) can't be used together: for a chain of proxies, use only --trusted-proxy")
	case c.DrainDelay < 0 || c.DrainDelay > maxDrainDelay:
		return fmt.Errorf("--drain-delay (PLAZA_DRAIN_DELAY) must be from 0s to 1h: %v is not", c.DrainDelay)
	case c.OnlyTrusted && c.TrustedDocuments == "":
		return errors.New("--only-trusted-documents requires --trusted-documents: without a manifest, no operation would run")
	case c.PublicMaxAge < 0:
		return errors.New("--public-max-age must not be negative")
	case c.SlowOperation < 0:
		return errors.New("--slow-operation must not be negative")
	case c.EventRetention < social.MinEventRetention || c.EventRetention > maxEventRetention:
		return fmt.Errorf("--event-retention (PLAZA_EVENT_RETENTION) must be from 1h to 87600h (ten years): %v is not", c.EventRetention)
	}
	return errors.Join(c.JWT.check(), c.PublishHook.check(), checkAddresses(c.PublicURL, c.AllowedOrigins))
}

const (
	maxEventRetention    = 87_600 * time.Hour
	maxMemberInvitations = 1_000
	maxDrainDelay        = time.Hour
)

// Run serves until ctx ends, or until the database is upgraded beyond this Plaza; then it drains.
func (c *serveCommand) Run(ctx context.Context, common *commonFlags) error {
	serving, end := context.WithCancelCause(ctx)
	defer end(nil)
	common.Outdated = end
	err := c.run(serving, common)
	if ctx.Err() == nil && err == nil {
		err = context.Cause(serving)
	}
	return err
}

func (c *serveCommand) run(ctx context.Context, common *commonFlags) error {
	if err := c.check(); err != nil {
		return err
	}
	sockets, err := socketLimits(c.SocketLimits)
	if err != nil {
		return err
	}
	mails, err := c.Mail.options(c.App == "on" && app.HasPages(c.PublicURL))
	if err != nil {
		return err
	}
	documents, err := c.trustedDocuments()
	if err != nil {
		return err
	}
	providers, err := c.providers(ctx)
	if err != nil {
		return err
	}
	c.JWT.warn(ctx)
	c.PublishHook.warn(ctx)
	tuneMemory()
	interrupted, ignore := signal.NotifyContext(context.Background(), os.Interrupt)
	defer ignore()
	return app.Run(ctx, func(ctx context.Context) (storage.Store, error) { return c.openStore(ctx, common) }, app.Config{
		Addr: c.Addr, PublicURL: c.PublicURL, AllowedOrigins: c.AllowedOrigins, MetricsAddr: c.MetricsAddr, BehindProxy: c.BehindProxy,
		TrustedProxies: c.networks(), RateLimits: c.RateLimits == "on",
		NoGraphiQL: c.GraphiQL == "off", NoApp: c.App == "off", NoIntrospection: c.Introspection == "off",
		TrustedDocuments: documents, OnlyTrusted: c.OnlyTrusted, Issuer: c.JWT.options(), PublishHook: c.PublishHook.hook(), Providers: providers, MembersOnly: c.Reading == "members", SendsMail: c.Mail.SMTPURL != "", PublicMaxAge: c.PublicMaxAge,
		SocketLimits: sockets, Social: network.Options{CacheSize: c.PeopleCache << 20, Accounts: accounts.Options{Registration: registrations[c.Registration], MemberInvitations: c.MemberInvites, Mails: mails}},
		AccessLog: c.AccessLog == "on", AuditLog: common.AuditLog != "off", SlowOperation: c.SlowOperation,
		NewsAds: c.newsAds(), Demo: c.Demo, Version: version(),
		LastCall: func() { proxiesNotice(interrupted, c.DrainDelay) },
	})
}

// trustedDocuments reads the manifest, if there is one.
func (c *serveCommand) trustedDocuments() (map[string]string, error) {
	if c.TrustedDocuments == "" {
		return nil, nil
	}
	file, err := os.Open(c.TrustedDocuments)
	if err != nil {
		return nil, fmt.Errorf("--trusted-documents: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	documents, err := app.ReadManifest(file)
	if err != nil {
		return nil, fmt.Errorf("--trusted-documents: %s: %w", c.TrustedDocuments, err)
	}
	return documents, nil
}

// openStore opens the database, and prepares it for a server.
func (c *serveCommand) openStore(ctx context.Context, common *commonFlags) (storage.Store, error) {
	st, err := common.makeStore(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.warnOfIdle(ctx, common, st), st.KeepEvents(ctx, c.EventRetention)); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if common.MongodbURI != "" {
		return st, nil
	}
	local := &localServer{store: st}
	if common.AuditLog != "off" {
		local.audit = app.Audit(slog.Default())
	}
	return serveCommands(ctx, common.socketPath(), local), nil
}

// warnOfIdle logs settings without effect. They are not errors, because environments are shared.
func (c *serveCommand) warnOfIdle(ctx context.Context, common *commonFlags, st storage.Store) error {
	idle, err := c.idleSettings(ctx, common, st)
	if len(idle) > 0 {
		slog.WarnContext(ctx, "some settings have no effect", "settings", strings.Join(idle, ", "))
	}
	return err
}

// usualNewsAdsEvery is the default of --news-ads-every, as in its tag.
const usualNewsAdsEvery = 8

// idleSettings returns settings that have no effect on this database, or without another setting.
func (c *serveCommand) idleSettings(ctx context.Context, common *commonFlags, st storage.Store) ([]string, error) {
	idle, err := common.idleSettings(ctx, st)
	if err != nil {
		return nil, err
	}
	if c.NewsAds == (zoneFlag{}) && c.NewsAdsEvery != 0 && c.NewsAdsEvery != usualNewsAdsEvery {
		idle = append(idle, "--news-ads-every (needs --news-ads)")
	}
	return idle, nil
}

// proxiesNotice waits for delay, so that proxies notice that readiness fails. Ctrl-C, pressed
// before or during the wait, skips it: a server in a terminal has no proxy.
func proxiesNotice(interrupted context.Context, delay time.Duration) {
	ctx, stop := context.WithTimeout(interrupted, delay)
	defer stop()
	<-ctx.Done()
}
