package transport

import (
	"cmp"
	"time"

	"plaza/transport/connections"
	"plaza/transport/document"
	"plaza/transport/execution"
	"plaza/transport/sse"
	"plaza/transport/websocket"
)

// Options configure a [Server]. Execution.ErrorPresenter and Execution.Recover are required; every
// other zero field means its default.
type Options struct {
	// Documents configures which documents may run.
	Documents document.Options
	// Execution configures authentication, rate limits, middleware and errors.
	Execution execution.Options
	// HTTP configures requests with a single answer.
	HTTP HTTPOptions
	// Connections configures the limits of long-lived connections.
	Connections connections.Options
	// WebSocket configures websockets.
	WebSocket websocket.Options
	// Events configures server-sent events.
	Events sse.Options
}

// HTTPOptions configure GraphQL over HTTP.
type HTTPOptions struct {
	// SignedOut are mutations that run as anonymous if the Authorization is rejected: a program
	// that still sends an old token can sign in. On a websocket or an event stream they need a
	// valid token or none.
	SignedOut []string

	// PublicMaxAge is how long caches may keep what a signed-out client reads by GET without asking
	// again. Deleted or hidden items can stay visible there for that time. In whole seconds.
	// Default 0.
	PublicMaxAge time.Duration
	// Once are fields of Query with a new answer for each request, such as a choice of ads, each of
	// which counts once. Answers with one of these fields are not cached. Default: none.
	Once []string

	// MaxBodyBytes bounds a request's body. Default 1 MiB, as for a message on a websocket.
	MaxBodyBytes int64
	// BodyTimeout is how long a client may take to send its body. Default 30 s.
	BodyTimeout time.Duration
}

func (o HTTPOptions) withDefaults() HTTPOptions {
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, 1<<20)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 30*time.Second)
	return o
}
