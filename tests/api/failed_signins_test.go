package api

import (
	"context"
	"errors"
	"testing"
	"time"

	"plaza/fault"
	"plaza/internal/plazatest"
	"plaza/ratelimit"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/social/passwords"
	"plaza/storage"
)

// forgottenHash is a store that fails to read the hashes of passwords while it is broken.
type forgottenHash struct {
	storage.Store

	broken bool
}

func (s *forgottenHash) PasswordHash(ctx context.Context, handle string) (social.UserID, string, error) {
	if s.broken {
		return social.UserID{}, "", social.ErrUnavailable
	}
	return s.Store.PasswordHash(ctx, handle)
}

// TestFailuresAreNoGuesses: an attempt to sign in, or to confirm a password, counts only if the
// password or the token was refused.
func TestFailuresAreNoGuesses(t *testing.T) {
	t.Parallel()
	const tries = 3
	limit := func() *ratelimit.Limit { // which does not refill while the test runs
		return ratelimit.New(ratelimit.Policy{Name: "test", Burst: tries, Window: 10_000 * time.Hour})
	}
	st := &forgottenHash{Store: plazatest.Engines[0].Open(t)}
	options := plazatest.Cheap
	options.Accounts.Limits = &passwords.Limits{Addresses: limit(), Guesses: limit(), Handles: limit()}
	service := network.New(st, options)
	ada, _, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "password of ada"})
	if err != nil {
		t.Fatal(err)
	}
	signIn := func(password string) error {
		_, _, err := service.SignIn(t.Context(), accounts.Credentials{Handle: "ada", Password: password})
		return err
	}
	signInWith := func(err error) error {
		verify := func(context.Context) (social.Assertion, error) { return social.Assertion{}, err }
		_, _, err = service.SignInWith(t.Context(), accounts.IDToken{Verify: verify})
		return err
	}
	confirm := func(password string) error {
		return service.ChangePassword(t.Context(), ada, password, "password of ada")
	}
	for range tries + 1 {
		st.broken = true
		for what, c := range map[string]struct{ got, want error }{
			"a sign-in without a database":       {signIn("password of ada"), social.ErrUnavailable},
			"a confirmation without a database":  {confirm("password of ada"), social.ErrUnavailable},
			"an ID token while its issuer fails": {signInWith(social.ErrIssuerUnavailable), social.ErrIssuerUnavailable},
			"a client that leaves":               {signInWith(context.Canceled), context.Canceled},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: %v, want %v", what, c.got, c.want)
			}
		}
		st.broken = false
		if err := errors.Join(signIn("password of ada"), confirm("password of ada")); err != nil {
			t.Errorf("the right password: %v", err)
		}
	}
	for i := range tries + 1 {
		want := fault.CodeBadCredentials
		if i == tries {
			want = fault.CodeRateLimited
		}
		for what, err := range map[string]error{"a sign-in": signIn("wrong"), "a confirmation": confirm("wrong")} {
			if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != want {
				t.Errorf("%s with a wrong password, try %d: %v, want %s", what, i+1, err, want)
			}
		}
	}
}
