package mongodb

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// circleOwner is a user with circles, whose edges a test looks at.
type circleOwner struct {
	t    *testing.T
	s    *Store
	user social.NewUser
}

func newCircleOwner(t *testing.T, s *Store) *circleOwner {
	t.Helper()
	return &circleOwner{t, s, aUser(t, s)}
}

func aUser(t *testing.T, s *Store) social.NewUser {
	t.Helper()
	user := social.UserID{ID: id.New()}
	u := social.NewUser{User: social.User{ID: user, Handle: user.ID.String()}, Following: social.NewBuiltInCircle(user)}
	ok(t, s.InsertUser(t.Context(), u, anEvent(social.EventUserSignedUp)))
	return u
}

func (o *circleOwner) circle(name string) social.CircleID {
	o.t.Helper()
	c := &social.Circle{Owner: o.user.User.ID, Name: name}
	ok(o.t, o.s.InsertCircle(o.t.Context(), c, social.MaxCircles, anEvent(social.EventCircleCreated)))
	return c.ID
}

func (o *circleOwner) membership(circle social.CircleID, member social.UserID) social.Membership {
	return social.Membership{Circle: circle, Owner: o.user.User.ID, Member: member}
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
	ok(o.t, o.s.graph.Edges().FindOne(o.t.Context(), mdb.Doc("_id", mdb.PairKey(o.user.User.ID.ID, member.ID))).Decode(&d))
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

func (o *circleOwner) members(circle social.CircleID) []social.Edge {
	o.t.Helper()
	list := social.List[social.CircleID]{Of: circle, Page: social.Page{Limit: 100}}
	return must(o.s.Members(o.t.Context(), []social.List[social.CircleID]{list}))(o.t)[list]
}

// TestFollowsImplyTheBuiltInCircle: an edge lists circles only if the built-in one is not the only
// one.
func TestFollowsImplyTheBuiltInCircle(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	o := newCircleOwner(t, s)
	builtIn, friends := o.user.Following.ID, o.circle("Friends")
	ben, cem, dan := aUser(t, s).User.ID, aUser(t, s).User.ID, aUser(t, s).User.ID

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
	must(s.Mute(t.Context(), social.Edge{From: o.user.User.ID, To: dan}, anEvent(social.EventMuted)))(t)
	o.add(builtIn, dan)
	o.has(dan)
	if got := mdb.Map(o.members(builtIn), func(e *social.Edge) social.UserID { return e.To }); !slices.Equal(got, []social.UserID{ben, cem, dan}) {
		t.Errorf("members %v, want %v, %v and %v", got, ben, cem, dan)
	}

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
	if got := mdb.Map(o.members(builtIn), func(e *social.Edge) social.UserID { return e.To }); !slices.Equal(got, []social.UserID{cem, ben, dan}) {
		t.Errorf("members %v, want %v, %v and %v", got, cem, ben, dan)
	}
}

// TestFollowsAreShortOnceTheUpgradeIsFinished: servers of the previous version would not find the
// circles.
func TestFollowsAreShortOnceTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	o := newCircleOwner(t, s)
	builtIn, people := o.user.Following.ID, []social.UserID{}
	for range 3 {
		people = append(people, aUser(t, s).User.ID)
	}
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
		if got := mdb.Map(o.members(builtIn), func(e *social.Edge) social.UserID { return e.To }); !slices.Equal(got, people) {
			t.Errorf("members %v, want %v", got, people)
		}
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
	o := newCircleOwner(t, first)
	builtIn := o.user.Following.ID
	people := []social.UserID{aUser(t, first).User.ID, aUser(t, first).User.ID, aUser(t, first).User.ID}
	first.beginUpgrade(t, "edges")
	for _, member := range []social.UserID{people[1], people[2]} {
		o.add(builtIn, member)
	}
	edges := first.graph.Edges()
	must(edges.UpdateMany(t.Context(), mdb.Doc("owner", o.user.User.ID), mdb.Doc("$unset", mdb.Doc("follow", 1, "circles", 1))))(t)

	o.s = openIn(t, uri, Options{Heartbeat: time.Millisecond, Unjournaled: true})
	ok(t, o.s.FinishUpgrade(t.Context(), nil))
	o.add(builtIn, people[0])
	must(o.s.ImportMemberships(t.Context(), []social.Membership{o.membership(builtIn, people[1])}, []social.EdgeID{{ID: id.New()}}))(t)
	o.add(builtIn, people[2])
	for _, member := range people {
		o.has(member)
	}
	for range 2 {
		if got := mdb.Map(o.members(builtIn), func(e *social.Edge) social.UserID { return e.To }); !slices.Equal(got, people) {
			t.Errorf("members %v, want %v", got, people)
		}
		ok(t, o.s.documents.Upgrading().Step(t.Context()))
	}
}

// TestUpgradesKeepNewMemberships: someone leaves a circle and joins it again while the edge is
// upgraded.
func TestUpgradesKeepNewMemberships(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	o := newCircleOwner(t, s)
	builtIn, friends, ben := o.user.Following.ID, o.circle("Friends"), aUser(t, s).User.ID
	s.beginUpgrade(t, "edges")
	o.add(builtIn, ben)
	o.add(friends, ben)
	raw := must(s.graph.Edges().FindOne(t.Context(), mdb.Doc("owner", o.user.User.ID)).Raw())(t)
	upgrade := must(upgrades["edges"](raw, newestVersions().Of("edges")))(t)
	o.remove(friends, ben)
	o.add(friends, ben)
	since := o.edge(ben).Joined
	must(s.graph.Edges().BulkWrite(t.Context(), []mongo.WriteModel{upgrade}))(t)
	if diff := cmp.Diff(since, o.edge(ben).Joined); diff != "" {
		t.Errorf("the times of joining (-want +got):\n%s", diff)
	}
}
