package transport

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// Options configure a [Server]. ErrorPresenter and Recover are required; every other zero field
// means its default.
type Options struct {
	// Limits bound what a document may request.
	Limits Limits

	// Authenticate converts an Authorization header's value ("" if there is none, which normally
	// means anonymous and no error) to the context that the operation runs in. It is called once
	// for each HTTP request. On a websocket it is called once for connection_init, with the
	// "Authorization" of its payload (or else the handshake's header), and again with the same
	// value for each operation, because a token can be revoked in between. It may be called from
	// many goroutines. The returned context must derive from the given one. Default: everyone is
	// anonymous.
	//
	// An error rejects the request: 401 over HTTP; a websocket is closed with 4403. If
	// ErrorPresenter turns it into INTERNAL (an unavailable database), it is 500 over HTTP, 1011 in
	// connection_init, and an error message for an operation.
	Authenticate func(ctx context.Context, authorization string) (context.Context, error)
	// SignedOut are mutations that run as anonymous if Authenticate rejects the header: a program
	// that still sends an old token can sign in. On a websocket they need a valid token or none.
	SignedOut []string
	// SessionKey names the session that an authenticated context belongs to, for
	// [Server.CloseSession]; "" for none. A token's hash serves well.
	SessionKey func(ctx context.Context) string

	// AroundOperations wrap each operation, the first outermost: this is where loaders are
	// installed for queries and mutations.
	AroundOperations []graphql.OperationMiddleware
	// AroundResponses wrap each response: one of a query or mutation, and each that is executed for
	// an event of a subscription.
	AroundResponses []graphql.ResponseMiddleware

	// ErrorPresenter converts an error that a resolver, Authenticate or Recover returned to the
	// error that a client sees; [RequestID] identifies the request. Required.
	ErrorPresenter graphql.ErrorPresenterFunc
	// Recover converts a panic to an error. Required.
	Recover graphql.RecoverFunc

	// Arrive counts a request, the handshake of a websocket or an operation on one, before anything
	// of it is read. Charge counts an operation before it runs, in its authenticated context. A
	// Quota with a RetryAfter rejects it with CodeRateLimited: status 429, or an error message on a
	// websocket. Answers over HTTP carry the quotas of Charge as RateLimit headers. Both may be
	// called from many goroutines. Default: no limits.
	Arrive func(ctx context.Context) []Quota
	Charge func(ctx context.Context, charge Charge) []Quota

	// Refused is called with the code of each request or operation that is rejected before it runs.
	// It may be called from many goroutines. Default: none.
	Refused func(ctx context.Context, code string)

	// TrustedDocuments are documents that clients can run by their ids: the keys, and "sha256:" with
	// the hash of the text. With OnlyTrusted nothing else runs, and clients cannot register others.
	TrustedDocuments map[string]string
	OnlyTrusted      bool
	// CachedDocuments is how many parsed and validated documents are kept, least recently used out
	// first. Default 500. Queries over 16 KiB are not kept.
	CachedDocuments int
	// OperationTimeout ends queries and mutations, not subscriptions. Default 30 s.
	OperationTimeout time.Duration

	// PublicMaxAge is how long caches may keep what a signed-out client reads by GET, without asking
	// again: what is deleted or hidden remains visible there as long. In whole seconds. Default 0.
	PublicMaxAge time.Duration
	// Once are fields of Query with a new answer for each request, such as a choice of ads, of which
	// each counts once: answers with one of them are not cached. Default: none.
	Once []string

	// MaxBodyBytes bounds an HTTP request's body. Default 4 MiB.
	MaxBodyBytes int64
	// BodyTimeout is how long a client may take to send its body. Default 30 s.
	BodyTimeout time.Duration

	// AllowedOrigins are the web origins ("https://plaza.example") whose pages may open a
	// websocket, besides the server's own; "*" allows all. Programs that send no Origin are always
	// allowed.
	AllowedOrigins []string
	// MaxMessageBytes bounds one websocket message from a client; more closes with 1009. Default 1
	// MiB.
	MaxMessageBytes int64
	// SocketLimits limit websockets. ClientOf names the client of a handshake's context, such as its
	// address, and UserOf the user of an authenticated context, "" if signed out; SocketRefused is
	// called with the name of a limit that is reached. The functions may be called from many
	// goroutines. Default: all have the same client, and all are signed out.
	SocketLimits  SocketLimits
	ClientOf      func(ctx context.Context) string
	UserOf        func(ctx context.Context) string
	SocketRefused func(limit string)
	// InitTimeout is how long a client may take to send connection_init; then 4408. Default 10 s.
	InitTimeout time.Duration
	// WriteTimeout is how long one message or ping to a client may take; a client that does not
	// read is cut off then. Default PingInterval + PongTimeout: a client that is slow for a shorter
	// time is not lost, and reads in the end why its subscriptions ended.
	WriteTimeout time.Duration
	// PingInterval is the time between the server's keep-alive pings (websocket frames). Default 25
	// s.
	PingInterval time.Duration
	// PongTimeout is how long after a ping was due a client may stay silent; then it is cut off.
	// Default 20 s.
	PongTimeout time.Duration
	// FinishTimeout is how long a socket's queries and mutations may go on when the server shuts
	// down or the session ends, before the socket is closed. Default 5 s.
	FinishTimeout time.Duration
	// CloseTimeout is how long the server tries to send a close frame, and then waits for the
	// client's answer to it. Default 2 s.
	CloseTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.Limits = o.Limits.withDefaults()
	if o.ErrorPresenter == nil || o.Recover == nil {
		panic("transport: Options.ErrorPresenter and Options.Recover are required")
	}
	if o.Refused == nil {
		o.Refused = func(context.Context, string) {}
	}
	o.SocketLimits = o.SocketLimits.withDefaults()
	if o.ClientOf == nil {
		o.ClientOf = func(context.Context) string { return "" }
	}
	if o.UserOf == nil {
		o.UserOf = func(context.Context) string { return "" }
	}
	if o.SocketRefused == nil {
		o.SocketRefused = func(string) {}
	}
	if o.Arrive == nil {
		o.Arrive = func(context.Context) []Quota { return nil }
	}
	if o.Charge == nil {
		o.Charge = func(context.Context, Charge) []Quota { return nil }
	}
	setDefault(&o.CachedDocuments, 500)
	setDefault(&o.OperationTimeout, 30*time.Second)
	setDefault(&o.MaxBodyBytes, 4<<20)
	setDefault(&o.BodyTimeout, 30*time.Second)
	setDefault(&o.MaxMessageBytes, 1<<20)
	setDefault(&o.InitTimeout, 10*time.Second)
	setDefault(&o.PingInterval, 25*time.Second)
	setDefault(&o.PongTimeout, 20*time.Second)
	setDefault(&o.WriteTimeout, o.PingInterval+o.PongTimeout)
	setDefault(&o.FinishTimeout, 5*time.Second)
	setDefault(&o.CloseTimeout, 2*time.Second)
	return o
}
