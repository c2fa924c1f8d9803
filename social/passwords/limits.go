package passwords

import (
	"errors"
	"strings"
	"time"

	"plaza/fault"
	"plaza/ratelimit"
)

// Limits protect accounts from guessed passwords, and the processor from computing too many hashes.
// Only wrong passwords and refused tokens count: what other attempts have taken from the limits is
// given back.
//
// An account is never locked: the limit for a handle counts each client separately, so attackers
// can't use up the attempts of the owner, who is another client.
type Limits struct {
	Addresses *ratelimit.Limit // attempts of a client
	Guesses   *ratelimit.Limit // attempts of a client at one handle, or of a user to confirm a password
	Handles   *ratelimit.Limit // attempts of all clients at a handle; it refuses none, and only ranks them in the queue
	SignUps   *ratelimit.Limit // new accounts of a client
	Mails     *ratelimit.Limit // mails that a client, or a user, causes
	// Recipients limits the mails to an address. It refuses no request, but sends no further ones.
	Recipients *ratelimit.Limit
	// Waiting is how many passwords may wait for their hash. Beyond that, those from the
	// clients with the most attempts are refused.
	Waiting int
}

// NewLimits returns the default limits.
func NewLimits() *Limits {
	return &Limits{
		Addresses: ratelimit.New(ratelimit.Policy{Name: "sign-ins", Burst: 60, Window: 3 * time.Minute}),
		Guesses:   ratelimit.New(ratelimit.Policy{Name: "guesses", Burst: 10, Window: 10 * time.Minute}),
		Handles:   ratelimit.New(ratelimit.Policy{Name: "handles", Burst: 100, Window: 10 * time.Minute}),
		SignUps:   ratelimit.New(ratelimit.Policy{Name: "sign-ups", Burst: 20, Window: 20 * time.Minute}),
		Mails:     ratelimit.New(ratelimit.Policy{Name: "mails", Burst: 10, Window: 10 * time.Minute}),
		Waiting:   64,

		Recipients: ratelimit.New(ratelimit.Policy{Name: "recipients", Burst: 20, Window: time.Hour}),
	}
}

// Attempt is an attempt to sign in with a handle.
type Attempt struct {
	limits       *Limits
	from, handle string
	guessed      string // the key in Guesses
	Rank         int    // in the queue for hashes: lower goes first
}

// Attempt counts an attempt to sign in. Error: RATE_LIMITED. Then it has taken nothing from any
// limit: a client that repeats attempts at one handle must not use up those at other handles of all
// others at its address. The transport's limits for addresses still count what is refused here.
func (l *Limits) Attempt(from, handle string) (*Attempt, error) {
	if l == nil {
		return &Attempt{limits: &Limits{}}, nil
	}
	handle = strings.ToLower(handle)
	a := &Attempt{limits: l, from: from, handle: handle, guessed: from + " " + handle}
	address := l.Addresses.Take(from, 1)
	if err := refused(address); err != nil {
		return nil, err
	}
	if err := refused(l.Guesses.Take(a.guessed, 1)); err != nil {
		l.Addresses.Give(from, 1)
		return nil, err
	}
	a.Rank = address.Used() + l.Handles.Take(handle, 1).Used()
	return a, nil
}

// Over ends the attempt with its error. It gives back what the attempt has taken from the limits,
// unless the password or token was judged, and refused (BAD_CREDENTIALS): a failure of the database
// or of an issuer, or a full queue, is not the client's.
func (a *Attempt) Over(err error) {
	if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Code == fault.CodeBadCredentials {
		return
	}
	a.limits.Addresses.Give(a.from, 1)
	a.limits.Guesses.Give(a.guessed, 1)
	a.limits.Handles.Give(a.handle, 1)
}

// Token counts an attempt to sign in with a token of a provider. Error: RATE_LIMITED.
func (l *Limits) Token(from string) (*Attempt, error) {
	if l == nil {
		return &Attempt{limits: &Limits{}}, nil
	}
	return &Attempt{limits: &Limits{Addresses: l.Addresses}, from: from}, refused(l.Addresses.Take(from, 1))
}

// Confirmation counts an attempt of a signed-in user to confirm the password. Error: RATE_LIMITED.
func (l *Limits) Confirmation(user string) (*Attempt, error) {
	if l == nil {
		return &Attempt{limits: &Limits{}}, nil
	}
	a := &Attempt{limits: &Limits{Guesses: l.Guesses}, guessed: user}
	state := l.Guesses.Take(a.guessed, 1)
	a.Rank = state.Used()
	return a, refused(state)
}

// SignUp counts a new account, and returns its rank in the queue for hashes. Error: RATE_LIMITED.
func (l *Limits) SignUp(from string) (rank int, err error) {
	if l == nil {
		return 0, nil
	}
	state := l.SignUps.Take(from, 1)
	return state.Used(), refused(state)
}

// Mail counts a mail that a client, or a user, causes. Error: RATE_LIMITED.
func (l *Limits) Mail(from string) error {
	if l == nil {
		return nil
	}
	return refused(l.Mails.Take(from, 1))
}

// Recipient counts a mail to an address, and reports whether it may be sent.
func (l *Limits) Recipient(address string) bool {
	return l == nil || l.Recipients.Take(address, 1).RetryAfter == 0
}

// NotSent gives back what Recipient has counted for a mail that was not sent.
func (l *Limits) NotSent(address string) {
	if l != nil {
		l.Recipients.Give(address, 1)
	}
}

func (l *Limits) waiting() int {
	if l == nil {
		return 0
	}
	return l.Waiting
}

func refused(state ratelimit.State) error {
	if state.RetryAfter == 0 {
		return nil
	}
	return fault.RateLimited(state.Name, state.RetryAfter)
}
