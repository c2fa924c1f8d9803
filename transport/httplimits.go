package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"plaza/transport/codes"
	"plaza/transport/execution"
)

func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// setQuotas sets the headers of draft-ietf-httpapi-ratelimit-headers-10: what each limit admits,
// and what is left of it.
func setQuotas(header http.Header, quotas []execution.Quota) {
	if len(quotas) == 0 {
		return
	}
	policies, states := make([]string, len(quotas)), make([]string, len(quotas))
	for i, q := range quotas {
		policies[i] = fmt.Sprintf("%q;q=%d;w=%d", q.Name, q.Limit, wholeSeconds(q.Window))
		states[i] = fmt.Sprintf("%q;r=%d;t=%d", q.Name, q.Remaining, wholeSeconds(q.Reset))
	}
	header.Set("RateLimit-Policy", strings.Join(policies, ", "))
	header.Set("RateLimit", strings.Join(states, ", "))
}

// rateLimited reports whether limits refused all that was requested, and after how many seconds the
// client may try again.
func rateLimited(a *execution.Answer) (retryAfter int, limited bool) {
	for _, err := range a.Errors {
		if codes.Of(err) != codes.RateLimited {
			return 0, false
		}
		seconds, _ := err.Extensions["retryAfter"].(int)
		retryAfter = max(retryAfter, seconds)
	}
	return retryAfter, len(a.Errors) > 0 && isEmpty(a.Data)
}

// isEmpty reports whether data has only nulls at its root.
func isEmpty(data json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if data != nil && json.Unmarshal(data, &fields) != nil {
		return false
	}
	for _, value := range fields {
		if !bytes.Equal(value, []byte("null")) {
			return false
		}
	}
	return true
}

// limitStatus returns status 429 for an answer that contains only RATE_LIMITED errors.
func limitStatus(header http.Header, status int, a *execution.Answer) int {
	retryAfter, limited := rateLimited(a)
	if !limited {
		return status
	}
	header.Set("Retry-After", strconv.Itoa(max(1, retryAfter)))
	return http.StatusTooManyRequests
}
