package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
)

// Registration says who may create accounts.
type Registration string

// The kinds of registration.
const (
	RegistrationOpen         Registration = "" // everyone
	RegistrationByInvitation Registration = "invitation"
	RegistrationClosed       Registration = "closed" // only operators
)

const (
	maxInvitationDays         = 30 // of a member's invitation
	maxOperatorInvitationDays = 365
	maxInvitationUses         = 10_000 // of an operator's; a member's creates one account
)

// Registration returns who may create accounts.
func (s *Service) Registration() Registration { return s.registration }

// mayRegister returns the invitation that a new account uses; zero: it needs none. Errors:
// NOT_ALLOWED: registration is closed, or the code is not valid; BLANK: there is no code.
func (s *Service) mayRegister(ctx context.Context, code string) (social.InvitationID, error) {
	switch s.registration {
	case RegistrationOpen:
		return social.InvitationID{}, nil
	case RegistrationByInvitation:
		return s.usableInvitation(ctx, code)
	case RegistrationClosed:
	}
	return social.InvitationID{}, errRegistrationClosed()
}

func errRegistrationClosed() error {
	return fault.Errorf(fault.CodeNotAllowed, "", "Registration is closed: ask the operators of this site for an account.")
}

// usableInvitation finds the invitation with a code. All codes that are not valid get the same
// error, whatever is wrong with them.
func (s *Service) usableInvitation(ctx context.Context, code string) (social.InvitationID, error) {
	code = strings.TrimSpace(code) // codes are pasted from mails
	if code == "" {
		return social.InvitationID{}, fault.Errorf(fault.CodeBlank, "invitation", "Registration is by invitation: send the code of one.")
	}
	which, err := social.InvitationOf(code)
	if err != nil {
		return social.InvitationID{}, errInvitationOver()
	}
	invitation, err := s.store.Invitation(ctx, which, s.now())
	if errors.Is(err, social.ErrNotFound) {
		return social.InvitationID{}, errInvitationOver()
	}
	if err != nil {
		return social.InvitationID{}, err
	}
	mayInvite, err := s.mayInvite(ctx, invitation.Inviter)
	if err != nil {
		return social.InvitationID{}, err
	}
	if invitation.IsUsedUp() || !mayInvite {
		return social.InvitationID{}, errInvitationOver()
	}
	return which, nil
}

// mayInvite reports whether the invitations of a user are valid: those of suspended users are not,
// nor those of users who are away.
func (s *Service) mayInvite(ctx context.Context, inviter social.UserID) (bool, error) {
	if inviter.IsZero() {
		return true, nil
	}
	users, err := s.people.Users(ctx, []social.UserID{inviter})
	if err != nil {
		return false, err
	}
	user := users[inviter]
	return user != nil && social.CanChange(user.Standing, s.now()), nil
}

func errInvitationOver() error {
	return fault.Errorf(fault.CodeNotAllowed, "invitation", "This invitation is not valid: it may be mistyped, used, revoked or expired. Ask for a new one.")
}

// InvitationsLeft returns how many invitations a member can create now.
func (s *Service) InvitationsLeft(ctx context.Context, inviter social.UserID) (int, error) {
	most := s.mostInvitations()
	if most == 0 {
		return 0, nil
	}
	existing, err := s.store.InvitationsBy(ctx, inviter, s.now())
	return max(most-len(existing), 0), err
}

// mostInvitations is how many invitations a member may have that have not expired.
func (s *Service) mostInvitations() int {
	if s.registration != RegistrationByInvitation {
		return 0
	}
	return s.memberInvitations
}

// Invitations returns a user's invitations that have not expired, used or not, the newest first.
func (s *Service) Invitations(ctx context.Context, user social.UserID) ([]social.Invitation, error) {
	found, err := s.store.InvitationsBy(ctx, user, s.now())
	slices.SortFunc(found, func(a, b social.Invitation) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), a.ID.Compare(b.ID.ID))
	})
	return found, err
}

// CreateInvitation creates a member's invitation for one account. The code is returned only here.
// Errors: NOT_ALLOWED: members do not invite here; INVALID (expiresInDays); LIMIT_REACHED;
// UNAUTHENTICATED: the account is deleted.
func (s *Service) CreateInvitation(ctx context.Context, inviter social.UserID, days int) (social.Invitation, string, error) {
	if err := checkDays("An invitation", days, maxInvitationDays); err != nil {
		return social.Invitation{}, "", err
	}
	most := s.mostInvitations()
	if most == 0 {
		return social.Invitation{}, "", fault.Errorf(fault.CodeNotAllowed, "", "Members do not invite others on this site.")
	}
	return s.invite(ctx, social.Invitation{Inviter: inviter, MaxUses: 1}, days, most)
}

// InviteAsOperator creates an operator's invitation for a number of accounts. The code is returned
// only here. Errors: INVALID (expiresInDays, uses).
func (s *Service) InviteAsOperator(ctx context.Context, uses, days int) (social.Invitation, string, error) {
	var count error
	if uses < 1 || uses > maxInvitationUses {
		count = fault.Invalidf("uses", "An invitation creates 1 to %d accounts.", maxInvitationUses)
	}
	if err := fault.All(count, checkDays("An invitation", days, maxOperatorInvitationDays)); err != nil {
		return social.Invitation{}, "", err
	}
	return s.invite(ctx, social.Invitation{MaxUses: uses}, days, 0)
}

// checkDays checks for how many days something lasts. Error: INVALID (expiresInDays).
func checkDays(what string, days, most int) error {
	if days < 1 || days > most {
		return fault.Invalidf("expiresInDays", "%s lasts for 1 to %d days.", what, most)
	}
	return nil
}

// invite stores an invitation with a new code, if its inviter has fewer than most.
func (s *Service) invite(ctx context.Context, i social.Invitation, days, most int) (created social.Invitation, code string, err error) {
	code = newInvitationCode()
	if i.ID, err = social.InvitationOf(code); err != nil {
		return social.Invitation{}, "", err
	}
	i.CreatedAt = s.Moment()
	i.ExpiresAt = i.CreatedAt.Add(time.Duration(days) * 24 * time.Hour)
	err = s.store.InsertInvitation(ctx, i, most)
	if errors.Is(err, social.ErrLimitReached) {
		err = fault.Errorf(fault.CodeLimitReached, "", "You have %d invitations, the maximum: revoke one that is not used, or wait until one expires.", most)
	}
	if err != nil {
		return social.Invitation{}, "", err
	}
	s.record(ctx, Act{Kind: ActInvitationCreated, User: i.Inviter, Operator: i.Inviter.IsZero(), Invitation: i.ID})
	return i, code, nil
}

// RevokeInvitation makes an invitation of a member invalid. Errors: NOT_FOUND, also for an invitation
// of someone else, and one that has expired; NOT_ALLOWED: it has been used. That one still counts
// for the member's limit.
func (s *Service) RevokeInvitation(ctx context.Context, inviter social.UserID, which social.InvitationID) error {
	invitation, err := s.store.Invitation(ctx, which, s.now())
	switch {
	case err == nil && invitation.Inviter != inviter:
		err = social.ErrNotFound
	case err == nil && invitation.IsUsedUp():
		return fault.Errorf(fault.CodeNotAllowed, "invitationId", "This invitation has been used: there is nothing left to revoke.")
	case err == nil:
		err = s.store.DeleteInvitation(ctx, which, social.UnusedInvitations)
	}
	return s.revoked(ctx, err, Act{User: inviter, Invitation: which})
}

// RevokeInvitationAsOperator makes any invitation invalid. The accounts that it has created remain.
// Error: NOT_FOUND.
func (s *Service) RevokeInvitationAsOperator(ctx context.Context, which social.InvitationID) error {
	return s.revoked(ctx, s.store.DeleteInvitation(ctx, which, social.AllInvitations), Act{Operator: true, Invitation: which})
}

func (s *Service) revoked(ctx context.Context, err error, a Act) error {
	if errors.Is(err, social.ErrNotFound) {
		return fault.NotFound("invitationId", "invitation")
	}
	if err == nil {
		a.Kind = ActInvitationRevoked
		s.record(ctx, a)
	}
	return err
}

// newInvitationCode creates a code from 128 random bits: invite_ and 26 letters and digits.
func newInvitationCode() string {
	var raw id.ID
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand.Read
	return raw.Text(social.InvitationCodePrefix)
}
