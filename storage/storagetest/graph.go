package storagetest

import (
	"slices"

	"plaza/id"
	"plaza/social"
)

var graphCases = []testCase{
	{"RelationsReadsAllFields", relationsReadsAllFields},
	{"RelationsReadsManyPairs", relationsReadsManyPairs},
	{"PeopleReadsUsersAndRelations", peopleReadsUsersAndRelations},
	{"FollowersAndFollowingListNewestFirst", followersAndFollowingListNewestFirst},
	{"BlockedAndMutedListNewestFirst", blockedAndMutedListNewestFirst},
	{"BlockEndsFollowsInBothDirections", blockEndsFollowsInBothDirections},
	{"BlockTwiceDoesNothing", blockTwiceDoesNothing},
	{"UnblockDoesNotRestoreFollows", unblockDoesNotRestoreFollows},
	{"MuteStoresOnlyTheMute", muteStoresOnlyTheMute},
	{"BlockAndMuteNeedAUser", blockAndMuteNeedAUser},
}

// follows lists, by index, the people that each person follows.
type follows map[person][]person

// graphIs compares the follows, and checks that everything else about these people agrees with
// them.
func (w *world) graphIs(people []person, want follows) {
	w.t.Helper()
	w.checkGraph(people)
	for _, p := range people {
		var got []social.UserID
		for _, edge := range whole(w, w.Following, p.ID) {
			got = append(got, edge.To)
		}
		due := userIDs(want[p])
		for _, ids := range [][]social.UserID{got, due} {
			slices.SortFunc(ids, func(a, b social.UserID) int { return a.Compare(b.ID) })
		}
		w.same(got, due, "the users that person %d follows", slices.Index(people, p))
	}
}

// checkGraph reads everything stored about these people, who are related to no others, and checks
// that it agrees: follows with circles, followers with following, counts with lists, relations with
// all; and that no follow crosses a block.
func (w *world) checkGraph(people []person) {
	w.t.Helper()
	due := map[social.Pair]social.Relation{}
	for _, p := range people {
		w.collectCircles(p, due)
		for _, edge := range whole(w, single(w.Blocked), p.ID) {
			update(due, p.ID, edge.To, func(r *social.Relation) { r.Blocks = true })
			update(due, edge.To, p.ID, func(r *social.Relation) { r.BlockedBy = true })
		}
		for _, edge := range whole(w, single(w.Muted), p.ID) {
			update(due, p.ID, edge.To, func(r *social.Relation) { r.Mutes = true })
		}
	}
	w.checkRelations(people, due)
	w.checkFollowLists(people, due)
}

// collectCircles collects the follows and memberships that follow from an owner's circles, and
// checks their counts.
func (w *world) collectCircles(owner person, due map[social.Pair]social.Relation) {
	w.t.Helper()
	for _, circle := range whole(w, single(w.CirclesOf), owner.ID) {
		members := whole(w, w.Members, circle.ID)
		w.same(circle.MembersCount, len(members), "MembersCount of %q with the members %v", circle.Name, members)
		for _, member := range members {
			update(due, owner.ID, member.To, func(r *social.Relation) { r.Follows = true })
			update(due, member.To, owner.ID, func(r *social.Relation) { r.Circles = append(r.Circles, circle.ID) })
		}
	}
}

func update(relations map[social.Pair]social.Relation, viewer, other social.UserID, change func(*social.Relation)) {
	r := relations[social.Pair{Viewer: viewer, Other: other}]
	change(&r)
	relations[social.Pair{Viewer: viewer, Other: other}] = r
}

// checkRelations compares the relations of all pairs.
func (w *world) checkRelations(people []person, due map[social.Pair]social.Relation) {
	w.t.Helper()
	var pairs []social.Pair
	for _, viewer := range people {
		for _, other := range people {
			if viewer != other {
				pairs = append(pairs, social.Pair{Viewer: viewer.ID, Other: other.ID})
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	got, err := w.Relations(w.ctx, pairs)
	w.ok(err, "Relations")
	for _, pair := range pairs {
		w.same(sorted(got[pair]), sorted(due[pair]), "the relation of %v", pair)
		if r := got[pair]; r.Follows && (r.Blocks || r.BlockedBy) {
			w.t.Errorf("a follow crosses a block: %v: %+v", pair, r)
		}
	}
}

func sorted(r social.Relation) social.Relation {
	r.Circles = slices.Clone(r.Circles)
	slices.SortFunc(r.Circles, func(a, b social.CircleID) int { return a.Compare(b.ID) })
	return r
}

// checkFollowLists compares the follow lists and their counts with the relations, and with each
// other.
func (w *world) checkFollowLists(people []person, due map[social.Pair]social.Relation) {
	w.t.Helper()
	edges := map[social.EdgeID]social.Edge{}
	following := 0
	for _, p := range people {
		list := whole(w, w.Following, p.ID)
		for _, edge := range list {
			following++
			edges[edge.ID] = edge
			if edge.From != p.ID || !due[social.Pair{Viewer: p.ID, Other: edge.To}].Follows {
				w.t.Errorf("Following of %v contains %v, but no circle does", p.ID, edge)
			}
		}
		w.same(w.getUser(p.ID).FollowingCount, len(list), "FollowingCount of %v", p.ID)
	}
	followers := 0
	for _, p := range people {
		list := whole(w, w.Followers, p.ID)
		for _, edge := range list {
			followers++
			w.same(edge, edges[edge.ID], "the follow in Followers and in Following")
		}
		w.same(w.getUser(p.ID).FollowersCount, len(list), "FollowersCount of %v", p.ID)
	}
	for _, r := range due {
		if r.Follows {
			followers--
			following--
		}
	}
	if followers != 0 || following != 0 {
		w.t.Errorf("compared with the circles, Followers has %+d follows and Following %+d", followers, following)
	}
}

func relationsReadsAllFields(w *world) {
	people := w.users(4)
	ada, ben, cem, dia := people[0], people[1], people[2], people[3]
	friends, family := w.circle(ada, "Friends"), w.circle(ada, "Family")
	w.join(friends, ada, ben)
	w.join(family, ada, ben, cem)
	w.follow(ben, ada)
	w.did(true)(w.mute(ben, ada))
	w.did(true)(w.mute(dia, ada))
	w.did(true)(w.block(dia, cem))
	missing := person{ID: newUserID()}
	for _, c := range []struct {
		viewer, other person
		want          social.Relation
	}{
		{ada, ben, social.Relation{Follows: true, Circles: []social.CircleID{ben.Following}}},
		{ben, ada, social.Relation{Follows: true, Mutes: true, Circles: []social.CircleID{friends, family}}},
		{ada, cem, social.Relation{Follows: true}},
		{cem, ada, social.Relation{Circles: []social.CircleID{family}}},
		{dia, ada, social.Relation{Mutes: true}},
		{ada, dia, social.Relation{}},
		{dia, cem, social.Relation{Blocks: true}},
		{cem, dia, social.Relation{BlockedBy: true}},
		{ben, cem, social.Relation{}},
		{ada, missing, social.Relation{}},
		{missing, ada, social.Relation{}},
		{person{}, ada, social.Relation{}},
	} {
		w.same(sorted(w.relation(c.viewer, c.other)), sorted(c.want), "the relation of %v to %v", c.viewer.ID, c.other.ID)
	}
	w.checkGraph(people)
}

// peopleReadsUsersAndRelations compares People with Users and Relations, for a user with many
// relations, one without any, a deleted one, one who does not exist, and one who is requested
// twice.
func peopleReadsUsersAndRelations(w *world) {
	people := w.users(505)
	ada, ben, cem, dia, eve := people[0], people[1], people[2], people[3], people[4]
	w.join(w.circle(ben, "Friends"), ben, ada)
	w.follow(ada, ben)
	w.did(true)(w.mute(ada, ben))
	w.did(true)(w.block(ada, cem))
	w.did(true)(w.block(dia, ada))
	w.follow(eve, ben) // does not involve ada
	gone := people[5]
	w.follow(ada, gone)
	w.delete(gone)
	w.settleDeletion(gone)
	missing := newUserID()
	ids := []social.UserID{missing, {}, ben.ID}
	for _, p := range people {
		ids = append(ids, p.ID)
	}
	for _, viewer := range []social.UserID{ada.ID, cem.ID, gone.ID, missing, {}} {
		var pairs []social.Pair
		for _, other := range ids {
			pairs = append(pairs, social.Pair{Viewer: viewer, Other: other})
		}
		users, relations := lookup(w, w.Users, ids), lookup(w, w.Relations, pairs)
		got, err := w.People(w.ctx, viewer, ids)
		w.ok(err, "People")
		for _, pair := range pairs {
			person := got[pair.Other]
			w.same(person.User, users[pair.Other], "user %v in People", pair.Other)
			w.same(sorted(person.Relation), sorted(relations[pair]), "the relation of %v in People", pair)
		}
		if len(got) > len(people)+2 {
			w.t.Errorf("%d people, want at most %d", len(got), len(people)+2)
		}
	}
}

func relationsReadsManyPairs(w *world) {
	people := w.users(301)
	ada, others := people[0], people[1:]
	var pairs []social.Pair
	due := map[social.Pair]social.Relation{}
	w.followAll(ada, others[:200])
	for i, p := range others {
		there, back := social.Pair{Viewer: ada.ID, Other: p.ID}, social.Pair{Viewer: p.ID, Other: ada.ID}
		pairs = append(pairs, there, back)
		if i < 200 {
			due[there] = social.Relation{Follows: true}
			due[back] = social.Relation{Circles: []social.CircleID{ada.Following}}
		}
	}
	pairs = append(pairs, pairs[0], pairs[1]) // once more
	got := lookup(w, w.Relations, pairs)
	for _, pair := range pairs {
		w.same(got[pair], due[pair], "the relation of %v", pair)
	}
	if len(got) > 600 {
		w.t.Errorf("%d relations for 600 pairs", len(got))
	}
}

// newEdges returns ids of edges, in order, and one that no edge will use.
func newEdges(n int) (edges []social.EdgeID, unused social.Key) {
	for i := range n {
		if i == n/2 {
			unused = keyOf(id.New())
		}
		edges = append(edges, newEdgeID())
	}
	return edges, unused
}

func followersAndFollowingListNewestFirst(w *world) {
	people := w.users(14)
	ids, unused := newEdges(91)
	following, followers := map[social.UserID][]social.Edge{}, map[social.UserID][]social.Edge{}
	for _, p := range people {
		following[p.ID], followers[p.ID] = nil, nil
	}
	// 0 follows 13 people, 1 follows 12, and so on. The ids of edges order the lists, whatever is
	// stored first: every second one is stored at the end.
	var later []func()
	for i, from := range people {
		for j, to := range people[i+1:] {
			edge := social.Edge{ID: ids[len(ids)-1], From: from.ID, To: to.ID}
			ids = ids[:len(ids)-1]
			following[from.ID] = append(following[from.ID], edge)
			followers[to.ID] = append(followers[to.ID], edge)
			store := func() {
				m := social.Membership{Circle: from.Following, Owner: from.ID, Member: to.ID}
				w.did(true)(w.AddToCircle(w.ctx, m, edge.ID, event(social.EventMemberAdded)))
			}
			if j%2 == 0 {
				later = append(later, store)
			} else {
				store()
			}
		}
	}
	for _, store := range later {
		store()
	}
	lists := listing[social.UserID, social.Edge]{w: w, key: edgeKey, descending: true, gaps: []social.Key{unused}}
	lists.name, lists.call, lists.want = "Following", w.Following, pick(following, people, 0, 1, 6, 13)
	lists.check()
	lists.name, lists.call, lists.want = "Followers", w.Followers, pick(followers, people, 0, 1, 7, 13)
	lists.check()
	w.checkGraph(people)
}

// pick returns some people's lists.
func pick[T any](all map[social.UserID][]T, people []person, places ...int) map[social.UserID][]T {
	some := map[social.UserID][]T{}
	for _, i := range places {
		some[people[i].ID] = all[people[i].ID]
	}
	return some
}

func blockedAndMutedListNewestFirst(w *world) {
	people := w.users(13)
	ada, ben, others := people[0], people[1], people[2:]
	ids, unused := newEdges(len(others))
	blocked, muted := map[social.UserID][]social.Edge{}, map[social.UserID][]social.Edge{ben.ID: nil}
	for i, other := range others { // the first has the newest edge
		edge := social.Edge{ID: ids[len(ids)-1-i], From: ada.ID, To: other.ID}
		blocked[ada.ID] = append(blocked[ada.ID], edge)
		w.did(true)(w.Block(w.ctx, edge, event(social.EventBlocked)))
		edge.From, edge.To = other.ID, ada.ID // a block or mute in the other direction is not listed
		if i%2 == 0 {
			w.did(true)(w.Block(w.ctx, edge, event(social.EventBlocked)))
			blocked[other.ID] = []social.Edge{edge}
		}
		edge.From, edge.To = ada.ID, other.ID
		w.did(true)(w.Mute(w.ctx, edge, event(social.EventMuted)))
		muted[ada.ID] = append(muted[ada.ID], edge)
	}
	blocked[ben.ID] = nil
	lists := listing[social.UserID, social.Edge]{w: w, key: edgeKey, descending: true, gaps: []social.Key{unused}}
	lists.name, lists.call, lists.want = "Blocked", single(w.Blocked), pick(blocked, people, 0, 1, 2)
	lists.check()
	lists.name, lists.call, lists.want = "Muted", single(w.Muted), pick(muted, people, 0, 1, 2)
	lists.check()
	w.checkGraph(people)
}

func blockEndsFollowsInBothDirections(w *world) {
	people := w.users(4)
	ada, ben, cem, dia := people[0], people[1], people[2], people[3]
	friends, theirs := w.circle(ada, "Friends"), w.circle(ben, "Friends")
	w.follow(ada, ben, cem)
	w.join(friends, ada, ben)
	w.follow(ben, ada, cem)
	w.join(theirs, ben, ada)
	w.follow(cem, ada)
	w.follow(dia, cem)
	w.did(true)(w.mute(ben, ada))

	w.did(true)(w.block(ada, ben))
	w.graphIs(people, follows{ada: {cem}, ben: {cem}, cem: {ada}, dia: {cem}})
	w.same(w.relation(ada, ben), social.Relation{Blocks: true}, "the relation of the blocker to the blocked")
	w.same(w.relation(ben, ada), social.Relation{BlockedBy: true, Mutes: true}, "the relation of the blocked to the blocker")

	w.did(true)(w.block(cem, dia)) // one direction only
	w.graphIs(people, follows{ada: {cem}, ben: {cem}, cem: {ada}})
	w.did(true)(w.block(ben, dia)) // none
	w.graphIs(people, follows{ada: {cem}, ben: {cem}, cem: {ada}})
}

func blockTwiceDoesNothing(w *world) {
	people := w.users(2)
	ada, ben := people[0], people[1]
	first := social.Edge{ID: newEdgeID(), From: ada.ID, To: ben.ID}
	w.did(true)(w.Block(w.ctx, first, event(social.EventBlocked)))
	w.did(false)(w.block(ada, ben))
	w.same(whole(w, single(w.Blocked), ada.ID), []social.Edge{first}, "the blocks")

	w.did(true)(w.block(ben, ada)) // the opposite direction is a separate block
	w.same(w.relation(ada, ben), social.Relation{Blocks: true, BlockedBy: true}, "the relation when both block")
	w.did(true)(w.Unblock(w.ctx, ada.ID, ben.ID, event(social.EventUnblocked)))
	w.same(w.relation(ada, ben), social.Relation{BlockedBy: true}, "the relation when one has unblocked")
	_, err := w.add(ada.Following, ada, ben)
	w.fails(err, social.ErrBlocked, "following while the other still blocks")
}

func unblockDoesNotRestoreFollows(w *world) {
	people := w.users(3)
	ada, ben := people[0], people[1]
	w.follow(ada, ben)
	w.follow(ben, ada)
	unblock := func(from, to person) (bool, error) {
		return w.Unblock(w.ctx, from.ID, to.ID, event(social.EventUnblocked))
	}
	w.did(false)(unblock(ada, ben))
	w.did(true)(w.block(ada, ben))
	w.did(false)(unblock(ben, ada)) // it is not theirs to end
	w.did(true)(unblock(ada, ben))
	w.did(false)(unblock(ada, ben))
	w.did(false)(unblock(ada, person{ID: newUserID()}))
	w.graphIs(people, follows{})
	w.same(w.relation(ada, ben), social.Relation{}, "the relation afterwards")
	w.did(true)(w.add(ada.Following, ada, ben))
	w.graphIs(people, follows{ada: {ben}})
}

func muteStoresOnlyTheMute(w *world) {
	people := w.users(2)
	ada, ben := people[0], people[1]
	w.follow(ada, ben)
	w.follow(ben, ada)
	unmute := func(from, to person) (bool, error) {
		return w.Unmute(w.ctx, from.ID, to.ID, event(social.EventUnmuted))
	}
	first := social.Edge{ID: newEdgeID(), From: ada.ID, To: ben.ID}
	w.did(true)(w.Mute(w.ctx, first, event(social.EventMuted)))
	w.did(false)(w.mute(ada, ben))
	w.same(whole(w, single(w.Muted), ada.ID), []social.Edge{first}, "the mutes")
	w.graphIs(people, follows{ada: {ben}, ben: {ada}})
	w.did(false)(unmute(ben, ada))
	w.did(true)(unmute(ada, ben))
	w.did(false)(unmute(ada, ben))
	w.graphIs(people, follows{ada: {ben}, ben: {ada}})
	w.same(w.relation(ada, ben).Mutes, false, "the mute after Unmute")
}

func blockAndMuteNeedAUser(w *world) {
	ada, missing := w.user(), person{ID: newUserID()}
	_, err := w.block(ada, missing)
	w.fails(err, social.ErrNotFound, "blocking a missing user")
	_, err = w.mute(ada, missing)
	w.fails(err, social.ErrNotFound, "muting a missing user")
	w.same(w.relation(ada, missing), social.Relation{}, "the relation to a missing user")
	w.same(whole(w, single(w.Blocked), ada.ID), []social.Edge(nil), "the blocks")
	w.same(whole(w, single(w.Muted), ada.ID), []social.Edge(nil), "the mutes")
}
