package storagetest

import (
	"time"

	"plaza/social"
)

var standingCases = []testCase{
	{"ASuspensionIsStored", aSuspensionIsStored},
	{"ABannedUserIsAway", aBannedUserIsAway},
	{"ADeactivatedUserComesBack", aDeactivatedUserComesBack},
	{"TwoReasonsToBeAway", twoReasonsToBeAway},
	{"ABannedUserIsDeleted", aBannedUserIsDeleted},
}

// sanction stores a decision about a user, on a case (nil: none), and returns it.
func (w *world) sanction(user social.UserID, c *social.Case, action social.Action, until time.Time) social.Decision {
	w.t.Helper()
	d := social.Decision{
		Subject: social.Subject{User: user}, Author: user, Action: action, Reason: "because of " + string(action), At: now(), Until: until,
	}
	if c != nil {
		d.Subject = c.Subject
	}
	r, err := w.getUser(user).Sanction(d, c)
	w.ok(err, "Sanction")
	w.ok(w.Decide(w.ctx, r, standingEvent(user)), "Decide")
	return d
}

func standingEvent(user social.UserID) social.Event {
	e := event(social.EventStandingChanged)
	e.Target = user
	return e
}

func aSuspensionIsStored(w *world) {
	ada, ben := w.user(), w.user()
	token := [32]byte{1}
	w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: token, User: ada.ID, ExpiresAt: now().Add(time.Hour)}), "InsertSession")
	post := w.reported(ada, ben, social.Audience{Kind: social.AudiencePublic})
	tail := w.tail()
	until := now().Add(time.Hour)
	d := w.sanction(ada.ID, w.caseOn(post), social.ActionSuspend, until)
	w.same(w.getUser(ada.ID).Standing, social.Standing{Sanction: social.SanctionSuspended, Until: until, Reason: d.Reason}, "the standing")
	c := w.caseOn(post)
	w.same([]any{c.State, c.Decisions}, []any{social.CaseDecided, 1}, "the case")
	w.same(w.relation(ben, ada).Away, false, "whether a suspended user is away")
	_, err := w.Session(w.ctx, token, now())
	w.ok(err, "the session of a suspended user")
	var kinds []social.EventKind
	for _, e := range tail.rest() {
		kinds = append(kinds, e.Kind)
	}
	w.same(kinds, []social.EventKind{social.EventStandingChanged}, "the events")
	told, err := w.DecisionsForAuthor(w.ctx, ada.ID, everything)
	w.ok(err, "DecisionsForAuthor")
	d.ID = told[0].ID
	w.same(*told[0], d, "the decision that the user sees")

	stale := *c
	stale.Decisions--
	r, err := w.getUser(ada.ID).Sanction(social.Decision{Subject: c.Subject, Author: ada.ID, Action: social.ActionBan, Reason: "x", At: now()}, &stale)
	w.ok(err, "Sanction")
	w.fails(w.Decide(w.ctx, r, standingEvent(ada.ID)), social.ErrConflict, "a decision on the case before the other one")
	w.same(w.getUser(ada.ID).Standing.Sanction, social.SanctionSuspended, "the standing after that")
	w.sanction(ada.ID, c, social.ActionReinstate, time.Time{})
	w.same(w.getUser(ada.ID).Standing, social.Standing{}, "the standing of a reinstated user")
}

func aBannedUserIsAway(w *world) {
	ada, cem := w.user(), w.user()
	u := w.sighted(1)
	ben := person{u.User.ID, u.Following.ID}
	w.follow(ada, ben)
	post := w.status(ben)
	tokens := [][32]byte{{1, 1}, {1, 2}}
	for i, token := range tokens {
		s := social.Session{TokenHash: token, User: ben.ID, ExpiresAt: now().Add(time.Hour)}
		if i == 0 {
			w.ok(w.InsertSession(w.ctx, s), "InsertSession")
			continue
		}
		s.Grant = &social.Grant{Name: "robot"}
		w.ok(w.InsertAccessToken(w.ctx, s, 1), "InsertAccessToken")
	}
	tail := w.tail()
	d := w.sanction(ben.ID, nil, social.ActionBan, time.Time{})
	ended := map[[32]byte]bool{}
	for _, e := range tail.rest() {
		if e.Kind == social.EventSessionEnded {
			ended[e.Session] = true
		}
	}
	w.same(ended, map[[32]byte]bool{tokens[0]: true, tokens[1]: true, u.Identity: true}, "what events report as ended")
	for _, token := range tokens {
		_, err := w.Session(w.ctx, token, now())
		w.fails(err, social.ErrNotFound, "a session of a banned user")
	}
	w.mustIdentify("of a banned user", map[byte]social.Identity{1: {User: ben.ID, EndedAt: d.At, Away: true}}, 1)
	w.awayIs(true, ben, ada, cem)
	w.same(w.getUser(ben.ID).Standing, social.Standing{Sanction: social.SanctionBanned, Reason: d.Reason}, "the standing")
	w.same(w.getPost(post.ID).Author, ben.ID, "whose post it is")
	w.same(w.getUser(ben.ID).FollowersCount, 1, "the followers of a banned user")

	w.sanction(ben.ID, nil, social.ActionReinstate, time.Time{})
	w.awayIs(false, ben, ada, cem)
	w.same(w.relation(ada, ben).Follows, true, "whether ada still follows")
	w.mustIdentify("of a reinstated user", map[byte]social.Identity{1: {User: ben.ID, EndedAt: d.At}}, 1)
	missing := newUserID()
	r := social.Ruling{Decision: social.Decision{Subject: social.Subject{User: missing}, Author: missing, Action: social.ActionBan, Reason: "x", At: now()}, Sanctions: true}
	w.fails(w.Decide(w.ctx, r, standingEvent(missing)), social.ErrNotFound, "banning a user who does not exist")
	all, err := w.Decisions(w.ctx, everything)
	w.ok(err, "Decisions")
	w.same(len(all), 2, "how many decisions there are")
}

// awayIs checks the relations between a user and others, who are there.
func (w *world) awayIs(want bool, user person, others ...person) {
	w.t.Helper()
	pairs := []social.Pair{{Other: user.ID}}
	for _, other := range others {
		pairs = append(pairs, social.Pair{Viewer: other.ID, Other: user.ID}, social.Pair{Viewer: user.ID, Other: other.ID})
	}
	for range 2 { // the second time from memory
		relations, err := w.Relations(w.ctx, pairs)
		w.ok(err, "Relations")
		for i, pair := range pairs {
			w.same([]bool{relations[pair].Away, relations[pair].Gone}, []bool{want, false}, "Away and Gone of pair %d", i)
			people, err := w.People(w.ctx, pair.Viewer, []social.UserID{pair.Other})
			w.ok(err, "People")
			w.same(people[pair.Other].Relation.Away, want, "Away of pair %d, read with the user", i)
			w.same(people[pair.Other].User != nil, true, "whether the user of pair %d is there", i)
		}
	}
}

func aDeactivatedUserComesBack(w *world) {
	ada := w.user()
	u := w.sighted(1)
	ben := person{u.User.ID, u.Following.ID}
	token, at := [32]byte{1, 1}, now()
	w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: token, User: ben.ID, ExpiresAt: now().Add(time.Hour)}), "InsertSession")
	w.fails(w.Leave(w.ctx, newUserID(), at, event(social.EventStandingChanged)), social.ErrNotFound, "Leave of a missing user")
	_, err := w.Return(w.ctx, newUserID(), event(social.EventStandingChanged))
	w.fails(err, social.ErrNotFound, "Return of a missing user")
	w.did(false)(w.Return(w.ctx, ben.ID, standingEvent(ben.ID)))
	w.ok(w.Leave(w.ctx, ben.ID, at, standingEvent(ben.ID)), "Leave")
	w.awayIs(true, ben, ada)
	_, err = w.Session(w.ctx, token, now())
	w.fails(err, social.ErrNotFound, "the session")
	w.mustIdentify("of a user who has left", map[byte]social.Identity{1: {User: ben.ID, EndedAt: at, Away: true}}, 1)
	tail := w.tail()
	back := standingEvent(ben.ID)
	w.did(true)(w.Return(w.ctx, ben.ID, back))
	var last social.Event
	for _, e := range tail.rest() {
		last = e
	}
	w.same([]any{last.Kind, last.Target}, []any{back.Kind, ben.ID}, "the last event")
	w.did(false)(w.Return(w.ctx, ben.ID, standingEvent(ben.ID)))
	w.awayIs(false, ben, ada)
	w.mustIdentify("of a user who is back", map[byte]social.Identity{1: {User: ben.ID, EndedAt: at}}, 1)
	w.same(w.getUser(ben.ID).Standing, social.Standing{}, "the standing")
}

func twoReasonsToBeAway(w *world) {
	ada, ben := w.user(), w.user()
	w.ok(w.Leave(w.ctx, ben.ID, now(), standingEvent(ben.ID)), "Leave")
	w.sanction(ben.ID, nil, social.ActionBan, time.Time{})
	w.awayIs(true, ben, ada)
	w.did(true)(w.Return(w.ctx, ben.ID, standingEvent(ben.ID)))
	w.awayIs(true, ben, ada)
	w.ok(w.Leave(w.ctx, ben.ID, now(), standingEvent(ben.ID)), "Leave")
	w.sanction(ben.ID, nil, social.ActionReinstate, time.Time{})
	w.awayIs(true, ben, ada)
	w.same(w.getUser(ben.ID).Standing, social.Standing{Left: true}, "the standing")
	w.did(true)(w.Return(w.ctx, ben.ID, standingEvent(ben.ID)))
	w.awayIs(false, ben, ada)
}

func aBannedUserIsDeleted(w *world) {
	u := w.sighted(1)
	ben := person{u.User.ID, u.Following.ID}
	w.sanction(ben.ID, nil, social.ActionBan, time.Time{})
	w.delete(ben)
	absent(w, "user", w.Users, ben.ID)
	w.mustIdentify("of a deleted user", map[byte]social.Identity{1: {}}, 1)
	w.settleDeletion(ben)
	pair := social.Pair{Other: ben.ID}
	relations, err := w.Relations(w.ctx, []social.Pair{pair})
	w.ok(err, "Relations")
	w.same(relations[pair].Gone, true, "whether the deleted user is gone")
}
