package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Charge is what an operation is about to use.
type Charge struct {
	Cost   int // its requested [Cost]
	Writes int // the root fields of a mutation
}

// Quota is the state of one rate limit after a charge.
type Quota struct {
	Name       string // of the limit, in lower-case letters and "-"
	Limit      int    // how much may be used at once
	Remaining  int    // how much may be used now
	Window     time.Duration
	Reset      time.Duration // until Remaining is Limit; after Window it surely is
	RetryAfter time.Duration // not 0: the limit refuses this request, and admits it in this time
}

// chargeOf is what running an operation is charged.
func (s *Server) chargeOf(op *operation) Charge {
	charge := Charge{Cost: op.cost.Requested}
	if op.kind() == ast.Mutation {
		charge.Writes = len(s.rootFields(op))
	}
	return charge
}

// rootFields are the names of the root fields of a query or mutation.
func (s *Server) rootFields(op *operation) (names []string) {
	root := s.schema.Schema().Query.Name
	if op.kind() == ast.Mutation {
		root = s.schema.Schema().Mutation.Name
	}
	for _, field := range graphql.CollectFields(op.context, op.context.Operation.SelectionSet, []string{root}) {
		names = append(names, field.Name)
	}
	return names
}

// arrive counts a request before anything of it is read.
func (s *Server) arrive(ctx context.Context) *gqlerror.Error {
	return exhausted(s.options.Arrive(ctx))
}

// longest is the quota that takes longest to recover; its RetryAfter is 0 if none refuses.
func longest(quotas []Quota) (found Quota) {
	for _, q := range quotas {
		if q.RetryAfter > found.RetryAfter {
			found = q
		}
	}
	return found
}

// exhausted is the error of the quota that takes longest to recover; nil if none refuses.
func exhausted(quotas []Quota) *gqlerror.Error {
	refused := longest(quotas)
	if refused.RetryAfter == 0 {
		return nil
	}
	wait := wholeSeconds(refused.RetryAfter)
	err := newError(CodeRateLimited, "too many requests (limit: %s): try again in %d s", refused.Name, wait)
	err.Extensions["limit"] = refused.Name
	err.Extensions["retryAfter"] = wait
	return err
}

func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// setQuotas writes the headers of draft-ietf-httpapi-ratelimit-headers-10: what each limit admits,
// and what is left of it.
func setQuotas(header http.Header, quotas []Quota) {
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

// rateLimited says whether limits refused all that was requested, and after how many seconds the
// client may try again.
func (a *answer) rateLimited() (retryAfter int, limited bool) {
	for _, err := range a.errors {
		if errorCode(err) != CodeRateLimited {
			return 0, false
		}
		seconds, _ := err.Extensions["retryAfter"].(int)
		retryAfter = max(retryAfter, seconds)
	}
	return retryAfter, len(a.errors) > 0 && isEmpty(a.data)
}

// isEmpty says whether data has only nulls at its root.
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

// limitStatus makes an answer that says only RATE_LIMITED a 429.
func limitStatus(header http.Header, status int, a *answer) int {
	retryAfter, limited := a.rateLimited()
	if !limited {
		return status
	}
	header.Set("Retry-After", strconv.Itoa(max(1, retryAfter)))
	return http.StatusTooManyRequests
}
