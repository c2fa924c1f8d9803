package mongodb

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// circleOwner is a user with circles, whose edges a test looks at.
type circleOwner struct {
	t       *testing.T
	s       *Store
	user    social.UserID
	builtIn social.CircleID
}

// newCircleOwner returns a user with n followers, and these.
func newCircleOwner(t *testing.T, s *Store, n int) (o *circleOwner, others []social.UserID) {
	t.Helper()
	user, others := fans(t, s, n)
	return &circleOwner{t, s, user, social.BuiltInCircleID(user)}, others
}

func (o *circleOwner) circle(name string) social.CircleID {
	o.t.Helper()
	c := &social.Circle{Owner: o.user, Name: name}
	ok(o.t, o.s.InsertCircle(o.t.Context(), c, social.MaxCircles, anEvent(social.EventCircleCreated)))
	return c.ID
}

func (o *circleOwner) membership(circle social.CircleID, member social.UserID) social.Membership {
	return social.Membership{Circle: circle, Owner: o.user, Member: member}
}

func (o *circleOwner) add(circle social.CircleID, member social.UserID) {
	o.t.Helper()
	must(o.s.AddToCircle(o.t.Context(), o.membership(circle, member), social.EdgeID{}, anEvent(social.EventMemberAdded)))(o.t)
}

func (o *circleOwner) remove(circle social.CircleID, member social.UserID) {
	o.t.Helper()
	must(o.s.RemoveFromCircle(o.t.Context(), o.membership(circle, member), anEvent(social.EventMemberRemoved)))(o.t)
}

// stored is what an edge says about circles.
type stored struct {
	Version int                      `bson:"v"`
	Follow  social.EdgeID            `bson:"follow"`
	Circles []social.CircleID        `bson:"circles"`
	Joined  map[string]social.EdgeID `bson:"joined"`
}

func (o *circleOwner) edge(member social.UserID) (d stored) {
	o.t.Helper()
	ok(o.t, o.s.graph.Edges().FindOne(o.t.Context(), mdb.Doc("_id", mdb.PairKey(o.user.ID, member.ID))).Decode(&d))
	return d
}

// has checks which circles an edge lists, and that joined has the same ones.
func (o *circleOwner) has(member social.UserID, circles ...social.CircleID) {
	o.t.Helper()
	d := o.edge(member)
	if diff := cmp.Diff(circles, d.Circles); diff != "" {
		o.t.Errorf("the listed circles (-want +got):\n%s", diff)
	}
	for _, circle := range circles {
		if d.Joined[circle.String()].IsZero() {
			o.t.Errorf("joined lacks %v", circle)
		}
	}
	if len(d.Joined) != len(circles) {
		o.t.Errorf("joined has %d circles, want %d", len(d.Joined), len(circles))
	}
}

// follows checks who is in the built-in circle, in the order in which they joined it.
func (o *circleOwner) follows(want ...social.UserID) {
	o.t.Helper()
	list := social.List[social.CircleID]{Of: o.builtIn, Page: social.Page{Limit: 100}}
	members := must(o.s.Members(o.t.Context(), []social.List[social.CircleID]{list}))(o.t)[list]
	if got := mdb.Map(members, func(e *social.Edge) social.UserID { return e.To }); !slices.Equal(got, want) {
		o.t.Errorf("members %v, want %v", got, want)
	}
}

// TestFollowsImplyTheBuiltInCircle: an edge lists circles only if the built-in one is not the only
// one.
func TestFollowsImplyTheBuiltInCircle(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	o, others := newCircleOwner(t, s, 3)
	builtIn, friends := o.builtIn, o.circle("Friends")
	ben, cem, dan := others[0], others[1], others[2]

	o.add(builtIn, ben)
	o.has(ben)
	o.add(builtIn, ben)
	o.has(ben)
	began := o.edge(ben).Follow
	o.add(friends, ben)
	o.has(ben, builtIn, friends)
	if since := o.edge(ben).Joined[builtIn.String()]; since != began {
		t.Errorf("the built-in circle was joined at %v, the follow began at %v", since, began)
	}
	o.add(friends, cem)
	o.has(cem, friends)
	o.add(builtIn, cem)
	o.has(cem, friends, builtIn)
	must(s.Mute(t.Context(), social.Edge{From: o.user, To: dan}, anEvent(social.EventMuted)))(t)
	o.add(builtIn, dan)
	o.has(dan)
	o.follows(ben, cem, dan)

	o.remove(friends, ben)
	o.has(ben, builtIn)
	o.remove(friends, dan) // is not in it
	o.has(dan)
	for _, member := range []social.UserID{ben, dan} {
		o.remove(builtIn, member)
		o.has(member)
		if !o.edge(member).Follow.IsZero() {
			t.Error("the follow remains without a circle")
		}
	}
	memberships := []social.Membership{o.membership(builtIn, ben), o.membership(builtIn, dan), o.membership(friends, dan)}
	must(s.ImportMemberships(t.Context(), memberships, []social.EdgeID{{ID: id.New()}, {ID: id.New()}, {ID: id.New()}}))(t)
	o.has(ben)
	o.has(dan, builtIn, friends)
	o.follows(cem, ben, dan)
}

// TestFollowsAreShortOnceTheUpgradeIsFinished: servers of the previous version would not find the
// circles.
func TestFollowsAreShortOnceTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	o, people := newCircleOwner(t, s, 3)
	builtIn := o.builtIn
	s.beginUpgrade(t, "edges")
	o.add(builtIn, people[0])
	must(s.ImportMemberships(t.Context(), []social.Membership{o.membership(builtIn, people[1])}, []social.EdgeID{{ID: id.New()}}))(t)
	ok(t, s.FinishUpgrade(t.Context(), nil))
	o.add(builtIn, people[2])
	check := func(versions ...int) {
		t.Helper()
		o.has(people[0], builtIn)
		o.has(people[1], builtIn)
		o.has(people[2])
		for i, version := range versions {
			if v := o.edge(people[i]).Version; v != version {
				t.Errorf("edge %d has version %d, want %d", i, v, version)
			}
		}
		o.follows(people...)
	}
	check(1, 1, 3)
	ok(t, s.documents.Upgrading().Step(t.Context()))
	check(3, 3, 3)
}

// TestImpliedMembershipsBeginWithTheFollow: a server of the first version, which does not know
// joined, leaves it in edges whose follow it ends. Until all edges are upgraded, members are sorted
// by joined.
func TestImpliedMembershipsBeginWithTheFollow(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	first := openIn(t, uri, Options{Heartbeat: time.Millisecond, Unjournaled: true})
	o, people := newCircleOwner(t, first, 3)
	builtIn := o.builtIn
	first.beginUpgrade(t, "edges")
	for _, member := range []social.UserID{people[1], people[2]} {
		o.add(builtIn, member)
	}
	edges := first.graph.Edges()
	must(edges.UpdateMany(t.Context(), mdb.Doc("owner", o.user), mdb.Doc("$unset", mdb.Doc("follow", 1, "circles", 1))))(t)

	o.s = openIn(t, uri, Options{Heartbeat: time.Millisecond, Unjournaled: true})
	ok(t, o.s.FinishUpgrade(t.Context(), nil))
	o.add(builtIn, people[0])
	must(o.s.ImportMemberships(t.Context(), []social.Membership{o.membership(builtIn, people[1])}, []social.EdgeID{{ID: id.New()}}))(t)
	o.add(builtIn, people[2])
	for _, member := range people {
		o.has(member)
	}
	for range 2 {
		o.follows(people...)
		ok(t, o.s.documents.Upgrading().Step(t.Context()))
	}
}

// TestUpgradesKeepNewMemberships: someone leaves a circle and joins it again while the edge is
// upgraded.
func TestUpgradesKeepNewMemberships(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	o, others := newCircleOwner(t, s, 1)
	builtIn, friends, ben := o.builtIn, o.circle("Friends"), others[0]
	s.beginUpgrade(t, "edges")
	o.add(builtIn, ben)
	o.add(friends, ben)
	raw := must(s.graph.Edges().FindOne(t.Context(), mdb.Doc("owner", o.user)).Raw())(t)
	upgrade := must(upgrades["edges"](raw, newestVersions().Of("edges")))(t)
	o.remove(friends, ben)
	o.add(friends, ben)
	since := o.edge(ben).Joined
	must(s.graph.Edges().BulkWrite(t.Context(), []mongo.WriteModel{upgrade}))(t)
	if diff := cmp.Diff(since, o.edge(ben).Joined); diff != "" {
		t.Errorf("the times of joining (-want +got):\n%s", diff)
	}
}

// TestLargeCirclesAreDeletedInParts: each transaction removes a bounded number of members, and has
// an event. After an error in between, counts and follows are right, and a repeated call removes
// the rest, also with the same idempotency key.
func TestLargeCirclesAreDeletedInParts(t *testing.T) {
	t.Parallel()
	const together, members, inAnother = 1000, 2003, 7
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var isDeleting atomic.Bool
	s := openInside(t, Options{Monitor: &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
		if e.CommandName == "commitTransaction" && isDeleting.Load() {
			cancel()
		}
	}}})
	o, others := newCircleOwner(t, s, members)
	large, small := o.circle("Large"), o.circle("Small")
	o.importAll(large, others)
	o.importAll(small, others[:inAnother])
	begin := func() (a social.Attempt, err error) {
		a = social.Attempt{User: o.user, Key: "delete", ID: id.New()}
		_, err = s.BeginAttempt(t.Context(), a, time.Minute)
		return a, err
	}
	isDeleting.Store(true)
	first := must(begin())(t)
	if err := s.DeleteCircle(social.WithAttempts(ctx, first), large, anEvent(social.EventCircleDeleted)); err == nil {
		t.Fatal("the circle is deleted, although the caller has left")
	}
	ok(t, s.EndAttempt(t.Context(), first, nil))
	o.hasMembers(large, members-together)
	if n := must(s.graph.Edges().Database().Collection("events").CountDocuments(t.Context(), mdb.Doc("kind", social.EventCircleDeleted)))(t); n != 1 {
		t.Errorf("%d events, want 1: members who were removed still show posts", n)
	}
	second := must(begin())(t)
	ok(t, s.DeleteCircle(social.WithAttempts(t.Context(), second), large, anEvent(social.EventCircleDeleted)))
	ok(t, s.EndAttempt(t.Context(), second, nil))
	if _, err := begin(); !errors.Is(err, social.ErrAnswerLost) {
		t.Errorf("the deletion has no effect for its idempotency key: %v", err)
	}
	if found := must(s.Circles(t.Context(), []social.CircleID{large}))(t); len(found) > 0 {
		t.Error("the circle remains")
	}
	o.hasMembers(small, inAnother)
	if user := must(s.Users(t.Context(), []social.UserID{o.user}))(t)[o.user]; user.FollowingCount != inAnother {
		t.Errorf("the owner follows %d, want %d", user.FollowingCount, inAnother)
	}
	if n := must(s.graph.Edges().CountDocuments(t.Context(), mdb.Doc("owner", o.user, "follow", mdb.Doc("$exists", true))))(t); n != inAnother {
		t.Errorf("%d follows remain, want %d", n, inAnother)
	}
}

func (o *circleOwner) importAll(circle social.CircleID, members []social.UserID) {
	o.t.Helper()
	for batch := range slices.Chunk(members, 1000) {
		memberships := mdb.Map(batch, func(member *social.UserID) social.Membership { return o.membership(circle, *member) })
		edges := mdb.Map(batch, func(*social.UserID) social.EdgeID { return social.EdgeID{ID: id.New()} })
		must(o.s.ImportMemberships(o.t.Context(), memberships, edges))(o.t)
	}
}

// hasMembers checks how many members a circle counts, and has.
func (o *circleOwner) hasMembers(circle social.CircleID, want int) {
	o.t.Helper()
	found := must(o.s.Circles(o.t.Context(), []social.CircleID{circle}))(o.t)[circle]
	is := must(o.s.graph.Edges().CountDocuments(o.t.Context(), mdb.Doc("owner", o.user, "circles", circle)))(o.t)
	if found == nil || found.MembersCount != want || int(is) != want {
		o.t.Errorf("the circle %v has %d members, want %d", found, is, want)
	}
}
