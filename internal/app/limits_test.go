package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plaza/ratelimit"
	"plaza/social"
	"plaza/transport"
)

// hourly is a limit that does not refill while a test runs.
func hourly(name string, burst int) *ratelimit.Limit {
	return ratelimit.New(ratelimit.Policy{Name: name, Burst: burst, Window: time.Hour})
}

// serve answers a request of a client.
func serve(s *Server, client, method, target, authorization string) *httptest.ResponseRecorder {
	request, recorder := httptest.NewRequest(method, target, nil), httptest.NewRecorder()
	request.RemoteAddr = client + ":1"
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	s.Handler.ServeHTTP(recorder, request)
	return recorder
}

// TestEveryEndpointIsLimited: requests that are not GraphQL count for their address, too.
func TestEveryEndpointIsLimited(t *testing.T) {
	t.Parallel()
	for _, target := range []string{clickPath + "x", impressionPath + "x", conversionPath + "x", exportPath} {
		limiting := newLimits()
		limiting.clients = hourly("address", 3*arrivalCost)
		s := newServer(openFile(t), &Config{}, limiting, nil)
		for range 3 {
			if got := serve(s, "198.51.100.1", http.MethodGet, target, ""); got.Code == http.StatusTooManyRequests {
				t.Errorf("%s: limited within the limit", target)
			}
		}
		got := serve(s, "198.51.100.1", http.MethodGet, target, "")
		if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", target, got.Code, got.Header())
		}
		if got := serve(s, "198.51.100.2", http.MethodGet, target, ""); got.Code == http.StatusTooManyRequests {
			t.Errorf("%s: another address is limited", target)
		}
	}
}

// TestExportsAreCharged: each page of an export counts like operations of its user.
func TestExportsAreCharged(t *testing.T) {
	t.Parallel()
	st := openFile(t)
	limiting := newLimits()
	limiting.tokens = hourly("token", 2*exportCharge.Cost)
	s := newServer(st, &Config{Social: social.Options{Passwords: social.PasswordCost{Passes: 1, Memory: 64}}}, limiting, nil)
	_, token, err := s.social.SignUp(t.Context(), social.SignUpInput{Handle: "ada", Name: "Ada", Password: "a password"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		got := serve(s, "198.51.100.1", http.MethodGet, exportPath, "Bearer "+token)
		if got.Code != want || want == http.StatusTooManyRequests && !strings.Contains(got.Body.String(), "try again in") {
			t.Errorf("export %d: %d %s", i, got.Code, got.Body)
		}
	}
}

// TestAwait: what a limit refuses waits until it is admitted, or until its context ends.
func TestAwait(t *testing.T) {
	t.Parallel()
	limiting := newLimits()
	limiting.clients = ratelimit.New(ratelimit.Policy{Name: "address", Burst: 10, Window: 10 * time.Millisecond})
	began := time.Now()
	for range 5 { // the first finds a full bucket
		if err := limiting.await(t.Context(), transport.Charge{Cost: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("five full buckets are admitted within %v", took)
	}
	limiting.clients = hourly("address", 10)
	limiting.clients.Take("", 10)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := limiting.await(ended, transport.Charge{Cost: 10}); err == nil {
		t.Error("an ended context is admitted")
	}
	if err := (*limits)(nil).await(t.Context(), transport.Charge{Cost: 10}); err != nil {
		t.Errorf("without limits: %v", err)
	}
}

// TestExportEndsWithItsSession: no page follows the one during which the session ends.
func TestExportEndsWithItsSession(t *testing.T) {
	t.Parallel()
	ended := errors.New("the session has ended")
	e := &export{authenticate: func(ctx context.Context, _ string) (context.Context, error) { return ctx, ended }}
	if err := e.continues(t.Context(), "Bearer x", social.Page{After: "position"}); !errors.Is(err, ended) {
		t.Errorf("the export goes on: %v", err)
	}
}
