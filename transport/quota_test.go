package transport

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plaza/transport/codes"
	"plaza/transport/execution"
)

// TestQuotaHeaders: each answer shows what is left, in the form of the IETF's draft.
func TestQuotaHeaders(t *testing.T) {
	t.Parallel()
	var charged execution.Charge
	s := newTestServer(t, func(o *Options) {
		o.Execution.Charge = func(_ context.Context, charge execution.Charge) []execution.Quota {
			charged = charge
			return []execution.Quota{
				{Name: "address", Limit: 100, Remaining: 58, Window: 30 * time.Second, Reset: 12_001 * time.Millisecond},
				{Name: "user", Limit: 7, Remaining: 7, Window: time.Hour},
			}
		}
	})
	for query, want := range map[string]execution.Charge{
		`{ viewer }`: {Cost: 1},
		`mutation { ...F ...F b: setText(text: "b") } fragment F on Mutation { a: setText(text: "a") }`: {Cost: 3, Writes: 2},
	} {
		got := s.query(t, query)
		if charged != want {
			t.Errorf("%s is charged %+v, want %+v", query, charged, want)
		}
		if policy, want := got.header.Get("RateLimit-Policy"), `"address";q=100;w=30, "user";q=7;w=3600`; policy != want {
			t.Errorf("RateLimit-Policy is %s, want %s", policy, want)
		}
		if left, want := got.header.Get("RateLimit"), `"address";r=58;t=13, "user";r=7;t=0`; left != want {
			t.Errorf("RateLimit is %s, want %s", left, want)
		}
	}
}

// TestRefusedByQuota: nothing runs, and the error says when to try again, on each transport and at
// each of the two checks.
func TestRefusedByQuota(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*Options, *atomic.Bool){
		"on arrival": func(o *Options, spent *atomic.Bool) {
			o.Execution.Arrive = func(context.Context) []execution.Quota { return spentQuota(spent) }
		},
		"by cost": func(o *Options, spent *atomic.Bool) {
			o.Execution.Charge = func(context.Context, execution.Charge) []execution.Quota { return spentQuota(spent) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var spent atomic.Bool
			s := newTestServer(t, func(o *Options) { limit(o, &spent) })
			socket := s.open(t)
			spent.Store(true)
			got := s.query(t, `{ viewer }`, acceptGraphQL)
			if got.status != 429 || got.header.Get("Retry-After") != "3" || got.code(t) != codes.RateLimited {
				t.Errorf("got %d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), got.body)
			}
			if after := got.decode(t).Errors[0].Extensions["retryAfter"]; after != 3.0 {
				t.Errorf("retryAfter is %v", after)
			}
			socket.subscribe("1", `{ viewer }`)
			if got := socket.read(); !strings.Contains(got, `"error"`) || !strings.Contains(got, codes.RateLimited) || !strings.Contains(got, `"retryAfter":3`) {
				t.Errorf("on a socket: %s", got)
			}
			if ran := s.operations.Load(); ran != 0 {
				t.Errorf("%d operations ran", ran)
			}
			spent.Store(false)
			socket.subscribe("1", `{ viewer }`)
			if got := socket.read(); !strings.Contains(got, `"next"`) {
				t.Errorf("the socket does not recover: %s", got)
			}
		})
	}
}

func spentQuota(spent *atomic.Bool) []execution.Quota {
	if !spent.Load() {
		return nil
	}
	return []execution.Quota{
		{Name: "address", Limit: 100, Window: 30 * time.Second, RetryAfter: time.Second},
		{Name: "user", Limit: 100, Window: 30 * time.Second, RetryAfter: 2_100 * time.Millisecond},
		{Name: "token", Limit: 100, Remaining: 50, Window: 30 * time.Second},
	}
}

// TestStaleToken: mutations that sign in do not need a valid token, and everything else does.
func TestStaleToken(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.HTTP.SignedOut = []string{"setText"} })
	const stale = "Authorization: Bearer stale"
	for query, want := range map[string]int{
		`mutation { setText(text: "a") }`:                                       200,
		`mutation { setText(text: "a") b: setText(text: "b") }`:                 200,
		`mutation { setText(text: "a") holds }`:                                 401,
		`mutation { setText(text: "a") ...F } fragment F on Mutation { holds }`: 401,
		`mutation { setText }`:                                                  401,
		`mutation { __typename }`:                                               401,
		`{ viewer }`:                                                            401,
		`{`:                                                                     401,
	} {
		if got := s.query(t, query, stale); got.status != want {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := s.post(t, `{`, stale); got.status != 401 {
		t.Errorf("a malformed request: %d %s", got.status, got.body)
	}
}

// TestStreamsWaitForQuotas: responses of a subscription are charged. They wait while a limit
// refuses them, or until the client no longer listens.
func TestStreamsWaitForQuotas(t *testing.T) {
	t.Parallel()
	var spent atomic.Bool
	var admitted, refused atomic.Int32
	s := newTestServer(t, func(o *Options) {
		o.Execution.Charge = func(_ context.Context, charge execution.Charge) []execution.Quota {
			if charge != (execution.Charge{Cost: 2}) {
				t.Errorf("charged %+v", charge)
			}
			if admitted.Load() > 0 && spent.Load() {
				refused.Add(1)
				return spentQuota(&spent)
			}
			admitted.Add(1)
			return nil
		}
	})
	socket := s.open(t)
	spent.Store(true)
	socket.subscribe("1", `subscription { tooSlow { n } }`)
	eventually(t, "the response waits", func() bool { return refused.Load() > 0 })
	if n := s.loaders.Load(); n != 1 { // the one of the beginning
		t.Errorf("%d responses were executed", n)
	}
	spent.Store(false)
	socket.wantPart(`"next"`, `{"tooSlow":{"n":0}}`)
	socket.wantPart(`"error"`, "SUBSCRIBER_TOO_SLOW")
	if n := admitted.Load(); n != 2 {
		t.Errorf("%d charges, want one when it begins, and one of its response", n)
	}
	spent.Store(true)
	admitted.Store(0)
	before := refused.Load()
	socket.subscribe("1", `subscription { tooSlow { n } }`)
	eventually(t, "the response waits", func() bool { return refused.Load() > before })
	socket.send(`{"id":"1","type":"complete"}`)
	socket.send(`{"type":"ping"}`)
	socket.want(`{"type":"pong"}`) // and no item of the subscription
}

// charges records what a server charges for all but the cost of operations.
type charges struct{ arrivals, work, owed atomic.Int64 }

func (c *charges) of(o *Options) {
	o.Execution.Arrive = func(context.Context) []execution.Quota { c.arrivals.Add(1); return nil }
	o.Execution.Work = func(_ context.Context, cost int) []execution.Quota { c.work.Add(int64(cost)); return nil }
	o.Execution.Owe = func(_ context.Context, cost int) { c.owed.Add(int64(cost)) }
}

// TestSizesAreCharged: of requests, of documents that are not known, and of answers.
func TestSizesAreCharged(t *testing.T) {
	t.Parallel()
	var charged charges
	s := newTestServer(t, func(o *Options) {
		o.HTTP.SignedOut = []string{"setText"}
		charged.of(o)
	})
	spaces, text := strings.Repeat(" ", 512), strings.Repeat("a", 10<<10)
	const stale = "Authorization: Bearer stale"
	for _, c := range []struct {
		what, body string
		headers    []string
		work, owed int64
	}{
		{"a short request", `{"query":"{viewer}"}`, nil, 0, 0},
		{"a document", `{"query":"{viewer} ` + spaces + `"}`, nil, 512/16 + 512/256, 0},
		{"the same one", `{"query":"{viewer} ` + spaces + `"}`, nil, 512 / 256, 0},
		{"an invalid document", `{"query":"{nothing}` + spaces + `"}`, nil, 512/16 + 512/256, 0},
		{"the same one", `{"query":"{nothing}` + spaces + `"}`, nil, 512/16 + 512/256, 0},
		{"a malformed document", `{"query":"{viewer ` + spaces + `"}`, nil, 512/16 + 512/256, 0},
		{"an invalid document with a stale token", `{"query":"{nothing}` + spaces + `"}`, []string{stale}, 512/16 + 512/256, 0},
		{"a malformed request", `{"query":` + spaces, nil, 512 / 256, 0},
		{"variables that are not declared", `{"query":"{viewer}","variables":{"v":"` + text + `"}}`, nil, 40, 0},
		{"a long answer", `{"query":"query($e:EchoInput!){echo(input:$e)}","variables":{"e":{"text":"` + text + `"}}}`, nil, 2 + 40, 10 - 1},
		{"a long document", `{"query":"{viewer} ` + strings.Repeat(" ", 64<<10) + `"}`, nil, 1024 + 256, 0},
	} {
		work, owed := charged.work.Load(), charged.owed.Load()
		got := s.post(t, c.body, c.headers...)
		if work, owed = charged.work.Load()-work, charged.owed.Load()-owed; work != c.work || owed != c.owed {
			t.Errorf("%s is charged %d and owes %d, want %d and %d: %.200s", c.what, work, owed, c.work, c.owed, got.body)
		}
	}
	before := charged.work.Load()
	s.do(t, "GET", "/graphql?query={viewer}&variables="+strings.Repeat("%20", 1024)+"{}", "")
	if got := charged.work.Load() - before; got != 12 {
		t.Errorf("a long query string is charged %d, want 12", got)
	}
	socket := s.open(t)
	work, owed := charged.work.Load(), charged.owed.Load()
	socket.subscribe("1", `{ echo(input: {text: "`+text+`"}) }`)
	socket.wantPart(`"next"`)
	if work, owed = charged.work.Load()-work, charged.owed.Load()-owed; work != 641+40 || owed != 9 {
		t.Errorf("on a socket %d are charged, and %d are owed, want 681 and 9", work, owed)
	}
	owed = charged.owed.Load()
	socket.subscribe("2", `subscription { tooSlow { `+strings.Repeat("a", 5<<10)+`: n } }`)
	socket.wantPart(`"complete"`)
	socket.wantPart(`"next"`)
	if owed = charged.owed.Load() - owed; owed != 5-2 {
		t.Errorf("%d are owed for an item of a subscription, want 3", owed)
	}
}

// TestMessagesAreCharged: a message of a socket that starts nothing is charged like the arrival of
// an operation, unless it is one that the protocol demands or that ends something.
func TestMessagesAreCharged(t *testing.T) {
	t.Parallel()
	var charged charges
	s := newTestServer(t, func(o *Options) {
		charged.of(o)
		o.Connections.Limits.Operations = 1
	})
	socket, legacy := s.open(t), s.openLegacy(t, `{}`)
	socket.subscribe("busy", `subscription { forever { n } }`)
	receive(t, s.resolver.Started)
	for _, c := range []struct {
		message        string
		arrivals, work int64
	}{
		{`{"type":"ping"}`, 1, 0},
		{`{"type":"ping","payload":{"a":"` + strings.Repeat("a", 10<<10) + `"}}`, 1, 40},
		{`{"id":"1","type":"subscribe","payload":{"query":"{viewer}","operationName":"\ud800"}}`, 1, 0},
		{`{"id":"1","type":"subscribe","payload":{"query":"{viewer}"}}`, 1, 0}, // too many operations
		{`{"type":"pong"}`, 0, 0},
		{`{"id":"none","type":"complete"}`, 0, 0},
	} {
		arrivals, work := charged.arrivals.Load(), charged.work.Load()
		socket.send(c.message)
		socket.send(`{"type":"ping"}`)
		for isLast := false; !isLast; { // the answer to the ping
			isLast = strings.Contains(socket.read(), `"pong"}`) && charged.arrivals.Load() > arrivals+c.arrivals
		}
		if arrivals, work = charged.arrivals.Load()-arrivals-1, charged.work.Load()-work; arrivals != c.arrivals || work != c.work {
			t.Errorf("%.80s is charged %d arrivals and %d, want %d and %d", c.message, arrivals, work, c.arrivals, c.work)
		}
	}
	before := charged.arrivals.Load()
	legacy.send(`{"type":"nothing"}`)
	legacy.wantPart(`connection_error`)
	if got := charged.arrivals.Load() - before; got != 1 {
		t.Errorf("a malformed message is charged %d arrivals", got)
	}
}

// TestRefusedMessagesWait: a limit delays a message that has no operation which could fail, and the
// socket stays open.
func TestRefusedMessagesWait(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*Options, func() []execution.Quota){
		"arrivals": func(o *Options, quotas func() []execution.Quota) {
			o.Execution.Arrive = func(context.Context) []execution.Quota { return quotas() }
		},
		"sizes": func(o *Options, quotas func() []execution.Quota) {
			o.Execution.Work = func(context.Context, int) []execution.Quota { return quotas() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var spent atomic.Bool
			var refused atomic.Int32
			s := newTestServer(t, func(o *Options) {
				limit(o, func() []execution.Quota {
					if !spent.Load() {
						return nil
					}
					refused.Add(1)
					return []execution.Quota{{Name: "address", Limit: 100, Window: time.Second, RetryAfter: time.Millisecond}}
				})
			})
			socket := s.open(t)
			spent.Store(true)
			socket.send(`{"type":"ping","payload":{"a":"` + strings.Repeat("a", 500) + `"}}`)
			eventually(t, "the ping waits", func() bool { return refused.Load() > 1 })
			spent.Store(false)
			socket.wantPart(`"pong"`)
			spent.Store(true)
			socket.send(`{"type":"ping","payload":{"a":"` + strings.Repeat("a", 500) + `"}}`)
			before := refused.Load()
			eventually(t, "the next ping waits", func() bool { return refused.Load() > before })
			_ = socket.Close() // ends the wait, or the server could not shut down
		})
	}
}

// TestTooMuchToRead: what a limit refuses is not decoded.
func TestTooMuchToRead(t *testing.T) {
	t.Parallel()
	var spent atomic.Bool
	s := newTestServer(t, func(o *Options) {
		o.Execution.Work = func(context.Context, int) []execution.Quota { return spentQuota(&spent) }
	})
	spent.Store(true)
	long := `{viewer}` + strings.Repeat(" ", 300)
	for what, got := range map[string]result{
		"a long request":            s.post(t, `{`+strings.Repeat(" ", 300)),
		"a document":                s.query(t, `{viewer nothing nothing}`),
		"a request for a new event": s.query(t, long, "Accept: text/event-stream"),
		"a query string":            s.do(t, "GET", "/graphql?query="+strings.Repeat("x", 300), ""),
	} {
		if got.status != 429 || got.code(t) != codes.RateLimited || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if n := s.operations.Load(); n != 0 {
		t.Errorf("%d operations ran", n)
	}
}
