package storagetest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"plaza/id"
	"plaza/social"
)

var circleCases = []testCase{
	{"InsertCircleStoresCircles", insertCircleStoresCircles},
	{"InsertCircleGivesIDsBehindTheOthers", insertCircleGivesIDs},
	{"CircleNamesAreUniqueIgnoringCase", circleNamesAreUniqueIgnoringCase},
	{"RenameCircleRenames", renameCircleRenames},
	{"DeleteCircleEndsItsFollows", deleteCircleEndsItsFollows},
	{"CirclesReadsByID", circlesReadsByID},
	{"CirclesOfListsOldestFirst", circlesOfListsOldestFirst},
	{"MembersListsByMembership", membersListsByMembership},
	{"MembersSurviveOtherCircles", membersSurviveOtherCircles},
	{"AddToCircleBeginsAFollowOnce", addToCircleBeginsAFollowOnce},
	{"AddToCircleNeedsCircleAndMember", addToCircleNeedsCircleAndMember},
	{"AddToCircleFailsWithABlock", addToCircleFailsWithABlock},
	{"RemoveFromCircleEndsAFollowWithTheLastCircle", removeFromCircleEndsAFollow},
	{"RemoveFromCircleDoesNothingForNonMembers", removeFromCircleDoesNothingForNonMembers},
	{"UnfollowRemovesFromAllCircles", unfollowRemovesFromAllCircles},
	{"AFollowKeepsItsFirstEdge", aFollowKeepsItsFirstEdge},
	{"TextsAreReturnedByteForByte", circleNamesAreReturnedByteForByte},
}

func insertCircleStoresCircles(w *world) {
	ada := w.user()
	c := &social.Circle{ID: newCircleID(), Owner: ada.ID, Name: "Close Friends"}
	w.ok(w.InsertCircle(w.ctx, c, social.MaxCircles, event(social.EventCircleCreated)), "InsertCircle")
	w.same(w.getCircle(c.ID), c, "the circle")
}

// insertCircleGivesIDs: ids are in order even if a person's earlier circles come from a server with
// a fast clock.
func insertCircleGivesIDs(w *world) {
	u := newUser()
	u.Following.ID = social.CircleID{ID: id.At(now().Add(time.Hour))}
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	tail := w.tail()
	last := u.Following.ID
	for _, name := range []string{"Friends", "Family"} {
		c := &social.Circle{Owner: u.User.ID, Name: name}
		w.ok(w.InsertCircle(w.ctx, c, social.MaxCircles, event(social.EventCircleCreated)), "InsertCircle %q", name)
		if c.ID.Compare(last.ID) <= 0 {
			w.t.Errorf("the circle %q has the id %v, which does not sort after %v", name, c.ID, last)
		}
		w.same(w.getCircle(c.ID), c, "the circle")
		w.same(tail.next().Circle, c.ID, "the event's circle")
		last = c.ID
	}
	refused := &social.Circle{Owner: u.User.ID, Name: "friends"}
	w.fails(w.InsertCircle(w.ctx, refused, social.MaxCircles, event(social.EventCircleCreated)), social.ErrTaken, "a name in use")
	w.same(refused.ID, social.CircleID{}, "the id of a refused circle")
}

func circleNamesAreUniqueIgnoringCase(w *world) {
	ada, ben := w.user(), w.user()
	for _, names := range [][2]string{
		{"Friends", "fRIENDS"},
		{"Same", "Same"},
		{"Ärzte", "ÄRZTE"},
		{"ДРУЗЬЯ", "друзья"},
		{"Φίλοι", "ΦΊΛΟΙ"},
		{"Caf\u00e9", "CAFE\u0301"},
		{"Straße", "STRASSE"},
		{"ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"},
	} {
		w.circle(ada, names[0])
		w.circle(ben, names[1]) // names of different owners have nothing to do with each other
		again := &social.Circle{ID: newCircleID(), Owner: ada.ID, Name: names[1]}
		err := w.InsertCircle(w.ctx, again, social.MaxCircles, event(social.EventCircleCreated))
		w.fails(err, social.ErrTaken, "a circle %q beside %q", names[1], names[0])
		absent(w, "refused circle", w.Circles, again.ID)
	}
	builtIn := &social.Circle{ID: newCircleID(), Owner: ada.ID, Name: "FOLLOWING"}
	err := w.InsertCircle(w.ctx, builtIn, social.MaxCircles, event(social.EventCircleCreated))
	w.fails(err, social.ErrTaken, "a circle with the name of the built-in one")
}

func renameCircleRenames(w *world) {
	ada, ben := w.user(), w.user()
	friends, family := w.circle(ada, "Friends"), w.circle(ada, "Family")
	w.circle(ben, "Rivals")
	w.join(friends, ada, ben)
	rename := func(circle social.CircleID, name string) error {
		return w.RenameCircle(w.ctx, circle, name, event(social.EventCircleRenamed))
	}
	w.fails(rename(newCircleID(), "Nothing"), social.ErrNotFound, "renaming what is absent")
	w.fails(rename(friends, "fAMILY"), social.ErrTaken, "renaming to a name in use")
	w.same(w.getCircle(friends).Name, "Friends", "the name after a refusal")

	w.ok(rename(friends, "FRIENDS"), "changing the case of a name")
	w.ok(rename(friends, "FRIENDS"), "renaming to the same name")
	w.ok(rename(friends, "Rivals"), "taking the name of another owner's circle")
	want := &social.Circle{ID: friends, Owner: ada.ID, Name: "Rivals", MembersCount: 1}
	w.same(w.getCircle(friends), want, "the renamed circle")
	w.ok(rename(family, "friends"), "taking a name that is free again")
	w.fails(rename(friends, "FRIENDS"), social.ErrTaken, "going back to a name that is in use by now")
}

func deleteCircleEndsItsFollows(w *world) {
	people := w.users(5)
	ada, ben, cem, dia, eve := people[0], people[1], people[2], people[3], people[4]
	friends, family := w.circle(ada, "Friends"), w.circle(ada, "Family")
	w.join(friends, ada, ben, cem, dia)
	w.join(family, ada, cem, eve)
	w.follow(ada, dia)
	w.follow(ben, ada)

	w.ok(w.DeleteCircle(w.ctx, friends, event(social.EventCircleDeleted)), "DeleteCircle")
	absent(w, "deleted circle", w.Circles, friends)
	w.same(whole(w, w.Members, friends), []social.Edge(nil), "the members of the deleted circle")
	w.graphIs(people, follows{ada: {cem, dia, eve}, ben: {ada}})

	err := w.DeleteCircle(w.ctx, friends, event(social.EventCircleDeleted))
	w.fails(err, social.ErrNotFound, "deleting the circle again")
	w.join(w.circle(ada, "FRIENDS"), ada, ben) // name and member are free again
	w.graphIs(people, follows{ada: {ben, cem, dia, eve}, ben: {ada}})
	_, err = w.add(friends, ada, ben)
	w.fails(err, social.ErrNotFound, "adding to the deleted circle")
}

func circlesReadsByID(w *world) {
	people := w.users(150)
	ids := []social.CircleID{newCircleID(), {}}
	for i, p := range people {
		ids = append(ids, p.Following, w.circle(p, fmt.Sprint("Circle ", i)))
	}
	ids = append(ids, ids[2], ids[3])
	got := lookup(w, w.Circles, ids)
	w.same(len(got), 300, "the number of circles read")
	for _, circle := range ids[2:] {
		if c := got[circle]; c == nil || c.ID != circle {
			w.t.Fatalf("the circle %v is read as %+v", circle, c)
		}
	}
}

func circlesOfListsOldestFirst(w *world) {
	lists := listing[social.UserID, *social.Circle]{
		w: w, name: "CirclesOf", call: single(w.CirclesOf), key: circleKey, want: map[social.UserID][]*social.Circle{},
	}
	for _, p := range append(w.users(2), w.user()) {
		var more []*social.Circle
		for i := range 10 * len(lists.want) {
			more = append(more, &social.Circle{ID: newCircleID(), Owner: p.ID, Name: fmt.Sprint("Circle ", i)})
		}
		lists.gaps = []social.Key{keyOf(id.New())}
		for _, c := range slices.Backward(more) { // ids order the list, whatever is stored first
			w.ok(w.InsertCircle(w.ctx, c, social.MaxCircles, event(social.EventCircleCreated)), "InsertCircle")
		}
		lists.want[p.ID] = append([]*social.Circle{w.getCircle(p.Following)}, more...)
	}
	lists.check()
}

func membersListsByMembership(w *world) {
	people := w.users(17)
	ada, ben, cem, others := people[0], people[1], people[2], people[3:]
	empty, full, some, near := w.circle(ada, "Empty"), w.circle(ada, "Full"), w.circle(ben, "Some"), w.circle(cem, "Near")
	w.follow(ada, others[4], others[2]) // earlier follows change nothing
	w.join(near, cem, others[2], others[7])
	early := newEdgeID()
	added := w.added(full, ada, slices.Backward(others))
	builtIn := w.added(cem.Following, cem, slices.Backward(others))
	w.join(near, cem, others[3], others[8])
	late := newEdgeID()
	lists := listing[social.CircleID, social.Edge]{
		w: w, name: "Members", call: w.Members, key: edgeKey, gaps: []social.Key{keyOf(early.ID), keyOf(late.ID)},
		want: map[social.CircleID][]social.Edge{
			empty: nil, full: added, newCircleID(): nil, cem.Following: builtIn,
			some: w.added(some, ben, slices.All([]person{others[5], others[3], others[9], ada})),
		},
	}
	lists.check()
}

// added puts people into a circle, and returns their memberships.
func (w *world) added(circle social.CircleID, owner person, members iter.Seq2[int, person]) []social.Edge {
	w.t.Helper()
	var all []social.Edge
	for _, member := range members {
		edge := social.Edge{ID: newEdgeID(), From: owner.ID, To: member.ID}
		m := social.Membership{Circle: circle, Owner: owner.ID, Member: member.ID}
		w.did(true)(w.AddToCircle(w.ctx, m, edge.ID, event(social.EventMemberAdded)))
		all = append(all, edge)
	}
	return all
}

// membersSurviveOtherCircles: memberships in one circle stay in order, whatever happens in others.
func membersSurviveOtherCircles(w *world) {
	people := w.users(4)
	ada, ben, cem, dan := people[0], people[1], people[2], people[3]
	friends, family := w.circle(ada, "Friends"), w.circle(ada, "Family")
	following := w.added(ada.Following, ada, slices.All([]person{dan, cem}))
	w.join(family, ada, cem, ben)
	following = append(following, w.added(ada.Following, ada, slices.All([]person{ben}))...)
	want := w.added(friends, ada, slices.All([]person{dan, ben, cem}))
	w.did(false)(w.add(friends, ada, dan)) // the membership stays as it is
	w.did(true)(w.remove(family, ada, ben))
	w.ok(w.DeleteCircle(w.ctx, family, event(social.EventCircleDeleted)), "DeleteCircle")
	w.same(whole(w, w.Members, friends), want, "the members of the other circle")
	w.same(whole(w, w.Members, ada.Following), following, "the members of the built-in circle")

	w.did(true)(w.remove(friends, ada, dan))
	want = append(want[1:], w.added(friends, ada, slices.All([]person{dan}))...)
	w.same(whole(w, w.Members, friends), want, "the members when one has left and come back")
	w.did(true)(w.remove(ada.Following, ada, dan))
	following = append(following[1:], w.added(ada.Following, ada, slices.All([]person{dan}))...)
	w.same(whole(w, w.Members, ada.Following), following, "the members of the built-in circle when one has left and come back")
	w.did(true)(w.Unfollow(w.ctx, ada.ID, ben.ID, event(social.EventUnfollowed)))
	w.did(true)(w.block(cem, ada))
	w.same(whole(w, w.Members, friends), want[2:], "the members after an unfollow and a block")
	w.same(whole(w, w.Members, ada.Following), following[2:], "the members of the built-in circle after an unfollow and a block")
}

func addToCircleBeginsAFollowOnce(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	friends := w.circle(ada, "Friends")
	w.did(true)(w.add(ada.Following, ada, ben))
	w.did(false)(w.add(ada.Following, ada, ben))
	w.did(true)(w.add(friends, ada, ben))
	w.did(false)(w.add(friends, ada, ben))
	w.did(true)(w.add(friends, ada, cem))
	w.graphIs(people, follows{ada: {ben, cem}})
	w.same(w.getCircle(friends).MembersCount, 2, "the members count of Friends")
	w.same(w.getCircle(ada.Following).MembersCount, 1, "the members count of Following")
	w.same(w.getUser(ben.ID).FollowersCount, 1, "the followers count of a member of two circles")

	w.did(true)(w.add(ben.Following, ben, ada)) // the opposite direction is a separate follow
	w.graphIs(people, follows{ada: {ben, cem}, ben: {ada}})
}

func addToCircleNeedsCircleAndMember(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	missing := person{newUserID(), newCircleID()}
	_, err := w.add(newCircleID(), ada, ben)
	w.fails(err, social.ErrNotFound, "adding to a circle that never was")
	_, err = w.add(ben.Following, ada, cem)
	w.fails(err, social.ErrNotFound, "adding to another user's circle")
	_, err = w.add(ada.Following, ada, missing)
	w.fails(err, social.ErrNotFound, "adding a member who never was")
	w.graphIs(people, follows{})
	w.same(w.relation(missing, ada), social.Relation{}, "the relation of a missing member")
}

func addToCircleFailsWithABlock(w *world) {
	people := w.users(2)
	ada, ben := people[0], people[1]
	w.did(true)(w.block(ada, ben))
	for _, pair := range [][2]person{{ada, ben}, {ben, ada}} {
		_, err := w.add(pair[0].Following, pair[0], pair[1])
		w.fails(err, social.ErrBlocked, "adding across a block")
	}
	w.graphIs(people, follows{})
}

func removeFromCircleEndsAFollow(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	friends := w.circle(ada, "Friends")
	w.follow(ada, ben, cem)
	w.join(friends, ada, ben)
	w.follow(cem, ben)

	w.did(true)(w.remove(ada.Following, ada, ben))
	w.graphIs(people, follows{ada: {ben, cem}, cem: {ben}})
	w.did(true)(w.remove(friends, ada, ben))
	w.graphIs(people, follows{ada: {cem}, cem: {ben}})
	w.did(false)(w.remove(friends, ada, ben))
	w.graphIs(people, follows{ada: {cem}, cem: {ben}})
	w.same(w.getUser(ben.ID).FollowersCount, 1, "the followers count after the removals")
}

func removeFromCircleDoesNothingForNonMembers(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	friends := w.circle(ada, "Friends")
	w.follow(ada, ben)
	w.did(false)(w.remove(friends, ada, ben))       // ben is in another circle only
	w.did(false)(w.remove(ada.Following, ada, cem)) // cem is in none
	w.did(false)(w.remove(newCircleID(), ada, ben)) // there is no such circle
	w.did(false)(w.remove(ada.Following, ada, person{ID: newUserID()}))
	w.did(false)(w.remove(ada.Following, cem, ben)) // it is not cem's circle
	w.graphIs(people, follows{ada: {ben}})
}

func unfollowRemovesFromAllCircles(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	friends := w.circle(ada, "Friends")
	w.follow(ada, ben, cem)
	w.join(friends, ada, ben, cem)
	w.follow(ben, ada)
	w.follow(cem, ben)
	unfollow := func(owner, member social.UserID) (bool, error) {
		return w.Unfollow(w.ctx, owner, member, event(social.EventUnfollowed))
	}
	w.did(true)(unfollow(ada.ID, ben.ID))
	w.graphIs(people, follows{ada: {cem}, ben: {ada}, cem: {ben}})
	w.same(w.getCircle(friends).MembersCount, 1, "the members count of Friends")
	w.did(false)(unfollow(ada.ID, ben.ID))
	w.did(false)(unfollow(ada.ID, newUserID()))
	w.did(false)(unfollow(newUserID(), ada.ID))
	w.graphIs(people, follows{ada: {cem}, ben: {ada}, cem: {ben}})
	w.did(true)(w.add(friends, ada, ben)) // and again
	w.graphIs(people, follows{ada: {ben, cem}, ben: {ada}, cem: {ben}})
}

func aFollowKeepsItsFirstEdge(w *world) {
	ada, ben := w.user(), w.user()
	friends := w.circle(ada, "Friends")
	add := func(circle social.CircleID) social.EdgeID {
		edge := newEdgeID()
		m := social.Membership{Circle: circle, Owner: ada.ID, Member: ben.ID}
		w.did(true)(w.AddToCircle(w.ctx, m, edge, event(social.EventMemberAdded)))
		return edge
	}
	check := func(edge social.EdgeID, when string) {
		w.t.Helper()
		want := []social.Edge{{ID: edge, From: ada.ID, To: ben.ID}}
		w.same(whole(w, w.Followers, ben.ID), want, "the followers %s", when)
		w.same(whole(w, w.Following, ada.ID), want, "the following %s", when)
	}
	first := add(ada.Following)
	check(first, "at first")
	add(friends)
	check(first, "after adding to a second circle")
	w.did(true)(w.remove(ada.Following, ada, ben))
	check(first, "after leaving the first circle")
	w.did(true)(w.remove(friends, ada, ben))
	check(add(friends), "after following again")
}

func circleNamesAreReturnedByteForByte(w *world) {
	ada := w.user()
	for name, text := range hardTexts {
		if len(text) > 1000 {
			text = text[:strings.LastIndex(text[:500], " ")] // names are indexed: no engine need take 60 KB
		}
		w.same(w.getCircle(w.circle(ada, text)).Name, text, "the %s name", name)
	}
}

func userIDs(people []person) []social.UserID {
	var ids []social.UserID
	for _, p := range people {
		ids = append(ids, p.ID)
	}
	return ids
}
