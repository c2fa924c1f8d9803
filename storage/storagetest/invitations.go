package storagetest

import (
	"slices"
	"time"

	"plaza/id"
	"plaza/social"
)

var invitationCases = []testCase{
	{"AnInvitationIsValidUntilItExpires", anInvitationIsValidUntilItExpires},
	{"AnInvitationIsUsedWithItsAccount", anInvitationIsUsedWithItsAccount},
	{"ConcurrentSignUpsUseAnInvitationExactly", concurrentSignUpsUseAnInvitationExactly},
	{"AUserHasNoMoreInvitationsThanAllowed", aUserHasNoMoreInvitationsThanAllowed},
	{"UsedInvitationsAreKeptFromTheirInviter", usedInvitationsAreKeptFromTheirInviter},
	{"DeleteUserRemovesInvitations", deleteUserRemovesInvitations},
}

// invitation returns an invitation that lasts for an hour.
func invitation(inviter social.UserID, maxUses int, at time.Time) social.Invitation {
	return social.Invitation{ID: social.InvitationID{ID: id.New()}, Inviter: inviter, MaxUses: maxUses, CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
}

// invite stores an invitation.
func (w *world) invite(i social.Invitation) social.Invitation {
	w.t.Helper()
	w.ok(w.InsertInvitation(w.ctx, i, 100), "InsertInvitation")
	return i
}

// signUpWith creates an account with an invitation.
func (w *world) signUpWith(i social.Invitation, at time.Time) error {
	u := newUser()
	u.Invitation, u.At = i.ID, at
	return w.InsertUser(w.ctx, u, event(social.EventUserSignedUp))
}

func (w *world) mustHaveInvitations(inviter social.UserID, at time.Time, want ...social.Invitation) {
	w.t.Helper()
	got, err := w.InvitationsBy(w.ctx, inviter, at)
	w.ok(err, "InvitationsBy")
	byID := func(a, b social.Invitation) int { return a.ID.Compare(b.ID.ID) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	w.same(got, want, "the invitations by %v", inviter)
}

func anInvitationIsValidUntilItExpires(w *world) {
	ada, at := w.user(), now()
	mine, operators := w.invite(invitation(ada.ID, 1, at)), w.invite(invitation(social.UserID{}, 3, at))
	later := invitation(ada.ID, 1, at)
	later.ExpiresAt = at.Add(2 * time.Hour)
	w.invite(later)
	got, err := w.Invitation(w.ctx, mine.ID, at.Add(time.Hour-time.Millisecond))
	w.ok(err, "Invitation")
	w.same(got, mine, "the invitation")
	_, err = w.Invitation(w.ctx, mine.ID, mine.ExpiresAt)
	w.fails(err, social.ErrNotFound, "Invitation when it expires")
	_, err = w.Invitation(w.ctx, social.InvitationID{ID: id.New()}, at)
	w.fails(err, social.ErrNotFound, "an unknown Invitation")
	w.mustHaveInvitations(ada.ID, at, mine, later)
	w.mustHaveInvitations(ada.ID, mine.ExpiresAt, later)
	w.mustHaveInvitations(social.UserID{}, at, operators)
	w.mustHaveInvitations(w.user().ID, at)
	w.fails(w.signUpWith(mine, mine.ExpiresAt), social.ErrInvitationOver, "signing up with an expired invitation")
	w.ok(w.DeleteInvitation(w.ctx, later.ID, social.AllInvitations), "DeleteInvitation")
	w.fails(w.DeleteInvitation(w.ctx, later.ID, social.AllInvitations), social.ErrNotFound, "DeleteInvitation again")
	w.fails(w.signUpWith(later, at), social.ErrInvitationOver, "signing up with a deleted invitation")
	w.mustHaveInvitations(ada.ID, at, mine)
}

// anInvitationIsUsedWithItsAccount, in one transaction: a refused sign-up uses none.
func anInvitationIsUsedWithItsAccount(w *world) {
	at := now()
	i := w.invite(invitation(social.UserID{}, 2, at))
	u := newUser()
	u.Invitation, u.At, u.Identity = i.ID, at, [32]byte{1}
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	taken := newUser()
	taken.Invitation, taken.At, taken.User.Handle = i.ID, at, u.User.Handle
	w.fails(w.InsertUser(w.ctx, taken, event(social.EventUserSignedUp)), social.ErrTaken, "a handle that is taken")
	known := newUser()
	known.Invitation, known.At, known.Identity = i.ID, at, u.Identity
	w.fails(w.InsertUser(w.ctx, known, event(social.EventUserSignedUp)), social.ErrIdentityKnown, "an identity that is known")
	i.Uses = 1
	w.mustHaveInvitations(social.UserID{}, at, i)
	w.ok(w.signUpWith(i, at), "the second sign-up")
	late := newUser()
	late.Invitation, late.At, late.Identity = i.ID, at, [32]byte{2}
	w.fails(w.InsertUser(w.ctx, late, event(social.EventUserSignedUp)), social.ErrInvitationOver, "a third sign-up")
	absent(w, "user", w.Users, late.User.ID)
	found, err := w.Identities(w.ctx, [][32]byte{{2}})
	w.ok(err, "Identities")
	w.same(len(found), 0, "the identities that a refused call stores")
}

func concurrentSignUpsUseAnInvitationExactly(w *world) {
	const uses = 5
	at := now()
	i := w.invite(invitation(social.UserID{}, uses, at))
	errs := together(crowd/2, func(int) error { return w.signUpWith(i, at) })
	w.same(w.tally(errs, social.ErrInvitationOver), uses, "the number of accounts")
	i.Uses = uses
	w.mustHaveInvitations(social.UserID{}, at, i)
}

func aUserHasNoMoreInvitationsThanAllowed(w *world) {
	const most = 3
	ada, at := w.user().ID, now()
	invite := func(inviter social.UserID, at time.Time) error {
		return w.InsertInvitation(w.ctx, invitation(inviter, 1, at), most)
	}
	errs := together(4*most, func(int) error { return invite(ada, at) })
	w.same(w.tally(errs, social.ErrLimitReached), most, "the number of calls that store one")
	created, err := w.InvitationsBy(w.ctx, ada, at)
	w.ok(err, "InvitationsBy")
	w.same(len(created), most, "the number of invitations")
	w.ok(w.signUpWith(created[0], at), "signing up")
	w.fails(invite(ada, at), social.ErrLimitReached, "an invitation while the others are valid")
	w.ok(invite(ada, created[0].ExpiresAt), "an invitation when the others expire")
	w.ok(invite(w.user().ID, at), "another user's invitation")
	for range most + 1 {
		w.ok(invite(social.UserID{}, at), "an operator's invitation")
	}
}

// usedInvitationsAreKeptFromTheirInviter, because they count for the limit.
func usedInvitationsAreKeptFromTheirInviter(w *world) {
	ada, at := w.user().ID, now()
	used, unused := w.invite(invitation(ada, 1, at)), w.invite(invitation(ada, 1, at))
	w.ok(w.signUpWith(used, at), "signing up")
	w.fails(w.DeleteInvitation(w.ctx, used.ID, social.UnusedInvitations), social.ErrNotFound, "deleting a used one")
	w.ok(w.DeleteInvitation(w.ctx, unused.ID, social.UnusedInvitations), "deleting an unused one")
	used.Uses = 1
	w.mustHaveInvitations(ada, at, used)
	w.ok(w.DeleteInvitation(w.ctx, used.ID, social.AllInvitations), "deleting it as an operator does")
	w.mustHaveInvitations(ada, at)
}

func deleteUserRemovesInvitations(w *world) {
	ada, ben, at := w.user(), w.user(), now()
	adas, bens := w.invite(invitation(ada.ID, 1, at)), w.invite(invitation(ben.ID, 1, at))
	w.delete(ada)
	w.mustHaveInvitations(ada.ID, at)
	w.fails(w.signUpWith(adas, at), social.ErrInvitationOver, "signing up with the invitation of a deleted user")
	w.fails(w.InsertInvitation(w.ctx, invitation(ada.ID, 1, at), 100), social.ErrAccountGone, "an invitation by a deleted user")
	w.settleDeletion(ada)
	w.mustHaveInvitations(ada.ID, at)
	w.mustHaveInvitations(ben.ID, at, bens)
}
