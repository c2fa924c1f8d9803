package social

import (
	"context"
	"errors"
	"time"

	"plaza/fault"
	"plaza/id"
)

const (
	// AnswerLifetime is how long at least an idempotency key and its answer are kept.
	AnswerLifetime = 24 * time.Hour
	// MaxKeptAnswer is the longest answer that is kept for an idempotency key, in bytes.
	MaxKeptAnswer = 64 << 10
)

const (
	// attemptLease is how long an attempt has its key, by the database's clock. It then keeps the key
	// only if it has stored something.
	attemptLease = 15 * time.Second
	// maxKeyWait is how long a call waits for another attempt with its key: longer than a lease, so
	// that it can take over from a server that has died.
	maxKeyWait    = 20 * time.Second
	firstKeyPause = 10 * time.Millisecond
	maxKeyPause   = 250 * time.Millisecond
	endTimeout    = 5 * time.Second
)

// Attempt is one execution of a user's operation under an idempotency key.
type Attempt struct {
	User        UserID
	Key         string   // the client's, at most 255 bytes
	Fingerprint [32]byte // of the operation: one key is for one operation
	ID          id.ID    // a new one for each attempt
}

// IdempotencyKeys stores which operations have been carried out, so that a client can safely send
// one again. Keys are forgotten AnswerLifetime after their first attempt, in the background, and with
// their user.
//
// A transaction of a write whose context has attempts (WithAttempts) stores that they have had an
// effect. ErrAttemptOver: another attempt has taken the key over, and the write fails. So an
// operation has an effect at most once for each key, although servers die or stall.
type IdempotencyKeys interface {
	// BeginAttempt gives an attempt its key, for a time by the database's clock. It returns the
	// answer of an earlier attempt instead, if there is one (not nil). A key is free again if its
	// attempt is over and has had no effect. ErrKeyReused: the key is another operation's.
	// ErrKeyInUse: another attempt has it. ErrAnswerLost: an earlier attempt has had an effect, and
	// its answer was not kept.
	BeginAttempt(ctx context.Context, a Attempt, lease time.Duration) (answer []byte, err error)
	// EndAttempt ends an attempt, and keeps its answer; nil: none is kept. A key that was forgotten
	// remains so. ErrAttemptOver: another attempt has the key.
	EndAttempt(ctx context.Context, a Attempt, answer []byte) error
}

// What storage engines say of idempotency keys.
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

// Once runs an operation of a user at most once for each key, and returns its answer; later calls
// return the same answer. A call waits while another one runs the operation, here or on another
// server. The answer of run is kept if it is final: other failures may pass, and the next call tries
// again, unless something was stored. The writes of run need its context. Errors:
// IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE after 20 s, ALREADY_DONE if the answer was not kept.
func (s *Service) Once(ctx context.Context, user UserID, key string, fingerprint [32]byte, run func(context.Context) (answer []byte, isFinal bool)) ([]byte, error) {
	a := Attempt{User: user, Key: key, Fingerprint: fingerprint, ID: id.New()}
	kept, err := s.awaitKey(ctx, a)
	if kept != nil || err != nil {
		return kept, keyError(err)
	}
	answer, isFinal := run(WithAttempts(ctx, a))
	if isFinal && len(answer) <= MaxKeptAnswer {
		kept = answer
	}
	if errors.Is(s.endAttempt(ctx, a, kept), ErrAttemptOver) { // it took too long, and has had no effect
		return nil, keyError(ErrKeyInUse)
	}
	return answer, nil // where the answer could not be kept, the lease ends by itself
}

// awaitKey begins an attempt as soon as no other has its key.
func (s *Service) awaitKey(ctx context.Context, a Attempt) (answer []byte, err error) {
	limited, cancel := context.WithTimeout(ctx, maxKeyWait)
	defer cancel()
	for pause := firstKeyPause; ; pause = min(2*pause, maxKeyPause) {
		answer, err = s.store.BeginAttempt(ctx, a, attemptLease)
		if !errors.Is(err, ErrKeyInUse) {
			return answer, err
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
			return nil, err
		}
	}
}

// endAttempt ends an attempt although ctx may be over.
func (s *Service) endAttempt(ctx context.Context, a Attempt, answer []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return s.store.EndAttempt(ctx, a, answer)
}

// keyError is how clients see the errors of IdempotencyKeys.
func keyError(err error) error {
	switch {
	case errors.Is(err, ErrKeyReused):
		return fault.Errorf(fault.CodeKeyReused, "", "This idempotency key was used for another operation, or with other variables: use a new key for each operation.")
	case errors.Is(err, ErrKeyInUse):
		return fault.Errorf(fault.CodeKeyInUse, "", "The operation with this idempotency key is still running. Try again later.")
	case errors.Is(err, ErrAnswerLost):
		return fault.Errorf(fault.CodeAlreadyDone, "", "The operation with this idempotency key was carried out, at least in part, but its answer was not kept: read what it has changed.")
	}
	return err
}
