package social

import (
	"context"
	"time"

	"plaza/id"
)

// Invitation lets people create accounts where registration is by invitation. Its code is not
// stored: ID is derived from it.
type Invitation struct {
	ID        InvitationID
	Inviter   UserID // zero: an operator
	MaxUses   int    // how many accounts it creates
	Uses      int    // how many it has created
	CreatedAt time.Time
	ExpiresAt time.Time
}

// IsUsedUp reports whether an invitation creates no further accounts.
func (i *Invitation) IsUsedUp() bool { return i.Uses >= i.MaxUses }

// InvitationCodePrefix is how the codes of invitations begin.
const InvitationCodePrefix = "invite"

// InvitationOf returns the id of the invitation with a code, which does not reveal the code. Error:
// id.ErrMalformed: there is no such code.
func InvitationOf(code string) (InvitationID, error) {
	raw, err := id.Parse(InvitationCodePrefix, code)
	if err != nil {
		return InvitationID{}, err
	}
	return InvitationID{hashedID("invitation id ", raw[:])}, nil
}

// Invitations stores invitations. Users.InsertUser uses them; Users.DeleteUser removes those of the
// user.
type Invitations interface {
	// InsertInvitation stores an invitation. ErrLimitReached: its inviter already has maximum
	// invitations that have not expired by its creation, used or not. Operators have no limit.
	// ErrAccountGone.
	InsertInvitation(ctx context.Context, i Invitation, maximum int) error
	// Invitation reads an invitation. ErrNotFound: unknown, deleted, or expired by now: it is valid
	// until ExpiresAt, and not at that time.
	Invitation(ctx context.Context, which InvitationID, now time.Time) (Invitation, error)
	// InvitationsBy returns the invitations of a user (zero: of operators) that have not expired by
	// now, used or not, in any order.
	InvitationsBy(ctx context.Context, inviter UserID, now time.Time) ([]Invitation, error)
	// DeleteInvitation removes an invitation. ErrNotFound: it is unknown, deleted, or not of this
	// kind.
	DeleteInvitation(ctx context.Context, which InvitationID, kind InvitationKind) error
}

// InvitationKind is a kind of invitations.
type InvitationKind int

// The kinds of invitations that DeleteInvitation deletes.
const (
	AllInvitations    InvitationKind = iota
	UnusedInvitations                // those that have created no account
)
