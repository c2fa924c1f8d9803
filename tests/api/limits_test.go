package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/internal/plazatest"
)

// signIn returns the body of an attempt to sign in.
func signIn(t testing.TB, handle, password string) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"query":     `mutation($in: SignInInput!) { signIn(input: $in) { token userErrors { code } } }`,
		"variables": map[string]any{"in": map[string]any{"handle": handle, "password": password}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// outcomeOf returns the result of an attempt to sign in: IN, or an error's code.
func outcomeOf(t testing.TB, p plazatest.Person, handle, password string) (code string, response *http.Response) {
	t.Helper()
	response, body := p.Send(t, signIn(t, handle, password))
	var answer struct {
		Data struct {
			SignIn struct {
				Token      string
				UserErrors []struct{ Code string }
			}
		}
		Errors []struct{ Extensions struct{ Code string } }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	switch {
	case len(answer.Errors) > 0:
		return answer.Errors[0].Extensions.Code, response
	case len(answer.Data.SignIn.UserErrors) > 0:
		return answer.Data.SignIn.UserErrors[0].Code, response
	case answer.Data.SignIn.Token != "":
		return "IN", response
	}
	t.Fatalf("a strange answer: %s", body)
	return "", nil
}

// untilRefused repeats an attempt until a limit refuses it, and checks how many attempts the limit
// admitted: a full bucket, and one more for each refill period.
func untilRefused(t *testing.T, bucket int, refill time.Duration, attempt func(i int) (code string)) {
	t.Helper()
	began, admitted := time.Now(), 0
	for attempt(admitted) != "RATE_LIMITED" {
		admitted++
	}
	if most := bucket + int(time.Since(began)/refill) + 1; admitted < bucket || admitted > most {
		t.Errorf("%d attempts were admitted, want %d to %d", admitted, bucket, most)
	}
}

// TestGuessingPasswords: a client has ten wrong tries at a handle, whether it exists or not. The
// owner, who uses another address, can still sign in.
func TestGuessingPasswords(t *testing.T) {
	t.Parallel()
	plaza := plazatest.ServeLimited(t, plazatest.Engines[0].Open(t))
	plaza.As(t, "ada")
	for _, handle := range []string{"ada", "unknown"} {
		untilRefused(t, 10, time.Minute, func(i int) string {
			p := plazatest.Person{URL: plaza.URL, At: fmt.Sprintf("2001:db8:0:1::%d", i)} // one /64
			tried := []string{handle, strings.ToUpper(handle)}[i%2]
			got, response := outcomeOf(t, p, tried, "wrong")
			if limited := response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") != ""; limited != (got == "RATE_LIMITED") {
				t.Errorf("%s has status %d, Retry-After %q", got, response.StatusCode, response.Header.Get("Retry-After"))
			}
			return got
		})
	}
	for i := range 70 { // correct passwords are not counted
		if got, _ := outcomeOf(t, plazatest.Person{URL: plaza.URL, At: "2001:db8:0:2::1"}, "ada", "password of ada"); got != "IN" {
			t.Fatalf("sign-in %d from another address: %s", i, got)
		}
	}
}

// TestServersLimitSeparately: on each of two servers, a client has ten wrong tries at a handle.
func TestServersLimitSeparately(t *testing.T) {
	t.Parallel()
	first := plazatest.ServeLimited(t, plazatest.Engines[0].Open(t))
	second := plazatest.ServeLimited(t, unclosed{first.Store})
	first.As(t, "ada")
	for _, url := range []string{first.URL, second.URL} {
		untilRefused(t, 10, time.Minute, func(int) string {
			code, _ := outcomeOf(t, plazatest.Person{URL: url, At: "198.51.100.1"}, "ada", "wrong")
			return code
		})
	}
}

// TestGuessingHandles: a client has 60 wrong tries at different handles, and 20 new accounts.
func TestGuessingHandles(t *testing.T) {
	t.Parallel()
	plaza := plazatest.ServeLimited(t, plazatest.Engines[0].Open(t))
	attacker := plazatest.Person{URL: plaza.URL, At: "198.51.100.1"}
	untilRefused(t, 60, 3*time.Second, func(i int) string {
		got, _ := outcomeOf(t, attacker, fmt.Sprintf("person%d", i), "wrong")
		return got
	})
	untilRefused(t, 20, time.Minute, func(i int) string {
		answer := attacker.Raw(t, fmt.Sprintf(`mutation { signUp(input: {handle: "h%d", name: "H", password: "a password"}) { token userErrors { code } } }`, i))
		if strings.Contains(answer, `"RATE_LIMITED"`) {
			return "RATE_LIMITED"
		}
		return "IN"
	})
	if got, _ := outcomeOf(t, plazatest.Person{URL: plaza.URL, At: "198.51.100.2"}, "h1", "a password"); got != "IN" {
		t.Errorf("from another address: %s", got)
	}
}

// TestFloodOfPasswords: while 200 connections of one client try passwords, another client signs in
// every time.
func TestFloodOfPasswords(t *testing.T) {
	plaza := plazatest.ServeLimited(t, plazatest.Engines[0].Open(t))
	plaza.As(t, "ada")
	var tries, refused atomic.Int64
	began := time.Now()
	stop := make(chan struct{})
	var flood sync.WaitGroup
	for range 200 {
		flood.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				got, _ := outcomeOf(t, plazatest.Person{URL: plaza.URL, At: "198.51.100.1"}, fmt.Sprintf("person%d", i), "wrong")
				tries.Add(1)
				if got == "RATE_LIMITED" {
					refused.Add(1)
				}
			}
		})
	}
	plazatest.WaitFor(t, "the flood is refused", func() bool { return refused.Load() > 0 })
	times := make([]time.Duration, 10)
	for i := range times {
		start := time.Now()
		if got, _ := outcomeOf(t, plazatest.Person{URL: plaza.URL, At: "203.0.113.9"}, "ada", "password of ada"); got != "IN" {
			t.Errorf("sign-in %d: %s", i, got)
		}
		times[i] = time.Since(start)
	}
	close(stop)
	flood.Wait()
	slices.Sort(times)
	t.Logf("%d tries, %d refused; a correct sign-in takes %v (median), %v (9 of 10)", tries.Load(), refused.Load(), times[5], times[8])
	most := 60 + int64(time.Since(began)/(3*time.Second)) + 1
	if admitted := tries.Load() - refused.Load(); admitted > most {
		t.Errorf("%d tries were admitted, want at most %d", admitted, most)
	}
}

// TestStaleTokenSignsIn: a program that still sends an old token can sign in and up, and do nothing
// else.
func TestStaleTokenSignsIn(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	stale := plaza.As(t, "ada")
	stale.Raw(t, `mutation { signOut { userErrors { code } } }`)
	if got, _ := outcomeOf(t, stale, "ada", "password of ada"); got != "IN" {
		t.Errorf("signIn: %s", got)
	}
	if got := stale.Raw(t, `mutation { signUp(input: {handle: "bob", name: "Bob", password: "a password"}) { viewer { user { handle } } } }`); !strings.Contains(got, `"bob"`) {
		t.Errorf("signUp: %s", got)
	}
	if got := stale.Raw(t, `{ viewer { id } }`); !strings.Contains(got, "UNAUTHENTICATED") {
		t.Errorf("viewer: %s", got)
	}
}

// TestWritesAreLimited: a user has a burst of 300 mutations, in all sessions and from all addresses
// together. Answers show how many are left.
func TestWritesAreLimited(t *testing.T) {
	t.Parallel()
	server := plazatest.ServeLimited(t, plazatest.Engines[0].Open(t))
	ada := server.As(t, "ada")
	var hundred strings.Builder
	for i := range 100 {
		fmt.Fprintf(&hundred, `a%d: followUser(input: {userId: "none"}) { userErrors { code } } `, i)
	}
	body, err := json.Marshal(map[string]string{"query": `mutation { ` + hundred.String() + `}`})
	if err != nil {
		t.Fatal(err)
	}
	began, admitted := time.Now(), 0
	for {
		ada.At = fmt.Sprintf("198.51.100.%d", admitted)
		response, _ := ada.Send(t, body)
		if !strings.Contains(response.Header.Get("RateLimit"), `"writes";r=`) {
			t.Errorf("RateLimit: %s", response.Header.Get("RateLimit"))
		}
		if response.StatusCode == http.StatusTooManyRequests {
			break
		}
		admitted++
	}
	if most := 3 + int(time.Since(began)/(50*time.Second)) + 1; admitted < 3 || admitted > most {
		t.Errorf("%d hundreds of mutations were admitted", admitted)
	}
	if answer := ada.Raw(t, `{ viewer { id } }`); strings.Contains(answer, "RATE_LIMITED") {
		t.Errorf("reading is limited, too: %s", answer)
	}
	bob := server.As(t, "bob")
	if response, _ := bob.Send(t, body); response.StatusCode != http.StatusOK {
		t.Errorf("another user gets %d", response.StatusCode)
	}
}

// TestSessionsAndUsersAreLimitedByCost: each session of a user can spend 300,000, and all of them
// together 600,000, before they wait for the refill, whatever addresses they use.
func TestSessionsAndUsersAreLimitedByCost(t *testing.T) {
	t.Parallel()
	server := plazatest.ServeLimited(t, plazatest.Engines[0].Open(t))
	began := time.Now()
	mustSpend := func(spent, bucket int) {
		t.Helper()
		refilled := int(time.Since(began).Seconds() * float64(bucket) / 30)
		if spent < bucket-expensiveCost || spent > bucket+refilled {
			t.Errorf("%d were spent, want up to %d and a refill of %d", spent, bucket, refilled)
		}
	}
	ada := server.As(t, "ada")
	all, limit := spend(t, ada)
	if mustSpend(all, 300_000); limit != "token" {
		t.Errorf("one session is refused by the limit %q", limit)
	}
	for limit != "user" {
		ada, _ = signInAgain(t, ada, "ada")
		var spent int
		spent, limit = spend(t, ada)
		all += spent
	}
	mustSpend(all, 600_000)
	if spent, limit := spend(t, server.As(t, "bob")); spent < 300_000-expensiveCost || limit != "token" {
		t.Errorf("another user spends %d, and is refused by the limit %q", spent, limit)
	}
}

// expensive costs much before it finds out that there is no such user.
const expensive = `{ user(handle: "none") { posts(first: 100) { nodes { comments(first: 23) { nodes { text } } } } } }`

// expensiveCost is more than an operation with expensive costs.
const expensiveCost = 10_000

// spend repeats an expensive query from many addresses until a limit refuses it. It returns the cost
// of those that were admitted, and the limit's name.
func spend(t *testing.T, p plazatest.Person) (spent int, limit string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": expensive})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		p.At = fmt.Sprintf("198.51.100.%d", i%256)
		response, answer := p.Send(t, body)
		if response.StatusCode == http.StatusTooManyRequests {
			quotas := strings.Split(response.Header.Get("RateLimit"), `"`)
			return spent, quotas[len(quotas)-2] // the last one is the one that refuses
		}
		var admitted struct {
			Extensions struct {
				Cost struct{ RequestedQueryCost int }
			}
		}
		err := json.Unmarshal(answer, &admitted)
		cost := admitted.Extensions.Cost.RequestedQueryCost
		if err != nil || cost < 1_000 || cost > expensiveCost {
			t.Fatalf("%v: %s", err, answer)
		}
		spent += cost
	}
}
