package storagetest

import (
	"sync"
	"sync/atomic"
	"time"

	"plaza/id"
	"plaza/social"
)

var emailCases = []testCase{
	{"AnAddressCountsWhenItIsConfirmed", anAddressCountsWhenItIsConfirmed},
	{"ALaterMailReplacesTheTokenOfAnEarlierOne", aLaterMailReplacesTheTokenOfAnEarlierOne},
	{"TokensGoOnlyToTheAddressOfTheUser", tokensGoOnlyToTheAddressOfTheUser},
	{"AResetTokenSetsOnePassword", aResetTokenSetsOnePassword},
	{"AMailIsTakenUntilItHasEnded", aMailIsTakenUntilItHasEnded},
	{"DeleteUserRemovesAddressesAndTokens", deleteUserRemovesAddressesAndTokens},
}

func mailTo(user social.UserID, kind social.MailKind, at time.Time) social.Mail {
	return social.Mail{ID: social.MailID{ID: id.New()}, Kind: kind, User: user, ExpiresAt: at.Add(time.Hour)}
}

// setEmail stores an address that is not confirmed.
func (w *world) setEmail(user social.UserID, address string) {
	w.t.Helper()
	w.ok(w.SetEmail(w.ctx, user, address, mailTo(user, social.MailConfirm, now())), "SetEmail")
}

// issue issues a token of a new mail.
func (w *world) issue(hash byte, kind social.MailKind, user social.UserID, address string, at time.Time) {
	w.t.Helper()
	w.did(true)(w.IssueMailToken(w.ctx, mailTokenFor(hash, kind, user, address, at), 5, at))
}

func mailTokenFor(hash byte, kind social.MailKind, user social.UserID, address string, at time.Time) social.MailToken {
	return social.MailToken{Hash: [32]byte{hash}, Kind: kind, User: user, Address: address, Mail: social.MailID{ID: id.New()}, ExpiresAt: at.Add(time.Hour)}
}

// confirmEmail gives a user a confirmed address.
func (w *world) confirmEmail(hash byte, user social.UserID, address string) {
	w.t.Helper()
	w.setEmail(user, address)
	w.issue(hash, social.MailConfirm, user, address, now())
	confirmed, err := w.ConfirmEmail(w.ctx, [32]byte{hash}, now())
	w.ok(err, "ConfirmEmail")
	w.same(confirmed, user, "whose address is confirmed")
}

func (w *world) mustHaveEmail(user social.UserID, want social.Email, what string) {
	w.t.Helper()
	got, err := w.Email(w.ctx, user)
	w.ok(err, "Email")
	w.same(got, want, "the addresses, %s", what)
}

func (w *world) mustShareEmail(want ...social.UserID) {
	w.t.Helper()
	const key = "ada@site.example"
	got, err := w.UsersWithEmail(w.ctx, key, 10)
	w.ok(err, "UsersWithEmail")
	w.same(len(got), len(want), "how many have %s", key)
	for i, user := range want {
		w.same(got[i], user, "who has %s", key)
	}
}

func (w *world) mustBeToken(hash byte, kind social.MailKind, at time.Time, valid bool) {
	w.t.Helper()
	t, err := w.MailToken(w.ctx, [32]byte{hash}, kind, at)
	if !valid {
		w.fails(err, social.ErrNotFound, "MailToken %d", hash)
		return
	}
	w.ok(err, "MailToken %d", hash)
	w.same(t.Hash, [32]byte{hash}, "its hash")
}

func anAddressCountsWhenItIsConfirmed(w *world) {
	ada, ben := w.user().ID, w.user().ID
	w.mustHaveEmail(ada, social.Email{}, "at first")
	w.setEmail(ada, "Ada@site.example")
	w.mustHaveEmail(ada, social.Email{Pending: "Ada@site.example"}, "not confirmed")
	w.mustShareEmail()
	at := now()
	w.issue(1, social.MailConfirm, ada, "Ada@site.example", at)
	_, err := w.ConfirmEmail(w.ctx, [32]byte{1}, at.Add(time.Hour))
	w.fails(err, social.ErrNotFound, "ConfirmEmail when the token has expired")
	_, err = w.ConfirmEmail(w.ctx, [32]byte{2}, at)
	w.fails(err, social.ErrNotFound, "ConfirmEmail with an unknown token")
	user, err := w.ConfirmEmail(w.ctx, [32]byte{1}, at)
	w.ok(err, "ConfirmEmail")
	w.same(user, ada, "whose it is")
	_, err = w.ConfirmEmail(w.ctx, [32]byte{1}, at)
	w.fails(err, social.ErrNotFound, "ConfirmEmail again")
	w.mustHaveEmail(ada, social.Email{Address: "Ada@site.example"}, "confirmed")
	w.confirmEmail(3, ben, "ada@SITE.example")
	w.mustShareEmail(ada, ben)
	w.setEmail(ada, "other@site.example")
	w.mustHaveEmail(ada, social.Email{Address: "Ada@site.example", Pending: "other@site.example"}, "with another one")
	w.issue(4, social.MailConfirm, ada, "other@site.example", at)
	w.setEmail(ada, "third@site.example")
	_, err = w.ConfirmEmail(w.ctx, [32]byte{4}, at)
	w.fails(err, social.ErrNotFound, "ConfirmEmail with the token for another address")
	w.setEmail(ada, "other@site.example") // its mail may be dropped by a limit: the link that has arrived works
	_, err = w.ConfirmEmail(w.ctx, [32]byte{4}, at)
	w.ok(err, "ConfirmEmail of an address that was set again")
	w.mustHaveEmail(ada, social.Email{Address: "other@site.example"}, "confirmed")
	w.issue(5, social.MailReset, ada, "other@site.example", at)
	w.ok(w.RemoveEmail(w.ctx, ada), "RemoveEmail")
	w.mustHaveEmail(ada, social.Email{}, "removed")
	w.mustBeToken(5, social.MailReset, at, false)
	w.mustShareEmail(ben)
}

func aLaterMailReplacesTheTokenOfAnEarlierOne(w *world) {
	ada, at := w.user().ID, now()
	w.confirmEmail(1, ada, "ada@site.example")
	w.issue(2, social.MailReset, ada, "ada@site.example", at)
	w.mustBeToken(2, social.MailReset, at, true)
	w.mustBeToken(2, social.MailConfirm, at, false)
	w.mustBeToken(2, social.MailReset, at.Add(time.Hour), false)
	again := mailTokenFor(3, social.MailReset, ada, "ada@site.example", at)
	w.did(true)(w.IssueMailToken(w.ctx, again, 2, at))
	w.mustBeToken(2, social.MailReset, at, false)
	w.mustBeToken(3, social.MailReset, at, true)
	w.did(false)(w.IssueMailToken(w.ctx, mailTokenFor(4, social.MailReset, ada, "ada@site.example", at), 2, at))
	w.mustBeToken(4, social.MailReset, at, false)
	w.mustBeToken(3, social.MailReset, at, true)
	again.Hash = [32]byte{5} // the same mail, sent again, replaces its own; but not if the limit has become lower
	w.did(false)(w.IssueMailToken(w.ctx, again, 1, at))
	w.mustBeToken(5, social.MailReset, at, false)
	w.mustBeToken(3, social.MailReset, at, true)
	w.did(true)(w.IssueMailToken(w.ctx, again, 2, at))
	w.mustBeToken(3, social.MailReset, at, false)
	w.mustBeToken(5, social.MailReset, at, true)
	later := at.Add(time.Hour)
	w.did(true)(w.IssueMailToken(w.ctx, mailTokenFor(6, social.MailReset, ada, "ada@site.example", later), 2, later))
}

func tokensGoOnlyToTheAddressOfTheUser(w *world) {
	ada, at := w.user().ID, now()
	for _, kind := range []social.MailKind{social.MailConfirm, social.MailReset} {
		_, err := w.IssueMailToken(w.ctx, mailTokenFor(1, kind, ada, "ada@site.example", at), 5, at)
		w.fails(err, social.ErrNotFound, "a token of the kind %s for a user without an address", kind)
	}
	w.setEmail(ada, "ada@site.example")
	_, err := w.IssueMailToken(w.ctx, mailTokenFor(1, social.MailReset, ada, "ada@site.example", at), 5, at)
	w.fails(err, social.ErrNotFound, "a token for an address that is not confirmed")
	_, err = w.IssueMailToken(w.ctx, mailTokenFor(1, social.MailConfirm, ada, "old@site.example", at), 5, at)
	w.fails(err, social.ErrNotFound, "a token for another address")
}

func aResetTokenSetsOnePassword(w *world) {
	u, at := newUser(), now()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	ben := w.user().ID
	w.confirmEmail(1, u.User.ID, "ada@site.example")
	w.confirmEmail(2, ben, "ben@site.example")
	w.issue(3, social.MailReset, u.User.ID, "ada@site.example", at)
	w.issue(4, social.MailReset, ben, "ben@site.example", at)
	w.insertSessions(u.User.ID, 1, 2)
	change := social.PasswordChange{User: u.User.ID, Handle: u.User.Handle, From: u.PasswordHash, To: "another", Reset: [32]byte{4}, At: at}
	w.fails(w.SetPassword(w.ctx, change), social.ErrNotFound, "SetPassword with the token of another user")
	change.Reset, change.At = [32]byte{3}, at.Add(time.Hour)
	w.fails(w.SetPassword(w.ctx, change), social.ErrNotFound, "SetPassword with an expired token")
	w.mustBeValid(1, 2)
	change.At = at
	var succeeded atomic.Int32
	var all sync.WaitGroup
	tail := w.tail()
	for range 4 {
		all.Go(func() {
			if err := w.SetPassword(w.ctx, change); err == nil {
				succeeded.Add(1)
			} else {
				w.fails(err, social.ErrNotFound, "SetPassword with a used token")
			}
		})
	}
	all.Wait()
	w.same(int(succeeded.Load()), 1, "how often the token sets the password")
	w.mustEnd(tail, 1, 2)
	w.issue(5, social.MailReset, u.User.ID, "ada@site.example", at)
	w.ok(w.SetPassword(w.ctx, social.PasswordChange{User: u.User.ID, Handle: u.User.Handle, From: "another", To: "a third"}), "SetPassword without a token")
	w.mustBeToken(5, social.MailReset, at, false)
	w.mustBeToken(4, social.MailReset, at, true)
}

func aMailIsTakenUntilItHasEnded(w *world) {
	at := now()
	take := func(at time.Time) social.MailID {
		w.t.Helper()
		m, err := w.TakeMail(w.ctx, at, at.Add(time.Minute))
		w.ok(err, "TakeMail")
		return m.ID
	}
	none := func(at time.Time) {
		w.t.Helper()
		_, err := w.TakeMail(w.ctx, at, at.Add(time.Minute))
		w.fails(err, social.ErrNotFound, "TakeMail")
	}
	none(at)
	m := mailTo(social.UserID{}, social.MailReset, at)
	m.Account = "ada"
	w.ok(w.QueueMail(w.ctx, m), "QueueMail")
	got, err := w.TakeMail(w.ctx, at, at.Add(time.Minute))
	w.ok(err, "TakeMail")
	w.same(got, m, "the mail")
	none(at.Add(59 * time.Second))
	w.same(take(at.Add(time.Minute)), m.ID, "the mail whose taker has not ended it")
	w.ok(w.EndMail(w.ctx, m.ID), "EndMail")
	w.ok(w.EndMail(w.ctx, m.ID), "EndMail again")
	none(at.Add(2 * time.Minute))
	w.setEmail(w.user().ID, "ada@site.example")
	none(at.Add(3 * time.Hour))
	take(at)
	none(at)
}

func deleteUserRemovesAddressesAndTokens(w *world) {
	ada := w.user()
	w.confirmEmail(1, ada.ID, "ada@site.example")
	w.issue(2, social.MailReset, ada.ID, "ada@site.example", now())
	w.setEmail(ada.ID, "other@site.example")
	w.delete(ada)
	w.mustHaveEmail(ada.ID, social.Email{}, "after the deletion")
	w.mustShareEmail()
	w.mustBeToken(2, social.MailReset, now(), false)
	_, err := w.TakeMail(w.ctx, now(), now())
	w.fails(err, social.ErrNotFound, "TakeMail after the deletion")
	w.fails(w.SetEmail(w.ctx, ada.ID, "again@site.example", mailTo(ada.ID, social.MailConfirm, now())), social.ErrAccountGone, "SetEmail after the deletion")
	w.settleDeletion(ada)
	w.mustHaveEmail(ada.ID, social.Email{}, "when nothing is left")
}
