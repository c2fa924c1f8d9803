package storagetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"plaza/social"
)

var identityCases = []testCase{
	{"IdentitiesReadsWhatInsertUserStored", identitiesReadsWhatInsertUserStored},
	{"AnIdentityHasOneAccount", anIdentityHasOneAccount},
	{"ConcurrentFirstSightsMakeOneAccount", concurrentFirstSightsMakeOneAccount},
	{"EndIdentitiesRefusesEarlierTokens", endIdentitiesRefusesEarlierTokens},
	{"DeleteUserKeepsTheKeyOfAnIdentity", deleteUserKeepsTheKeyOfAnIdentity},
}

// sighted inserts a user with an identity.
func (w *world) sighted(key byte) social.NewUser {
	w.t.Helper()
	u := newUser()
	u.Identity = [32]byte{key}
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser with an identity")
	return u
}

func (w *world) mustIdentify(what string, want map[byte]social.Identity, keys ...byte) {
	w.t.Helper()
	asked, expected := [][32]byte{}, map[[32]byte]social.Identity{}
	for _, key := range keys {
		asked = append(asked, [32]byte{key})
	}
	for key, identity := range want {
		identity.Key = [32]byte{key}
		expected[identity.Key] = identity
	}
	for range 2 { // the second time from memory
		got, err := w.Identities(w.ctx, asked)
		w.ok(err, "Identities")
		w.same(got, expected, "the identities: %s", what)
	}
}

func identitiesReadsWhatInsertUserStored(w *world) {
	ada, ben := w.sighted(1), w.sighted(2)
	w.ok(w.InsertUser(w.ctx, newUser(), event(social.EventUserSignedUp)), "InsertUser without an identity")
	w.ok(w.InsertUser(w.ctx, newUser(), event(social.EventUserSignedUp)), "InsertUser without an identity again")
	w.mustIdentify("one", map[byte]social.Identity{1: {User: ada.User.ID}}, 1)
	w.mustIdentify("several", map[byte]social.Identity{1: {User: ada.User.ID}, 2: {User: ben.User.ID}}, 0, 1, 2, 3)
	w.mustIdentify("none", nil)
}

// anIdentityHasOneAccount checks that a refused call stores nothing, whatever it is refused for.
func anIdentityHasOneAccount(w *world) {
	ada := w.sighted(1)
	again := newUser()
	again.Identity = ada.Identity
	w.fails(w.InsertUser(w.ctx, again, event(social.EventUserSignedUp)), social.ErrIdentityKnown, "the same identity")
	absent(w, "user", w.Users, again.User.ID)
	absent(w, "handle", w.UsersByHandle, again.User.Handle)
	taken := newUser()
	taken.User.Handle, taken.Identity = ada.User.Handle, [32]byte{2}
	w.fails(w.InsertUser(w.ctx, taken, event(social.EventUserSignedUp)), social.ErrTaken, "the same handle")
	w.mustIdentify("after the refusals", map[byte]social.Identity{1: {User: ada.User.ID}}, 1, 2)
	both := newUser()
	both.User.Handle, both.Identity = ada.User.Handle, ada.Identity
	w.fails(w.InsertUser(w.ctx, both, event(social.EventUserSignedUp)), social.ErrIdentityKnown, "the same identity and handle")
	again.Identity = [32]byte{3}
	w.ok(w.InsertUser(w.ctx, again, event(social.EventUserSignedUp)), "the refused user with another identity")
}

func concurrentFirstSightsMakeOneAccount(w *world) {
	const requests = 16
	users := make([]social.NewUser, requests)
	var created atomic.Int32
	var creator social.UserID
	var all sync.WaitGroup
	for i := range users {
		users[i] = newUser()
		users[i].Identity = [32]byte{1}
		all.Go(func() {
			switch err := w.InsertUser(w.ctx, users[i], event(social.EventUserSignedUp)); {
			case err == nil:
				created.Add(1)
				creator = users[i].User.ID
			case !errors.Is(err, social.ErrIdentityKnown):
				w.t.Errorf("a concurrent InsertUser: %v", err)
			}
		})
	}
	all.Wait()
	w.same(int(created.Load()), 1, "the number of accounts")
	w.mustIdentify("whose it is", map[byte]social.Identity{1: {User: creator}}, 1)
	for i := range users {
		if users[i].User.ID != creator {
			absent(w, "user", w.Users, users[i].User.ID)
		}
	}
}

func endIdentitiesRefusesEarlierTokens(w *world) {
	ada, ben := w.sighted(1), w.sighted(2)
	others := map[byte]social.Identity{2: {User: ben.User.ID}}
	with := func(ended time.Time) map[byte]social.Identity {
		others[1] = social.Identity{User: ada.User.ID, EndedAt: ended}
		return others
	}
	w.mustIdentify("before", with(time.Time{}), 1, 2)
	since, later := w.tail(), now()
	w.ok(w.EndIdentities(w.ctx, ada.User.ID, later), "EndIdentities")
	w.mustIdentify("ended", with(later), 1, 2)
	w.ok(w.EndIdentities(w.ctx, ada.User.ID, later.Add(-time.Hour)), "EndIdentities of an earlier time")
	w.mustIdentify("ended earlier", with(later), 1, 2)
	w.ok(w.EndIdentities(w.ctx, newUserID(), later), "EndIdentities of an unknown user")
	w.ok(w.EndIdentities(w.ctx, w.user().ID, later), "EndIdentities of a user without any")
	var reported [][32]byte
	for _, e := range since.rest() {
		if e.Kind == social.EventSessionEnded {
			w.same(e.Actor, ada.User.ID, "whose identity has ended")
			reported = append(reported, e.Session)
		}
	}
	w.same(reported, [][32]byte{{1}, {1}}, "the identities that events report")
}

func deleteUserKeepsTheKeyOfAnIdentity(w *world) {
	ada, ben := w.sighted(1), w.sighted(2)
	w.ok(w.EndIdentities(w.ctx, ada.User.ID, now()), "EndIdentities")
	w.fails(w.ReadmitIdentity(w.ctx, ada.Identity), social.ErrNotFound, "readmitting one who is there")
	w.mustIdentify("before", map[byte]social.Identity{2: {User: ben.User.ID}}, 2)
	since := w.tail()
	w.delete(person{ada.User.ID, ada.Following.ID})
	deleted := map[byte]social.Identity{1: {}, 2: {User: ben.User.ID}}
	w.mustIdentify("after the deletion", deleted, 1, 2)
	var reported [][32]byte
	for _, e := range since.rest() {
		if e.Kind == social.EventSessionEnded {
			reported = append(reported, e.Session)
		}
	}
	w.same(reported, [][32]byte{{1}}, "the identities that events report")
	w.settleDeletion(person{ada.User.ID, ada.Following.ID})
	w.mustIdentify("when nothing is left", deleted, 1, 2)
	again := newUser()
	again.Identity = ada.Identity
	w.fails(w.InsertUser(w.ctx, again, event(social.EventUserSignedUp)), social.ErrIdentityKnown, "signing up with the identity of a deleted user")
	w.fails(w.ReadmitIdentity(w.ctx, [32]byte{9}), social.ErrNotFound, "readmitting one who never was")
	w.ok(w.ReadmitIdentity(w.ctx, ada.Identity), "ReadmitIdentity")
	w.mustIdentify("readmitted", map[byte]social.Identity{2: {User: ben.User.ID}}, 1, 2)
	w.fails(w.ReadmitIdentity(w.ctx, ada.Identity), social.ErrNotFound, "readmitting again")
	w.ok(w.InsertUser(w.ctx, again, event(social.EventUserSignedUp)), "signing up again")
	w.mustIdentify("back again", map[byte]social.Identity{1: {User: again.User.ID}}, 1)
}
