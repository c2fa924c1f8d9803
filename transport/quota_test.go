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
	socket.want(`{"type":"pong"}`) // and nothing of the subscription
}
