package social

import (
	"errors"

	"plaza/fault"
)

// Storage engines return these errors, for errors.Is. Services turn them into a fault.Error with a
// field and a message.
var (
	// ErrNotFound: the object that the call names is absent.
	ErrNotFound = fault.ErrNotFound
	// ErrTaken: a unique handle, circle name or slug is in use.
	ErrTaken = fault.Refusal("taken")
	// ErrLimitReached: there are as many as the call allows.
	ErrLimitReached = fault.Refusal("limit reached")
	// ErrIdentityKnown: the identity has an account, or had one that is deleted.
	ErrIdentityKnown = fault.Refusal("identity known")
	// ErrInvitationOver: the invitation is unknown, expired or used up.
	ErrInvitationOver = fault.Refusal("invitation over")
	// ErrIssuerUnavailable: a token was issued by another site whose keys could not be read so far.
	// It is a failure, not a refusal.
	ErrIssuerUnavailable = errors.New("the issuer's keys cannot be read")
	// ErrBadIDToken refuses all ID tokens of providers that are not good, whatever is wrong with them.
	ErrBadIDToken error = &fault.Error{Code: fault.CodeBadCredentials, Field: "idToken", Message: "The ID token is not valid: sign in with the provider again."}
	// ErrNotReviewed: a Reviewer could not decide. It is a failure, not a refusal.
	ErrNotReviewed = errors.New("the publish hook did not decide")
	// ErrConflict: the stored revision is not the one that the call expects.
	ErrConflict = fault.Refusal("conflict")
	// ErrTooEarly: servers of an older version, which may be running, would not understand it. The
	// operator ends that by finishing the upgrade.
	ErrTooEarly = fault.Refusal("too early")
	// ErrBlocked: one of the two users blocks the other.
	ErrBlocked = fault.Refusal("blocked")
	// ErrNoChanges: servers of an older version may change the database without recording it.
	ErrNoChanges = fault.Refusal("changes are not known")
	// ErrThreadFull: the thread's layout can hold no more.
	ErrThreadFull = fault.Refusal("thread full")
	// ErrAccountGone: the acting user has deleted their account. Clients get this message
	// unchanged.
	ErrAccountGone error = &fault.Error{Code: fault.CodeUnauthenticated, Message: "This account is deleted."}
	// ErrUnavailable: the database did not answer in time, or not at all; a write may or may not
	// have been stored.
	ErrUnavailable = fault.ErrUnavailable
	// ErrPositionLost: the event log no longer reaches back to this position, or never contained
	// it.
	ErrPositionLost = fault.Refusal("position lost")
	// ErrNoRoom is an ErrUnavailable: the database's disk is full. Reads still work.
	ErrNoRoom = fault.ErrNoRoom
)
