package social

import (
	"context"
	"time"

	"plaza/fault"
	"plaza/id"
)

const (
	// AnswerLifetime is the minimum time for which an idempotency key and its answer are kept.
	AnswerLifetime = 24 * time.Hour
	// MaxKeptAnswer is the maximum length of an answer that is kept for an idempotency key, in
	// bytes.
	MaxKeptAnswer = 64 << 10
)

// Attempt is one execution of a user's operation under an idempotency key.
type Attempt struct {
	User        UserID
	Key         string   // chosen by the client; at most 255 bytes
	Fingerprint [32]byte // of the operation: a key can be used for one operation only
	ID          id.ID    // a new one for each attempt
}

// IdempotencyKeys stores which operations have been carried out, so that a client can safely send
// one again. Keys are forgotten AnswerLifetime after their first attempt, in the background, and
// with their user.
//
// A write whose context has attempts (WithAttempts) stores, in its transaction, that they have had
// an effect. ErrAttemptOver: another attempt has taken the key over, and the write fails. Therefore
// an operation has an effect at most once for each key, even if servers die or stall.
type IdempotencyKeys interface {
	// BeginAttempt leases a key to an attempt, for a time by the database's clock. If there is an
	// answer of an earlier attempt, it returns that instead (not nil). A key is available again if
	// its attempt is over and has had no effect. ErrKeyReused: the key is another operation's.
	// ErrKeyInUse: another attempt has it. ErrAnswerLost: an earlier attempt has had an effect, and
	// its answer was not kept.
	BeginAttempt(ctx context.Context, a Attempt, lease time.Duration) (answer []byte, err error)
	// EndAttempt ends an attempt, and keeps its answer; nil: none is kept. A key that was forgotten
	// remains so. ErrAttemptOver: another attempt has the key.
	EndAttempt(ctx context.Context, a Attempt, answer []byte) error
}

// The errors of storage engines about idempotency keys.
var (
	ErrKeyReused  = fault.Refusal("the idempotency key was used for another operation")
	ErrKeyInUse   = fault.Refusal("an operation with the idempotency key is running")
	ErrAnswerLost = fault.Refusal("the answer for the idempotency key was not kept")
	// ErrAttemptOver: another attempt has taken over the idempotency key of this one.
	ErrAttemptOver = fault.Refusal("another attempt has the idempotency key")
)

type attemptsKey struct{}

// WithAttempts returns a context whose writes belong to these attempts, and to no others.
func WithAttempts(ctx context.Context, attempts ...Attempt) context.Context {
	return context.WithValue(ctx, attemptsKey{}, attempts)
}

// AttemptsOf returns the attempts that writes with a context belong to.
func AttemptsOf(ctx context.Context) []Attempt {
	attempts, _ := ctx.Value(attemptsKey{}).([]Attempt)
	return attempts
}
