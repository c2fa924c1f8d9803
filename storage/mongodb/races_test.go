package mongodb

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// interrupter runs something right before the nth command that a store sends.
type interrupter struct {
	left atomic.Int64 // commands until then; stores send from many goroutines
	run  func()
}

func (i *interrupter) set(command int, run func()) {
	i.run = run
	i.left.Store(int64(command))
}

func (i *interrupter) started(_ context.Context, e *event.CommandStartedEvent) {
	if mongotest.IsHeartbeat(e) {
		return // it would not run within the tested call
	}
	if i.left.Add(-1) == 0 {
		i.run()
	}
}

// meeting is a reader who follows an author, and two stores on their database: one store's calls
// interrupt those of the other.
type meeting struct {
	t              *testing.T
	one, other     *Store
	between        interrupter
	reader, author social.UserID
	fickle         social.UserID // has a post, and is followed from time to time
	strays         bool          // whether the news may have posts by fickle while it is not followed
	circle         social.CircleID
}

// twoStores opens two stores on one database, whose commands the interrupters watch. A nil
// interrupter watches nothing.
func twoStores(t *testing.T, layout string, watchOne, watchOther *event.CommandMonitor) (one, other *Store) {
	t.Helper()
	uri := mongotest.Reused(t)
	open := func(monitor *event.CommandMonitor) *Store {
		return openIn(t, uri, Options{Feeds: layout, Monitor: monitor})
	}
	return open(watchOne), open(watchOther)
}

func newMeeting(t *testing.T, layout string) *meeting {
	t.Helper()
	m := &meeting{t: t}
	m.one, m.other = twoStores(t, layout, &event.CommandMonitor{Started: m.between.started}, nil)
	m.populate()
	return m
}

// populate creates the people, and a post of each author.
func (m *meeting) populate() {
	m.t.Helper()
	t := m.t
	author, followers := fans(t, m.other, 1)
	m.author, m.reader = author, followers[0]
	m.fickle, _ = fans(t, m.other, 1)
	circles := must(m.other.CirclesOf(t.Context(), m.reader, social.Page{Limit: 1}))(t)
	m.circle = circles[0].ID
	m.post(m.author)
	m.post(m.fickle)
}

// post stores a post, and delivers it to all followers.
func (m *meeting) post(author social.UserID) social.PostID {
	m.t.Helper()
	p := newStatus(author)
	ok(m.t, m.other.InsertPost(m.t.Context(), p, anEvent(social.EventPostCreated)))
	workOff(m.t, m.other, 1)
	return p.ID
}

func (m *meeting) follow(s *Store) {
	m.t.Helper()
	ok(m.t, m.tryFollow(m.t.Context(), s))
}

func (m *meeting) tryFollow(ctx context.Context, s *Store) error {
	member := social.Membership{Circle: m.circle, Owner: m.reader, Member: m.fickle}
	_, err := s.AddToCircle(ctx, member, social.EdgeID{ID: id.New()}, anEvent(social.EventMemberAdded))
	return err
}

func (m *meeting) unfollow(s *Store) {
	m.t.Helper()
	must(s.Unfollow(m.t.Context(), m.reader, m.fickle, anEvent(social.EventUnfollowed)))(m.t)
}

// build rebuilds the reader's list or feed, like a reader or a job.
func (m *meeting) build(ctx context.Context, s *Store) error {
	m.t.Helper()
	if _, isKept := listsOf(s); isKept {
		_, err := s.News(ctx, m.reader, social.Page{Limit: 10})
		return err
	}
	return feedsOf(s).Build(ctx, m.reader)
}

// forget removes the reader's list, or empties it, if it is made only from an empty one.
func (m *meeting) forget() {
	m.t.Helper()
	lists, _ := listsOf(m.other)
	must(lists.DeleteOne(m.t.Context(), mdb.Doc("_id", m.reader)))(m.t)
	if lists.Name() == "newsCache" {
		must(lists.InsertOne(m.t.Context(), mdb.Doc("_id", m.reader, "v", mdb.FirstVersion, "stamp", id.New(), "usedAt", time.Now())))(m.t)
	}
}

// age makes the reader's cached news a day old.
func (m *meeting) age() {
	m.t.Helper()
	ok(m.t, m.build(m.t.Context(), m.other))
	lists, _ := listsOf(m.other)
	must(lists.UpdateOne(m.t.Context(), mdb.Doc("_id", m.reader), mdb.Doc("$set", mdb.Doc("usedAt", time.Now().Add(-25*time.Hour)))))(m.t)
}

// check compares the reader's news, and the list that they come from, with the posts and follows.
func (m *meeting) check(what string, args ...any) {
	m.t.Helper()
	workOff(m.t, m.other, 1)
	page := social.Page{Limit: 100}
	post := func(p **social.Post) social.PostID { return (*p).ID }
	got := mdb.Map(must(m.other.News(m.t.Context(), m.reader, page))(m.t), post)
	want := mdb.Map(must(truthOf(m.other).News(m.t.Context(), m.reader, page))(m.t), post)
	if m.strays {
		got = slices.DeleteFunc(got, func(post social.PostID) bool { return !slices.Contains(want, post) })
	}
	if _, isKept := listsOf(m.other); !isKept {
		storedParts(m.t, keptNews(m.t, m.other), m.reader)
	}
	if !slices.Equal(got, want) {
		m.t.Errorf("%s: the news are %v, want %v", fmt.Sprintf(what, args...), got, want)
	}
}

// TestBuildingListsDuringChanges makes each kind of change before each of the commands that build a
// list or feed.
func TestBuildingListsDuringChanges(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{TinyCache, FeedsHybrid, TinyBucket, TinyMonth} {
		t.Run(layout, func(t *testing.T) {
			m := newMeeting(t, layout)
			buildingMeetsEverything(t, m, m.forget)
		})
	}
}

// TestRenewingNewsDuringChanges does the same with news that are cached, but due.
func TestRenewingNewsDuringChanges(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, TinyCache)
	buildingMeetsEverything(t, m, m.age)
}

// TestCachedNewsMeetBackdatedPosts: a post is backdated to between those that are cached.
func TestCachedNewsMeetBackdatedPosts(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, TinyCache)
	for range 12 {
		m.post(m.author)
	}
	ok(t, m.build(t.Context(), m.one))
	page := must(truthOf(m.other).News(t.Context(), m.reader, social.Page{Limit: 12}))(t)
	p := newStatus(m.author)
	p.ID = social.PostID{ID: id.WithSerial(page[7].ID.Serial() + 1)}
	ok(t, m.other.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	m.check("after a backdated post")
}

// buildingMeetsEverything lets a reader build a list or feed, after something was done to it.
func buildingMeetsEverything(t *testing.T, m *meeting, change func()) {
	t.Helper()
	for name, happens := range map[string]struct{ before, meanwhile func() }{
		"a post":      {func() {}, func() { m.post(m.author) }},
		"an own post": {func() {}, func() { m.post(m.reader) }},
		"a follow":    {func() { m.unfollow(m.other) }, func() { m.follow(m.other) }},
		"an unfollow": {func() { m.follow(m.other) }, func() { m.unfollow(m.other) }},
		"a follow and a post": {func() { m.unfollow(m.other) }, func() {
			m.follow(m.other)
			m.post(m.fickle)
		}},
		"another building": {func() {}, func() {
			ok(t, m.build(t.Context(), m.other))
			m.post(m.author)
		}},
		"an unfollow and another building": {func() { m.follow(m.other) }, func() {
			m.unfollow(m.other)
			ok(t, m.build(t.Context(), m.other))
		}},
	} {
		interrupted := 0
		for command := 1; interrupted == command-1; command++ { // until building takes fewer
			happens.before()
			workOff(t, m.other, 1)
			change()
			m.between.set(command, func() { interrupted++; happens.meanwhile() })
			ok(t, m.build(t.Context(), m.one))
			m.between = interrupter{}
			m.check("%s before command %d", name, command)
		}
		if interrupted < 5 {
			t.Errorf("%s: only %d commands were interrupted", name, interrupted)
		}
	}
}

// TestAFullListIsRead before a job makes it dormant. The reader must not make room meanwhile: a
// server of an earlier version may have left a post out, because the list was full.
func TestAFullListIsRead(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, FeedsHybrid)
	ok(t, m.build(t.Context(), m.other))
	full := mdb.Doc("_id", m.reader, "ready", true, "pushed", 1<<20)
	lists := newsListsOf(m.other)
	must(lists.UpdateOne(t.Context(), mdb.Doc("_id", m.reader), mdb.Doc("$set", mdb.Doc("pushed", 1<<20, "usedAt", time.Now().Add(-25*time.Hour)))))(t)
	for _, limit := range []int{10, 101} { // together with others, and alone
		must(m.one.News(t.Context(), m.reader, social.Page{Limit: limit}))(t)
	}
	if n := must(lists.CountDocuments(t.Context(), full))(t); n != 1 {
		t.Error("a reader has made room in a full list")
	}
	isFull := func() bool {
		return must(lists.CountDocuments(t.Context(), mdb.Doc("_id", m.reader, "ready", true)))(t) == 1
	}
	for range 20 * 16 { // one in 16 posts looks for full lists
		if m.post(m.author); !isFull() {
			break
		}
	}
	if isFull() {
		t.Error("no post has made the full list dormant")
	}
	m.check("after the list became dormant")
}

// TestFollowingWhileListsAreBuilt builds the reader's list or feed before each of the commands of a
// follow's and an unfollow's transaction.
func TestFollowingWhileListsAreBuilt(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{TinyCache, FeedsHybrid, TinyBucket, TinyMonth} {
		t.Run(layout, func(t *testing.T) { followsMeetBuilding(t, newMeeting(t, layout)) })
	}
}

func followsMeetBuilding(t *testing.T, m *meeting) {
	t.Helper()
	const writeCommands = 12
	for name, change := range map[string]struct{ before, write func(*Store) }{
		"follow":   {m.unfollow, m.follow},
		"unfollow": {m.follow, m.unfollow},
	} {
		interrupted := 0
		for command := 1; command <= writeCommands; command++ {
			change.before(m.other)
			m.forget()
			m.between.set(command, func() {
				interrupted++
				// If it and the transaction wait for each other, it gives up.
				ctx, cancel := context.WithTimeout(t.Context(), testtime.Scale(200*time.Millisecond))
				defer cancel()
				_ = m.build(ctx, m.other)
			})
			change.write(m.one)
			m.between = interrupter{}
			m.check("built before command %d of the %s", command, name)
		}
		if interrupted < 5 || interrupted == writeCommands {
			t.Errorf("%s: %d of up to %d commands were interrupted", name, interrupted, writeCommands)
		}
	}
}

// TestUnfollowingDuringPushes lets the reader unfollow an author, and get a feed without them,
// before each of the commands that push the author's post to followers. A copy must not be pushed
// after that; the service drops the post itself (social.InNews).
func TestUnfollowingDuringPushes(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{FeedsHybrid, TinyBucket, TinyMonth} {
		t.Run(layout, func(t *testing.T) {
			m := newMeeting(t, layout)
			m.strays = layout != TinyMonth
			pushesMeetUnfollows(t, m)
		})
	}
}

func pushesMeetUnfollows(t *testing.T, m *meeting) {
	t.Helper()
	unfollowed := func() {
		m.unfollow(m.other)
		ok(t, m.build(t.Context(), m.other))
	}
	followAfter := func(commands int) {
		m.between.set(commands, func() {
			// If it and the transaction wait for each other, it gives up.
			ctx, cancel := context.WithTimeout(t.Context(), testtime.Scale(200*time.Millisecond))
			defer cancel()
			if m.tryFollow(ctx, m.other) == nil {
				_ = m.build(ctx, m.other)
			}
		})
	}
	for name, meanwhile := range map[string]func(){
		"an unfollow": unfollowed,
		"an unfollow and a follow": func() {
			unfollowed()
			m.follow(m.other)
			ok(t, m.build(t.Context(), m.other))
		},
		"an unfollow, and a follow three commands later": func() { unfollowed(); followAfter(3) },
	} {
		interrupted := 0
		for command := 1; interrupted == command-1; command++ { // until the job has fewer
			m.follow(m.other)
			workOff(t, m.other, 1)
			ok(t, m.build(t.Context(), m.other))
			ok(t, m.other.InsertPost(t.Context(), newStatus(m.fickle), anEvent(social.EventPostCreated)))
			m.between.set(command, func() { interrupted++; meanwhile() })
			workOff(t, m.one, 1)
			m.between = interrupter{}
			m.check("%s before command %d", name, command)
		}
		if interrupted < 5 {
			t.Errorf("%s: only %d commands were interrupted", name, interrupted)
		}
	}
}
