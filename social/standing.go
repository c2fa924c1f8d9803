package social

import (
	"context"
	"time"
)

// Standing is whether an account may be used, and by what decision not. The zero value is an
// active account.
type Standing struct {
	Sanction Sanction  // what moderators or operators have decided
	Until    time.Time // of SanctionSuspended: when it ends by itself
	Reason   string    // of the sanction; its user reads it
	Left     bool      // the owner has deactivated the account
}

// Sanction is what moderators have decided about an account.
type Sanction string

// The sanctions.
const (
	SanctionNone      Sanction = ""
	SanctionSuspended Sanction = "SUSPENDED" // the user signs in and reads, and changes nothing
	SanctionBanned    Sanction = "BANNED"    // the user cannot sign in, and the account is hidden from everyone
)

// StandingKind is what a standing means at one moment.
type StandingKind string

// The kinds of standing.
const (
	StandingActive      StandingKind = "ACTIVE"
	StandingSuspended   StandingKind = "SUSPENDED"
	StandingBanned      StandingKind = "BANNED"
	StandingDeactivated StandingKind = "DEACTIVATED"
)

// At returns what the standing means at a time: a suspension ends by itself.
func (s Standing) At(now time.Time) StandingKind {
	switch {
	case s.Sanction == SanctionBanned:
		return StandingBanned
	case s.Left:
		return StandingDeactivated
	case s.Sanction == SanctionSuspended && now.Before(s.Until):
		return StandingSuspended
	default:
		return StandingActive
	}
}

// Standings stores how accounts may be used. See Decisions.Decide for sanctions.
//
// An account is away while IsAway says so of its standing. While it is, Relation.Away holds between
// its user and everyone, and its identities are away. When it begins, the user's sessions end, and
// the tokens of identities that were issued up to then, each with its own event; all this is one
// transaction. A session that is stored meanwhile may remain: callers end the sessions once more.
type Standings interface {
	// Leave deactivates an account at a time, and appends the event. ErrNotFound.
	Leave(ctx context.Context, user UserID, at time.Time, e Event) error
	// Return ends what Leave did, and appends the event. False: the account is not deactivated.
	// ErrNotFound.
	Return(ctx context.Context, user UserID, e Event) (bool, error)
}
