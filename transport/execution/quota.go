package execution

import (
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/document"
)

// Charge is what an operation is about to use.
type Charge struct {
	Cost   int // its requested [document.Cost]
	Writes int // the root fields of a mutation
}

// chargeOf is what running an operation is charged.
func chargeOf(op *document.Operation) Charge {
	charge := Charge{Cost: op.Cost.Requested}
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
	Reset      time.Duration // until Remaining is Limit; after Window it surely is
	RetryAfter time.Duration // not 0: the limit refuses this request, and admits it in this time
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
	wait := int((refused.RetryAfter + time.Second - 1) / time.Second)
	err := codes.Errorf(codes.RateLimited, "too many requests (limit: %s): try again in %d s", refused.Name, wait)
	err.Extensions["limit"] = refused.Name
	err.Extensions["retryAfter"] = wait
	return err
}
