package social

import "plaza/fault"

// What storage engines answer, for errors.Is. Services make a fault.Error of them, with a field and a message.
var (
	// ErrNotFound: what the call names is absent.
	ErrNotFound = fault.ErrNotFound
	// ErrTaken: a unique handle, circle name or slug is in use.
	ErrTaken = fault.Refusal("taken")
	// ErrConflict: the stored revision is not the one that the call expects.
	ErrConflict = fault.Refusal("conflict")
	// ErrBlocked: a block stands between the two users.
	ErrBlocked = fault.Refusal("blocked")
	// ErrThreadFull: the thread's layout can hold no more.
	ErrThreadFull = fault.Refusal("thread full")
	// ErrAccountGone: whoever this is done for has deleted their account. It is told as it is.
	ErrAccountGone error = &fault.Error{Code: fault.CodeUnauthenticated, Message: "This account is gone."}
	// ErrUnavailable: the database did not answer in time, or not at all; nothing is known to be stored.
	ErrUnavailable = fault.ErrUnavailable
	// ErrNoRoom is an ErrUnavailable: the database's disk is full. Reads go on.
	ErrNoRoom = fault.ErrNoRoom
)
