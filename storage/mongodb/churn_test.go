package mongodb_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
)

// TestChurnKeepsCountsExact lets 64 writers of two servers follow, unfollow, block and unblock the
// same few people, and compares all counts with the lists afterwards.
func TestChurnKeepsCountsExact(t *testing.T) {
	t.Parallel()
	for _, graph := range []string{mongodb.GraphReverse, mongodb.GraphTwo} {
		t.Run(graph, func(t *testing.T) { churnIn(t, mongodb.Options{Graph: graph}) })
	}
}

func churnIn(t *testing.T, o mongodb.Options) {
	t.Helper()
	w := newTownOf(t, nil, o)
	other := secondServer(t, w)
	everybody := w.people(6)
	users, fan := everybody[:5], everybody[5]
	w.follow(fan, users[:1]) // at least one follow must remain
	var writers sync.WaitGroup
	for i := range 64 {
		store := w
		if i%2 == 1 {
			store = other
		}
		writers.Go(func() {
			for range 6 {
				churn(store, users)
			}
		})
	}
	writers.Wait()
	checkGraph(w, everybody)
	checkCopies(w)
}

// checkCopies compares the follows in the edges with the copies that the layout keeps by the
// followed user.
func checkCopies(w *town) {
	w.t.Helper()
	edges, copies, err := w.Follows(w.ctx)
	w.ok(err)
	if len(edges) == 0 || !maps.Equal(edges, copies) {
		w.t.Errorf("%d follows, and by the followed:\n%v\nwant\n%v", len(edges), copies, edges)
	}
}

// secondServer is another store on the same database: the two do not share in-process locks.
func secondServer(t *testing.T, w *town) *town {
	t.Helper()
	return &town{Store: openAt(t, w.uri, mongodb.Options{Comments: w.layout}), t: t, ctx: w.ctx}
}

func churn(w *town, users []social.NewUser) {
	a := users[rand.N(len(users))]
	b := users[rand.N(len(users))]
	if a.User.ID == b.User.ID {
		return
	}
	m := social.Membership{Circle: a.Following.ID, Owner: a.User.ID, Member: b.User.ID}
	var err error
	switch rand.N(10) {
	case 8:
		_, err = w.ImportMemberships(w.ctx, []social.Membership{m}, []social.EdgeID{{ID: id.New()}})
	case 9:
		err = churnCircle(w, m)
	case 0:
		_, err = w.Block(w.ctx, edge(a.User.ID, b.User.ID), happened(social.EventBlocked))
	case 1, 2:
		_, err = w.Unblock(w.ctx, a.User.ID, b.User.ID, happened(social.EventUnblocked))
	case 3:
		_, err = w.Unfollow(w.ctx, a.User.ID, b.User.ID, happened(social.EventUnfollowed))
	case 4:
		_, err = w.RemoveFromCircle(w.ctx, m, happened(social.EventMemberRemoved))
	default:
		_, err = w.AddToCircle(w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded))
	}
	if err != nil && !errors.Is(err, social.ErrBlocked) {
		w.t.Error(err)
	}
}

// churnCircle adds a user to a circle, and then removes the circle.
func churnCircle(w *town, m social.Membership) error {
	c := &social.Circle{ID: social.CircleID{ID: id.New()}, Owner: m.Owner}
	c.Name = c.ID.ID.String()
	if err := w.InsertCircle(w.ctx, c, social.MaxCircles, happened(social.EventCircleCreated)); err != nil {
		return err
	}
	m.Circle = c.ID
	_, err := w.AddToCircle(w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded))
	if errors.Is(err, social.ErrBlocked) {
		err = nil
	}
	return errors.Join(err, w.DeleteCircle(w.ctx, c.ID, happened(social.EventCircleDeleted)))
}

func checkGraph(w *town, users []social.NewUser) {
	w.t.Helper()
	var ids []social.UserID
	var circles []social.CircleID
	for _, u := range users {
		ids, circles = append(ids, u.User.ID), append(circles, u.Following.ID)
	}
	page := social.Page{Limit: 100}
	stored, err := w.Users(w.ctx, ids)
	w.ok(err)
	followers, err := w.Followers(w.ctx, lists(page, ids...))
	w.ok(err)
	following, err := w.Following(w.ctx, lists(page, ids...))
	w.ok(err)
	members, err := w.Members(w.ctx, lists(page, circles...))
	w.ok(err)
	counted, err := w.Circles(w.ctx, circles)
	w.ok(err)
	for i, u := range ids {
		list := social.List[social.UserID]{Of: u, Page: page}
		circle := social.List[social.CircleID]{Of: circles[i], Page: page}
		if got, want := stored[u].FollowersCount, len(followers[list]); got != want {
			w.t.Errorf("FollowersCount %d, but %d followers", got, want)
		}
		if got, want := stored[u].FollowingCount, len(following[list]); got != want {
			w.t.Errorf("FollowingCount %d, but %d followed", got, want)
		}
		if got, want := counted[circles[i]].MembersCount, len(members[circle]); got != want || want != len(following[list]) {
			w.t.Errorf("MembersCount %d, but %d members and %d followed", got, want, len(following[list]))
		}
	}
	checkBlocks(w, ids)
}

// checkBlocks checks that both directions record a block, and that no follow exists beside one.
func checkBlocks(w *town, ids []social.UserID) {
	w.t.Helper()
	for _, a := range ids {
		for _, b := range ids {
			if a == b {
				continue
			}
			there, back := social.Pair{Viewer: a, Other: b}, social.Pair{Viewer: b, Other: a}
			relations, err := w.Relations(w.ctx, []social.Pair{there, back})
			w.ok(err)
			if relations[there].Blocks != relations[back].BlockedBy {
				w.t.Error("only one direction records the block")
			}
			if blocked := relations[there].Blocks || relations[there].BlockedBy; blocked && relations[there].Follows {
				w.t.Error("a follow exists beside a block")
			}
		}
	}
}
