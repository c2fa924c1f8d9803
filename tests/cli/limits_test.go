package cli

import (
	"net/http"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestRateLimitsCanBeTurnedOff: by default a server refuses the eleventh wrong password, and tells
// clients how much is left. With --rate-limits=off it does neither.
func TestRateLimitsCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	for setting, isLimited := range map[string]bool{"on": true, "off": false} {
		server := plazatest.StartProcess(t, "--rate-limits="+setting, "--drain-delay=0s")
		anyone := plazatest.Person{URL: server.URL(t)}
		var last *http.Response
		var answer []byte
		for range 11 {
			last, answer = anyone.Send(t, []byte(`{"query": "mutation { signIn(input: {handle: \"ada\", password: \"wrong\"}) { userErrors { code } } }"}`))
		}
		if code := map[bool]string{true: "RATE_LIMITED", false: "BAD_CREDENTIALS"}[isLimited]; !strings.Contains(string(answer), code) {
			t.Errorf("%s: the answer is %s, want %s", setting, answer, code)
		}
		if header := last.Header.Get("RateLimit"); (header != "") != isLimited {
			t.Errorf("%s: the header RateLimit is %q", setting, header)
		}
	}
}
