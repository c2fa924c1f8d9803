package execution

import (
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/document"
)

// Charge is what an operation will use of the limits.
type Charge struct {
	Cost   int // its requested [document.Cost], and that of its beginning
	Writes int // the root fields of a mutation
}

// chargeOf returns the charge for an operation.
func chargeOf(op *document.Operation) Charge {
	charge := Charge{Cost: op.Cost.Requested + op.Cost.Beginning}
	if op.Kind() == ast.Mutation {
		charge.Writes = len(op.RootFields())
	}
	return charge
}

// Quota is the state of one rate limit after a charge.
type Quota struct {
	Name       string // of the limit, in lower-case letters and "-"
	Limit      int    // how much may be used at once
	Remaining  int    // how much may be used now
	Window     time.Duration
	Reset      time.Duration // until Remaining is Limit again, which takes at most Window
	RetryAfter time.Duration // not 0: the limit refuses this request, and will admit it after this time
}

// longest returns the refusing quota that takes longest to recover. Its RetryAfter is 0 if none
// refuses.
func longest(quotas []Quota) (found Quota) {
	for _, q := range quotas {
		if q.RetryAfter > found.RetryAfter {
			found = q
		}
	}
	return found
}

// exhausted returns the error of the quota that takes longest to recover, or nil if none refuses.
func exhausted(quotas []Quota) *gqlerror.Error {
	refused := longest(quotas)
	if refused.RetryAfter == 0 {
		return nil
	}
	wait := int((refused.RetryAfter + time.Second - 1) / time.Second)
	err := codes.Errorf(codes.RateLimited, "too many requests (limit: %s): try again in %d s", refused.Name, wait)
	err.Extensions["limit"] = refused.Name
	err.Extensions["retryAfter"] = wait
	return err
}
