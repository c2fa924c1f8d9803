package storagetest

import (
	"time"

	"plaza/social"
)

var leftHandleCases = []testCase{
	{"TheHandleOfADeletedUserIsKept", theHandleOfADeletedUserIsKept},
}

// theHandleOfADeletedUserIsKept for HandleRest, except for operators.
func theHandleOfADeletedUserIsKept(w *world) {
	u, at := newUser(), now()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	w.did(false)(w.IsHandleKept(w.ctx, u.User.Handle, at))
	w.delete(person{u.User.ID, u.Following.ID})
	soon, late := at.Add(social.HandleRest-time.Minute), at.Add(social.HandleRest+24*time.Hour)
	w.did(true)(w.IsHandleKept(w.ctx, u.User.Handle, soon))
	w.did(false)(w.IsHandleKept(w.ctx, u.User.Handle, late))
	w.did(false)(w.IsHandleKept(w.ctx, "another", soon))
	next := newUser()
	next.User.Handle, next.Identity, next.At = u.User.Handle, [32]byte{1}, soon
	w.fails(w.InsertUser(w.ctx, next, event(social.EventUserSignedUp)), social.ErrTaken, "signing up with the handle of a deleted user")
	absent(w, "user", w.Users, next.User.ID)
	found, err := w.Identities(w.ctx, [][32]byte{{1}})
	w.ok(err, "Identities")
	w.same(len(found), 0, "the identities that a refused call stores")
	next.At = late
	w.ok(w.InsertUser(w.ctx, next, event(social.EventUserSignedUp)), "signing up later")
	w.delete(person{next.User.ID, next.Following.ID})
	operators := newUser()
	operators.User.Handle = u.User.Handle
	w.ok(w.InsertUser(w.ctx, operators, event(social.EventUserSignedUp)), "an operator's account")
}
