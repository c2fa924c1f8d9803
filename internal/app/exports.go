package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"plaza/fault"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/transport/codes"
	"plaza/transport/execution"
)

// maxExports is how many exports of one user, whole or of comments, a server writes at a time.
const maxExports = 2

// exports admits exports: whole ones, and those of comments.
type exports struct {
	authenticate authenticator
	limits       *limits
	refused      func(ctx context.Context, code string)
	running      running
}

// authenticator is the type of execution.Options.Authenticate.
type authenticator func(ctx context.Context, authorization string) (context.Context, error)

// begin charges the first page of an export, and counts the export until end is called. It reports
// false, and answers 429, if a rate limit refuses the page, or if the user has maxExports.
func (e *exports) begin(ctx context.Context, w http.ResponseWriter, page execution.Charge) bool {
	after := 10 * time.Second
	if e.running.begin(gate.UserOf(ctx)) {
		if after = retryAfter(e.limits.charge(ctx, page)); after <= 0 {
			return true
		}
		e.end(ctx)
	}
	e.refused(ctx, codes.RateLimited)
	refuseFor(w, after)
	return false
}

// next waits until the limits admit another page. It returns an error if the session or ctx has
// ended.
func (e *exports) next(ctx context.Context, authorization string, page execution.Charge) error {
	if err := e.limits.await(ctx, page); err != nil {
		return err
	}
	ctx, err := e.authenticate(ctx, authorization)
	if err == nil && gate.UserOf(ctx).IsZero() {
		err = fault.Errorf(fault.CodeUnauthenticated, "", "The session has ended.")
	}
	return err
}

func (e *exports) end(ctx context.Context) { e.running.end(gate.UserOf(ctx)) }

// running counts the exports of each user that a server writes.
type running struct {
	mu sync.Mutex
	of map[social.UserID]int
}

// begin reports whether the user may have another export, and counts it.
func (r *running) begin(user social.UserID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[social.UserID]int{}
	}
	if r.of[user] >= maxExports {
		return false
	}
	r.of[user]++
	return true
}

func (r *running) end(user social.UserID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of[user]--; r.of[user] == 0 {
		delete(r.of, user)
	}
}
