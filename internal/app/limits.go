package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"plaza/ratelimit"
	"plaza/resolvers/gate"
	"plaza/social/network"
	"plaza/social/passwords"
	"plaza/transport/codes"
	"plaza/transport/execution"
)

// arrivalCost is the cost of each request and each operation on a socket for its client, in
// addition to the cost of the operation: even if a request is rejected, it is read, and its token
// is looked up.
const arrivalCost = 10

// limits are the rate limits of a server. Nil means no limits.
type limits struct {
	clients *ratelimit.Limit // what each client address uses, signed in or not
	tokens  *ratelimit.Limit // what each session uses
	users   *ratelimit.Limit // what each user uses, in all sessions
	writes  *ratelimit.Limit // mutations of each user
	signIns *passwords.Limits
}

// newLimits returns the usual limits. About 275,000 of cost keep a core busy for a second: a page
// of 20 posts with three comments each costs 1,200 and takes 4.5 ms. So a token may continuously
// use a thirtieth of a core, and more for a short time.
func newLimits() *limits {
	const window = 30 * time.Second
	return &limits{
		clients: ratelimit.New(ratelimit.Policy{Name: "address", Burst: 1_500_000, Window: window}),
		tokens:  ratelimit.New(ratelimit.Policy{Name: "token", Burst: 300_000, Window: window}),
		users:   ratelimit.New(ratelimit.Policy{Name: "user", Burst: 600_000, Window: window}),
		writes:  ratelimit.New(ratelimit.Policy{Name: "writes", Burst: 300, Window: 150 * time.Second}),
		signIns: passwords.NewLimits(),
	}
}

// limits returns the limits of the settings.
func (c *Config) limits() *limits {
	if !c.RateLimits {
		return nil
	}
	return newLimits()
}

// socialOptions returns the settings of the domain, with these limits, and its logs.
func (c *Config) socialOptions(l *limits) network.Options {
	o := c.Social
	o.Accounts.Logger = slog.Default()
	o.Accounts.Mails = c.mails()
	if l != nil {
		o.Accounts.Limits = l.signIns
	}
	if c.AuditLog {
		o.Accounts.Audit = Audit(slog.Default())
	}
	return o
}

// all returns the limits that can refuse requests.
func (l *limits) all() []*ratelimit.Limit {
	if l == nil {
		return nil
	}
	return []*ratelimit.Limit{l.clients, l.tokens, l.users, l.writes, l.signIns.Addresses, l.signIns.Guesses, l.signIns.SignUps, l.signIns.Mails}
}

// arrive implements execution.Options.Arrive.
func (l *limits) arrive(ctx context.Context) []execution.Quota { return l.work(ctx, arrivalCost) }

// work implements execution.Options.Work. Like an arrival, it counts for the address alone, because
// it may precede authentication.
func (l *limits) work(ctx context.Context, cost int) []execution.Quota {
	if l == nil {
		return nil
	}
	return []execution.Quota{quotaOf(l.clients.Take(clientIn(ctx), cost))}
}

// owe implements execution.Options.Owe.
func (l *limits) owe(ctx context.Context, cost int) {
	if l == nil {
		return
	}
	for _, p := range l.due(ctx, execution.Charge{Cost: cost}) {
		p.limit.Owe(p.key, p.amount)
	}
}

// charge implements execution.Options.Charge. A refused operation takes nothing from any limit.
func (l *limits) charge(ctx context.Context, c execution.Charge) []execution.Quota {
	if l == nil {
		return nil
	}
	due := l.due(ctx, c)
	quotas := make([]execution.Quota, 0, len(due))
	for i, p := range due {
		state := p.limit.Take(p.key, p.amount)
		quotas = append(quotas, quotaOf(state))
		if state.RetryAfter > 0 {
			giveBack(due[:i])
			break
		}
	}
	return quotas
}

// due returns what an operation takes from each bucket of its client.
func (l *limits) due(ctx context.Context, c execution.Charge) []payment {
	due := []payment{{l.clients, clientIn(ctx), c.Cost}}
	if user := gate.UserOf(ctx); !user.IsZero() {
		due = append(due, payment{l.tokens, gate.SessionKey(ctx), c.Cost}, payment{l.users, user.String(), c.Cost})
		if c.Writes > 0 {
			due = append(due, payment{l.writes, user.String(), c.Writes})
		}
	}
	return due
}

// await charges an operation as soon as the limits admit it. It returns ctx's error if ctx ends
// before that.
func (l *limits) await(ctx context.Context, c execution.Charge) error {
	execution.Await(ctx, 0, func() []execution.Quota { return l.charge(ctx, c) })
	return ctx.Err()
}

// around charges requests their cost on arrival, and answers 429 if a limit refuses that.
func (l *limits) around(next http.Handler, refused func(ctx context.Context, code string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if after := retryAfter(l.arrive(r.Context())); after > 0 {
			refused(r.Context(), codes.RateLimited)
			refuseFor(w, after)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// retryAfter returns how long it takes until all quotas admit what one of them refuses; 0 if none
// refuses.
func retryAfter(quotas []execution.Quota) (longest time.Duration) {
	for _, q := range quotas {
		longest = max(longest, q.RetryAfter)
	}
	return longest
}

// refuseFor answers 429 to a request that can succeed after the given time.
func refuseFor(w http.ResponseWriter, after time.Duration) {
	seconds := int((after + time.Second - 1) / time.Second)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	http.Error(w, fmt.Sprintf("Too many requests: try again in %d s.", seconds), http.StatusTooManyRequests)
}

// payment is the amount that an operation takes from one bucket.
type payment struct {
	limit  *ratelimit.Limit
	key    string
	amount int
}

func giveBack(taken []payment) {
	for _, p := range taken {
		p.limit.Give(p.key, p.amount)
	}
}

func quotaOf(s ratelimit.State) execution.Quota {
	return execution.Quota{Name: s.Name, Limit: s.Burst, Remaining: s.Remaining, Window: s.Window, Reset: s.Reset, RetryAfter: s.RetryAfter}
}
