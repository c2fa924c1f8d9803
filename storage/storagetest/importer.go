package storagetest

import (
	"fmt"
	"slices"

	"plaza/social"
)

var importerCases = []testCase{
	{"ImportUsersStoresUsers", importUsersStoresUsers},
	{"ImportUsersKeepsExistingUsers", importUsersKeepsExistingUsers},
	{"ImportUsersKeepsThoseWhoAreAway", importUsersKeepsThoseWhoAreAway},
	{"ImportUsersRejectsATakenHandle", importUsersRejectsATakenHandle},
	{"ImportCirclesStoresCircles", importCirclesStoresCircles},
	{"ImportMembershipsBeginsFollows", importMembershipsBeginsFollows},
	{"ImportMembershipsCanBeRepeated", importMembershipsCanBeRepeated},
	{"ImportMembershipsWithOtherFollows", importMembershipsWithOtherFollows},
	{"ImportMembershipsSkipsBlockedPairs", importMembershipsSkipsBlockedPairs},
	{"ImportMembershipsNeedsUsers", importMembershipsNeedsUsers},
	{"ImportMembershipsSkipsMissingCircles", importMembershipsSkipsMissingCircles},
	{"ImportsTakeLargeBatches", importsTakeLargeBatches},
}

func importUsersStoresUsers(w *world) {
	fresh := []social.NewUser{newUser(), newUser()}
	fresh[0].User.Bio, fresh[0].User.WallPolicy, fresh[0].PasswordHash = "A bio", social.WallNobody, ""
	w.same(number(w)(w.ImportUsers(w.ctx, fresh)), 2, "the number of users added")
	for _, u := range fresh {
		w.same(w.getUser(u.User.ID), &u.User, "the user")
		w.same(w.getCircle(u.Following.ID), &u.Following, "the built-in circle")
		user, hash, err := w.PasswordHash(w.ctx, u.User.Handle)
		w.ok(err, "PasswordHash")
		w.same(user, u.User.ID, "PasswordHash's user")
		w.same(hash, u.PasswordHash, "the hash")
	}
}

func importUsersKeepsExistingUsers(w *world) {
	old, fresh := newUser(), newUser()
	w.ok(w.InsertUser(w.ctx, old, event(social.EventUserSignedUp)), "InsertUser")
	other := w.user()
	w.follow(person{old.User.ID, old.Following.ID}, other)

	changed := old
	changed.User.Name, changed.User.Bio, changed.PasswordHash = "Another", "name", "hash"
	changed.User.Handle = "another_name"
	changed.Following.ID = newCircleID() // an id that is not derived: the user has a built-in circle already
	for i, want := range []int{1, 0} {
		got := number(w)(w.ImportUsers(w.ctx, []social.NewUser{changed, fresh, fresh}))
		w.same(got, want, "the number of users added by run %d", i)
	}
	old.User.FollowingCount = 1
	w.same(w.getUser(old.User.ID), &old.User, "the user who existed")
	circles := whole(w, single(w.CirclesOf), old.User.ID)
	old.Following.MembersCount = 1
	w.same(circles, []*social.Circle{&old.Following}, "the circles of the user who existed")
	w.same(w.getUser(fresh.User.ID), &fresh.User, "the new user")
	absent(w, "user by a handle that was not stored", w.UsersByHandle, "another_name")
}

func importUsersKeepsThoseWhoAreAway(w *world) {
	u := newUser()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	again := func(when string) {
		w.t.Helper()
		w.same(number(w)(w.ImportUsers(w.ctx, []social.NewUser{u})), 0, "the number of users added %s", when)
	}
	w.ok(w.Leave(w.ctx, u.User.ID, now(), standingEvent(u.User.ID)), "Leave")
	again("while one of them is away")
	w.did(true)(w.Return(w.ctx, u.User.ID, standingEvent(u.User.ID)))
	again("when they are back")
}

func importUsersRejectsATakenHandle(w *world) {
	old, fresh, thief := newUser(), newUser(), newUser()
	w.ok(w.InsertUser(w.ctx, old, event(social.EventUserSignedUp)), "InsertUser")
	thief.User.Handle = old.User.Handle
	_, err := w.ImportUsers(w.ctx, []social.NewUser{fresh, thief})
	w.fails(err, social.ErrTaken, "importing a taken handle")
	absent(w, "user of a refused import", w.Users, fresh.User.ID, thief.User.ID)
	absent(w, "circle of a refused import", w.Circles, fresh.Following.ID, thief.Following.ID)
	w.same(number(w)(w.ImportUsers(w.ctx, []social.NewUser{fresh})), 1, "the number of users added without the thief")
}

func importCirclesStoresCircles(w *world) {
	ada, ben := w.user(), w.user()
	circles := []*social.Circle{
		{ID: newCircleID(), Owner: ada.ID, Name: "Friends"},
		{ID: newCircleID(), Owner: ada.ID, Name: "Family"},
		{ID: newCircleID(), Owner: ben.ID, Name: "Friends"},
	}
	for i, want := range []int{3, 0} {
		w.same(number(w)(w.ImportCircles(w.ctx, circles)), want, "the number of circles added by run %d", i)
	}
	w.ok(w.RenameCircle(w.ctx, circles[0].ID, "Close Friends", event(social.EventCircleRenamed)), "RenameCircle")
	w.join(circles[0].ID, ada, ben)
	w.same(number(w)(w.ImportCircles(w.ctx, circles)), 0, "the number of circles added after changes")
	want := &social.Circle{ID: circles[0].ID, Owner: ada.ID, Name: "Close Friends", MembersCount: 1}
	w.same(w.getCircle(circles[0].ID), want, "the circle that was changed meanwhile")
	w.same(w.getCircle(circles[2].ID), circles[2], "another circle")

	fresh := &social.Circle{ID: newCircleID(), Owner: ada.ID, Name: "New"}
	thief := &social.Circle{ID: newCircleID(), Owner: ada.ID, Name: "fAMILY"}
	_, err := w.ImportCircles(w.ctx, []*social.Circle{fresh, thief})
	w.fails(err, social.ErrTaken, "importing a taken name")
	absent(w, "circle of a refused import", w.Circles, fresh.ID, thief.ID)
}

// batch collects memberships to import.
type batch struct {
	memberships []social.Membership
	edges       []social.EdgeID
}

func (b *batch) add(circle social.CircleID, owner, member person) social.EdgeID {
	b.memberships = append(b.memberships, social.Membership{Circle: circle, Owner: owner.ID, Member: member.ID})
	b.edges = append(b.edges, newEdgeID())
	return b.edges[len(b.edges)-1]
}

// importIt imports the batch.
func (w *world) importIt(b *batch) int {
	w.t.Helper()
	added, err := w.ImportMemberships(w.ctx, b.memberships, b.edges)
	w.ok(err, "ImportMemberships")
	return added
}

func importMembershipsBeginsFollows(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	friends := w.circle(ada, "Friends")
	var b batch
	first := b.add(ada.Following, ada, ben)
	b.add(friends, ada, ben)
	b.add(friends, ada, cem)
	b.add(ben.Following, ben, ada)
	w.same(w.importIt(&b), 4, "the number of memberships added")
	w.graphIs(people, follows{ada: {ben, cem}, ben: {ada}})
	want := []social.Edge{{ID: first, From: ada.ID, To: ben.ID}}
	w.same(whole(w, w.Followers, ben.ID), want, "the follow with the edge of the first membership")
}

func importMembershipsCanBeRepeated(w *world) {
	people := w.users(6)
	var b batch
	want := follows{}
	for i, from := range people {
		for _, to := range people[i+1:] {
			b.add(from.Following, from, to)
			b.add(from.Following, from, to) // files contain duplicate lines
			want[from] = append(want[from], to)
		}
	}
	for i, added := range []int{15, 0, 0} {
		w.same(w.importIt(&b), added, "the number of memberships added by run %d", i)
		w.graphIs(people, want)
	}
	half := batch{b.memberships[:10], b.edges[:10]}
	w.did(true)(w.Unfollow(w.ctx, people[0].ID, people[1].ID, event(social.EventUnfollowed)))
	w.same(w.importIt(&half), 1, "the number of memberships added after an unfollow")
	w.graphIs(people, want)
}

func importMembershipsWithOtherFollows(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	friends := w.circle(ada, "Friends")
	w.follow(ada, ben)
	follow := whole(w, w.Following, ada.ID)
	var b batch
	b.add(ada.Following, ada, ben) // it exists already
	b.add(friends, ada, ben)       // the follow exists already
	b.add(friends, ada, cem)
	w.same(w.importIt(&b), 2, "the number of memberships added")
	w.graphIs(people, follows{ada: {ben, cem}})
	w.same(last(whole(w, w.Following, ada.ID), 1), follow, "the follow that was there keeps its edge")
	w.did(true)(w.remove(ada.Following, ada, ben))
	w.same(w.importIt(&b), 1, "the number of memberships added after a removal")
	w.did(true)(w.Unfollow(w.ctx, ada.ID, cem.ID, event(social.EventUnfollowed)))
	w.graphIs(people, follows{ada: {ben}})
}

func importMembershipsSkipsBlockedPairs(w *world) {
	people := w.users(4)
	ada, ben, cem, dia := people[0], people[1], people[2], people[3]
	w.did(true)(w.block(ada, ben))
	w.did(true)(w.block(cem, ada))
	var b batch
	b.add(ada.Following, ada, ben)
	b.add(ada.Following, ada, cem)
	b.add(ada.Following, ada, dia)
	b.add(ben.Following, ben, ada)
	b.add(ben.Following, ben, cem)
	b.add(cem.Following, cem, ada)
	w.same(w.importIt(&b), 2, "the number of memberships added")
	w.graphIs(people, follows{ada: {dia}, ben: {cem}})
}

func importMembershipsNeedsUsers(w *world) {
	people := w.users(2)
	ada, ben := people[0], people[1]
	var b batch
	b.add(ada.Following, ada, ben)
	b.add(ada.Following, ada, person{ID: newUserID()})
	if _, err := w.ImportMemberships(w.ctx, b.memberships, b.edges); err == nil {
		w.t.Error("importing an absent member: no error")
	}
	w.graphIs(people, follows{}) // all or nothing
}

func importMembershipsSkipsMissingCircles(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	deleted := w.circle(ada, "Friends")
	w.ok(w.DeleteCircle(w.ctx, deleted, event(social.EventCircleDeleted)), "DeleteCircle")
	var b batch
	b.add(deleted, ada, cem)
	b.add(ada.Following, ada, ben)
	b.add(newCircleID(), ada, cem)
	b.add(ben.Following, ada, cem) // another user's
	b.add(ben.Following, ben, ada)
	w.same(w.importIt(&b), 2, "the number of memberships added")
	w.graphIs(people, follows{ada: {ben}, ben: {ada}})
}

func importsTakeLargeBatches(w *world) {
	people := w.users(1000)
	ada := people[0]
	var circles []*social.Circle
	for i := range 1000 {
		circles = append(circles, &social.Circle{ID: newCircleID(), Owner: people[i%500].ID, Name: fmt.Sprint("Circle ", i)})
	}
	w.same(number(w)(w.ImportCircles(w.ctx, circles)), 1000, "the number of circles added")
	var b batch
	for i, p := range people[1:501] {
		b.add(ada.Following, ada, p)
		b.add(circles[0].ID, ada, people[500+i/2])
	}
	w.same(w.importIt(&b), 750, "the number of memberships added")
	w.same(w.getUser(ada.ID).FollowingCount, 749, "the following count") // one person is in both circles
	w.same(len(whole(w, w.Following, ada.ID)), 749, "the number of follows")
	w.same(w.getCircle(circles[0].ID).MembersCount, 250, "the members count")
	members := whole(w, w.Members, ada.Following)
	w.same(slices.EqualFunc(members, userIDs(people[1:501]), func(e social.Edge, user social.UserID) bool { return e.To == user }), true,
		"whether the members are those imported")
}
