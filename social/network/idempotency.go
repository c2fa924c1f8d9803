package network

import (
	"context"
	"errors"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
)

const (
	// attemptLease is how long an attempt holds its key, by the database's clock. After that it
	// keeps the key only if it has stored something.
	attemptLease = 15 * time.Second
	// maxKeyWait is how long a call waits for another attempt with its key: longer than a lease, so
	// that it can take over from a server that has died.
	maxKeyWait    = 20 * time.Second
	firstKeyPause = 10 * time.Millisecond
	maxKeyPause   = 250 * time.Millisecond
	endTimeout    = 5 * time.Second
)

// Once runs an operation of a user at most once for each key, and returns its answer; later calls
// return the same answer. A call waits while another one runs the operation, here or on another
// server. The answer of run is kept if it is final. After other failures, which may be temporary,
// the next call tries again, unless something was stored. The writes of run need its context.
// Errors: IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE after 20 s, ALREADY_DONE if the answer was
// not kept.
func (s *Service) Once(ctx context.Context, user social.UserID, key string, fingerprint [32]byte, run func(context.Context) (answer []byte, isFinal bool)) ([]byte, error) {
	a := social.Attempt{User: user, Key: key, Fingerprint: fingerprint, ID: id.New()}
	kept, err := s.awaitKey(ctx, a)
	if kept != nil || err != nil {
		return kept, keyError(err)
	}
	answer, isFinal := run(social.WithAttempts(ctx, a))
	if isFinal && len(answer) <= social.MaxKeptAnswer {
		kept = answer
	}
	if errors.Is(s.endAttempt(ctx, a, kept), social.ErrAttemptOver) { // it took too long, and had no effect
		return nil, keyError(social.ErrKeyInUse)
	}
	return answer, nil // if the answer could not be kept, the lease expires
}

// awaitKey begins an attempt as soon as no other one holds its key.
func (s *Service) awaitKey(ctx context.Context, a social.Attempt) (answer []byte, err error) {
	limited, cancel := context.WithTimeout(ctx, maxKeyWait)
	defer cancel()
	for pause := firstKeyPause; ; pause = min(2*pause, maxKeyPause) {
		answer, err = s.store.BeginAttempt(ctx, a, attemptLease)
		if !errors.Is(err, social.ErrKeyInUse) {
			return answer, err
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
			return nil, err
		}
	}
}

// endAttempt ends an attempt, even if ctx has ended.
func (s *Service) endAttempt(ctx context.Context, a social.Attempt, answer []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return s.store.EndAttempt(ctx, a, answer)
}

// keyError converts the errors of IdempotencyKeys to those that clients see.
func keyError(err error) error {
	switch {
	case errors.Is(err, social.ErrKeyReused):
		return fault.Errorf(fault.CodeKeyReused, "", "This idempotency key was used for another operation, or with other variables: use a new key for each operation.")
	case errors.Is(err, social.ErrKeyInUse):
		return fault.Errorf(fault.CodeKeyInUse, "", "The operation with this idempotency key is still running. Try again later.")
	case errors.Is(err, social.ErrAnswerLost):
		return fault.Errorf(fault.CodeAlreadyDone, "", "The operation with this idempotency key was carried out, at least in part, but its answer was not kept: read the affected objects again.")
	}
	return err
}
