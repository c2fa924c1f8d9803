package passwords

import (
	"context"
	"errors"
	"testing"
	"time"

	"plaza/fault"
	"plaza/ratelimit"
)

// TestRefusedAttemptsLeaveTheAddress: a client that repeats attempts at one handle, all of which
// are refused, uses up only those at that handle.
func TestRefusedAttemptsLeaveTheAddress(t *testing.T) {
	t.Parallel()
	limit := func(burst int) *ratelimit.Limit {
		return ratelimit.New(ratelimit.Policy{Name: "test", Burst: burst, Window: 10_000 * time.Hour})
	}
	l := &Limits{Addresses: limit(10), Guesses: limit(3), Handles: limit(100)}
	wrong := fault.Errorf(fault.CodeBadCredentials, "", "The password is wrong.")
	for i := range 50 {
		attempt, err := l.Attempt("192.0.2.1", "ada")
		if refused, ok := errors.AsType[*fault.Error](err); i < 3 && err != nil || i >= 3 && (!ok || refused.Code != fault.CodeRateLimited) {
			t.Fatalf("attempt %d at ada: %v", i, err)
		}
		if err == nil {
			attempt.Over(wrong)
		}
	}
	attempt, err := l.Attempt("192.0.2.1", "ben")
	if err != nil {
		t.Fatalf("an attempt at another handle: %v", err)
	}
	attempt.Over(wrong)
	if used := l.Addresses.Take("192.0.2.1", 1).Used(); used != 5 {
		t.Errorf("the address has used %d, want 5: three wrong passwords for ada, one for ben, and this", used)
	}
}

// TestOnlyRefusalsCount: an attempt that ends without a verdict leaves its limits as they were.
func TestOnlyRefusalsCount(t *testing.T) {
	t.Parallel()
	limit := func() *ratelimit.Limit { // which does not refill while the test runs
		return ratelimit.New(ratelimit.Policy{Name: "test", Burst: 10, Window: 10_000 * time.Hour})
	}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 1},
		{context.Canceled, 1},
		{fault.ErrUnavailable, 1},
		{(&queue{}).errFull(), 1},
		{fault.Errorf(fault.CodeNotAllowed, "", "There is no password."), 1},
		{fault.Errorf(fault.CodeBadCredentials, "", "The password is wrong."), 2},
	} {
		l := &Limits{Addresses: limit(), Guesses: limit(), Handles: limit()}
		attempt, err := l.Attempt("192.0.2.1", "ada")
		if err != nil {
			t.Fatal(err)
		}
		attempt.Over(c.err)
		for _, limit := range []struct {
			of  *ratelimit.Limit
			key string
		}{{l.Addresses, "192.0.2.1"}, {l.Guesses, "192.0.2.1 ada"}, {l.Handles, "ada"}} {
			if used := limit.of.Take(limit.key, 1).Used(); used != c.want {
				t.Errorf("after %v, the next attempt at %q is number %d, want %d", c.err, limit.key, used, c.want)
			}
		}
	}
}
