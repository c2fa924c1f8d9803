package storagetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"plaza/social"
	"plaza/social/people"
	"plaza/storage"
)

// RunFreshness changes users, relations, sessions and identities through one of several servers,
// each of which caches people, and reads them, and news, at another one right after the call has
// returned. Meanwhile, other readers keep everything in the caches. No answer may be older than the
// change.
func RunFreshness(t *testing.T, open func(t *testing.T) []storage.Store) {
	t.Helper()
	f := &freshness{t: t, ctx: t.Context()}
	for _, store := range open(t) {
		f.servers = append(f.servers, &remembering{Store: store, cache: people.New(store, 1<<20)})
	}
	couples := make([]*couple, freshnessCouples)
	for i := range couples {
		couples[i] = f.couple(i)
	}
	stop := f.readMeanwhile(couples)
	defer stop()
	var all sync.WaitGroup
	for i, c := range couples {
		all.Go(func() { f.churn(c, i) })
	}
	all.Wait()
}

const (
	freshnessCouples = 6
	freshnessRounds  = 3
)

type freshness struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // it lasts as long as the test
	servers []*remembering
}

// couple is two users that only one goroutine changes, with their expected state.
type couple struct {
	one, other social.NewUser
	circle     *social.Circle // another circle of the first user; nil: none
	session    [32]byte       // of one's
	post       *social.Post   // of the other

	isMember, isFriend, isMuted, isBlocked, isSignedIn bool // other, in one's circles; and one
	name                                               string
	ended                                              time.Time // the tokens of one's identity that were issued up to then
	standing                                           social.Standing
	calls                                              int
}

func (f *freshness) couple(n int) *couple {
	c := &couple{one: newUser(), other: newUser(), session: [32]byte{1, byte(n)}}
	c.name = c.one.User.Name
	c.one.Identity = [32]byte{2, byte(n)}
	for _, u := range []social.NewUser{c.one, c.other} {
		if err := f.servers[0].InsertUser(f.ctx, u, event(social.EventUserSignedUp)); err != nil {
			f.t.Fatal(err)
		}
	}
	c.post = statusBy(person{ID: c.other.User.ID})
	if err := f.servers[0].InsertPost(f.ctx, c.post, event(social.EventPostCreated)); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// churn makes each change in some rounds, each at the next server, and reads at the one after it.
func (f *freshness) churn(c *couple, n int) {
	dice := newDice(n, 1)
	for range freshnessRounds {
		changes := freshnessChanges()
		dice.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		for _, change := range changes {
			c.calls++
			if err := change.do(f.ctx, c, f.servers[c.calls%len(f.servers)]); err != nil {
				f.t.Errorf("%s: %v", change.name, err)
				return
			}
			for i := range f.servers {
				f.check(c, f.servers[(c.calls+1+i)%len(f.servers)], change.name)
			}
		}
	}
}

type freshnessChange struct {
	name string
	do   func(ctx context.Context, c *couple, s storage.Store) error
}

func freshnessChanges() []freshnessChange {
	return []freshnessChange{
		{"follow", follow},
		{"unfollow", unfollow},
		{"befriend", befriend},
		{"unfriend", unfriend},
		{"delete circle", deleteFriends},
		{"mute", mute},
		{"unmute", unmute},
		{"block", block},
		{"unblock", unblock},
		{"rename", rename},
		{"sign in", signIn},
		{"sign out", signOut},
		{"sign out everywhere", signOutEverywhere},
		{"end identities", endIdentities},
		{"suspend", suspend},
		{"ban", ban},
		{"reinstate", reinstate},
		{"follow", follow},
		{"befriend", befriend},
		{"sign in", signIn},
	}
}

func follow(ctx context.Context, c *couple, s storage.Store) error {
	return c.join(ctx, s, &c.one.Following, &c.isMember)
}

func befriend(ctx context.Context, c *couple, s storage.Store) error {
	if c.circle == nil {
		c.circle = &social.Circle{Owner: c.one.User.ID, Name: fmt.Sprint("friends ", c.calls)}
		if err := s.InsertCircle(ctx, c.circle, social.MaxCircles, event(social.EventCircleCreated)); err != nil {
			return err
		}
	}
	return c.join(ctx, s, c.circle, &c.isFriend)
}

func (c *couple) join(ctx context.Context, s storage.Store, circle *social.Circle, is *bool) error {
	if c.isBlocked {
		return nil
	}
	m := social.Membership{Circle: circle.ID, Owner: c.one.User.ID, Member: c.other.User.ID}
	_, err := s.AddToCircle(ctx, m, social.EdgeID{}, event(social.EventMemberAdded))
	*is = err == nil
	return err
}

func unfollow(ctx context.Context, c *couple, s storage.Store) error {
	_, err := s.Unfollow(ctx, c.one.User.ID, c.other.User.ID, event(social.EventUnfollowed))
	c.isMember, c.isFriend = false, false
	return err
}

func unfriend(ctx context.Context, c *couple, s storage.Store) error {
	if c.circle == nil {
		return nil
	}
	m := social.Membership{Circle: c.circle.ID, Owner: c.one.User.ID, Member: c.other.User.ID}
	_, err := s.RemoveFromCircle(ctx, m, event(social.EventMemberRemoved))
	c.isFriend = false
	return err
}

func deleteFriends(ctx context.Context, c *couple, s storage.Store) error {
	if c.circle == nil {
		return nil
	}
	err := s.DeleteCircle(ctx, c.circle.ID, event(social.EventCircleDeleted))
	c.circle, c.isFriend = nil, false
	return err
}

func mute(ctx context.Context, c *couple, s storage.Store) error {
	_, err := s.Mute(ctx, social.Edge{From: c.one.User.ID, To: c.other.User.ID}, event(social.EventMuted))
	c.isMuted = true
	return err
}

func unmute(ctx context.Context, c *couple, s storage.Store) error {
	_, err := s.Unmute(ctx, c.one.User.ID, c.other.User.ID, event(social.EventUnmuted))
	c.isMuted = false
	return err
}

func block(ctx context.Context, c *couple, s storage.Store) error {
	_, err := s.Block(ctx, social.Edge{From: c.one.User.ID, To: c.other.User.ID}, event(social.EventBlocked))
	c.isBlocked, c.isMember, c.isFriend = true, false, false
	return err
}

func unblock(ctx context.Context, c *couple, s storage.Store) error {
	_, err := s.Unblock(ctx, c.one.User.ID, c.other.User.ID, event(social.EventUnblocked))
	c.isBlocked = false
	return err
}

func rename(ctx context.Context, c *couple, s storage.Store) error {
	c.name = fmt.Sprint("name ", c.calls)
	return s.UpdateProfile(ctx, c.one.User.ID, social.ProfileChange{Name: &c.name}, event(social.EventProfileUpdated))
}

func signIn(ctx context.Context, c *couple, s storage.Store) error {
	if c.isSignedIn {
		return nil
	}
	c.isSignedIn = true
	return s.InsertSession(ctx, social.Session{TokenHash: c.session, User: c.one.User.ID, ExpiresAt: now().Add(time.Hour)})
}

func signOut(ctx context.Context, c *couple, s storage.Store) error {
	c.isSignedIn = false
	return s.DeleteSession(ctx, c.session, event(social.EventSessionEnded))
}

func signOutEverywhere(ctx context.Context, c *couple, s storage.Store) error {
	c.isSignedIn = false
	return s.EndSessions(ctx, c.one.User.ID, [32]byte{}, social.AllSessions)
}

func endIdentities(ctx context.Context, c *couple, s storage.Store) error {
	c.ended = now().Add(time.Duration(c.calls) * time.Minute)
	return s.EndIdentities(ctx, c.one.User.ID, c.ended)
}

func suspend(ctx context.Context, c *couple, s storage.Store) error {
	until := now().Add(time.Duration(c.calls) * time.Minute)
	return c.sanction(ctx, s, social.Decision{Action: social.ActionSuspend, Until: until, Reason: fmt.Sprint("suspended ", c.calls)})
}

// ban ends one's session, and the tokens of the identity that were issued up to a time.
func ban(ctx context.Context, c *couple, s storage.Store) error {
	d := social.Decision{Action: social.ActionBan, Reason: "banned", At: now().Add(time.Duration(c.calls) * time.Minute)}
	if c.standing.Sanction != social.SanctionBanned {
		c.isSignedIn, c.ended = false, d.At
	}
	return c.sanction(ctx, s, d)
}

func reinstate(ctx context.Context, c *couple, s storage.Store) error {
	return c.sanction(ctx, s, social.Decision{Action: social.ActionReinstate})
}

func (c *couple) sanction(ctx context.Context, s storage.Store, d social.Decision) error {
	d.Author, d.Subject = c.one.User.ID, social.Subject{User: c.one.User.ID}
	c.standing = c.standing.Sanctioned(&d)
	return s.Decide(ctx, social.Ruling{Decision: d, Sanctions: true}, event(social.EventStandingChanged))
}

// glimpse is what a server answers about a couple.
type glimpse struct {
	there, back          social.Relation
	name                 string
	following, followers int
	isSignedIn           bool
	ended                time.Time
	standing             social.Standing
	identityAway         bool
	lacksPost            bool // of someone who is followed, in news: after an unfollow, it may stay there
}

func (c *couple) expected() glimpse {
	e := glimpse{name: c.name, isSignedIn: c.isSignedIn, ended: c.ended, standing: c.standing}
	isAway := social.IsAway(c.standing)
	e.identityAway = isAway
	e.there = social.Relation{Follows: c.isMember || c.isFriend, Mutes: c.isMuted, Blocks: c.isBlocked, Away: isAway}
	e.back.BlockedBy, e.back.Away = c.isBlocked, isAway
	if c.isMember {
		e.back.Circles = append(e.back.Circles, c.one.Following.ID)
	}
	if c.isFriend {
		e.back.Circles = append(e.back.Circles, c.circle.ID)
	}
	if e.there.Follows {
		e.following, e.followers = 1, 1
	}
	return e
}

func (c *couple) read(ctx context.Context, s *remembering) (glimpse, error) {
	var is glimpse
	reader := s.cache
	there, err := reader.People(ctx, c.one.User.ID, []social.UserID{c.other.User.ID})
	if err != nil {
		return is, err
	}
	pair := social.Pair{Viewer: c.other.User.ID, Other: c.one.User.ID}
	back, err := reader.Relations(ctx, []social.Pair{pair})
	if err != nil {
		return is, err
	}
	users, err := reader.Users(ctx, []social.UserID{c.one.User.ID})
	if err != nil {
		return is, err
	}
	identities, err := reader.Identities(ctx, [][32]byte{c.one.Identity})
	if err != nil {
		return is, err
	}
	_, err = reader.Session(ctx, c.session, now())
	other, one := there[c.other.User.ID], users[c.one.User.ID]
	is = glimpse{there: other.Relation, back: back[pair], isSignedIn: err == nil, ended: identities[c.one.Identity].EndedAt}
	is.identityAway = identities[c.one.Identity].Away
	if one != nil && other.User != nil {
		is.name, is.following, is.followers = one.Name, one.FollowingCount, other.User.FollowersCount
		is.standing = one.Standing
	}
	news, err := s.News(ctx, c.one.User.ID, social.Page{Limit: 1})
	if err != nil {
		return is, err
	}
	is.lacksPost = is.there.Follows && (len(news) == 0 || news[0].ID != c.post.ID)
	is.back.Circles = slices.SortedFunc(slices.Values(is.back.Circles), func(a, b social.CircleID) int { return a.Compare(b.ID) })
	return is, nil
}

func (f *freshness) check(c *couple, s *remembering, after string) {
	want := c.expected()
	slices.SortFunc(want.back.Circles, func(a, b social.CircleID) int { return a.Compare(b.ID) })
	got, err := c.read(f.ctx, s)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Errorf("after %q: %v, %v; want %v", after, got, err, want)
	}
}

// readMeanwhile reads all couples at all servers until the caller calls the returned function.
func (f *freshness) readMeanwhile(couples []*couple) (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	var all sync.WaitGroup
	for _, server := range f.servers {
		for _, c := range couples {
			all.Go(func() {
				for ctx.Err() == nil {
					if _, err := c.read(ctx, server); err != nil && ctx.Err() == nil {
						f.t.Error(err)
						return
					}
				}
			})
		}
	}
	return func() {
		cancel()
		all.Wait()
	}
}
