package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/social/notifications"
	"plaza/social/passwords"
	"plaza/storage"
	"plaza/storage/sqlite"
	"plaza/storage/sqlite/sqlitetest"
)

// unreliable is a store whose Notify fails now and then, before or after it has stored something,
// as calls do when a connection breaks. Its servers die without returning their lease.
type unreliable struct {
	storage.Store

	mu   sync.Mutex
	dice *rand.Rand
}

func (s *unreliable) roll(sides int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dice.IntN(sides)
}

func (s *unreliable) Notify(ctx context.Context, server string, lease time.Duration, position string, notices []social.Notice) error {
	fails := s.roll(4)
	if fails == 0 {
		return social.ErrUnavailable
	}
	err := s.Store.Notify(ctx, server, lease, position, notices)
	if fails == 1 {
		return social.ErrUnavailable
	}
	return err
}

func (s *unreliable) LeaveNotifier(context.Context, string) error { return social.ErrUnavailable }

// town is a store with people.
type town struct {
	*network.Service

	t     *testing.T
	store *unreliable
}

func newTown(t *testing.T) *town {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewFile(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	store := &unreliable{Store: st, dice: rand.New(rand.NewPCG(1, 2))}
	cheap := passwords.Cost{Passes: 1, Memory: 64}
	return &town{network.New(store, network.Options{Accounts: accounts.Options{Passwords: cheap}}), t, store}
}

func (w *town) user(handle string) social.UserID {
	w.t.Helper()
	session, _, err := w.SignUp(w.t.Context(), accounts.SignUpInput{Handle: handle, Name: handle, Password: "password of " + handle})
	if err != nil {
		w.t.Fatal(err)
	}
	return session.User
}

// run runs a server with a notifier until the function that it returns is called.
func (w *town) run() (kill func()) {
	ctx, stop := context.WithCancel(context.Background())
	n := New(notifications.New(w.store, w.Service), w.Service, w.store, w.store, slog.New(slog.DiscardHandler))
	n.lease = testtime.Scale(400 * time.Millisecond)
	done := make(chan struct{})
	go func() { defer close(done); n.Run(ctx) }()
	return func() { stop(); <-done }
}

// TestEachActCountsOnce kills two servers and starts them again, while their database fails. The
// recipient reads all notifications together, so that an act that was counted twice would be in two
// notifications.
func TestEachActCountsOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ada := w.user("ada")
	post := w.post(ada)
	servers := []func(){w.run(), w.run()}
	w.awaitFirstPosition()
	const people = 40
	for i := range people {
		w.act(w.user("u"+string(rune('a'+i/26))+string(rune('a'+i%26))), ada, post)
		if which := w.store.roll(8); which < len(servers) {
			servers[which]()
			servers[which] = w.run()
		}
		w.readAll(ada)
	}
	testtime.Eventually(t, "all notifications are stored", func() bool {
		counts := w.count(ada)
		return counts[social.NotifyComment] >= people && counts[social.NotifyReaction] >= people && counts[social.NotifyFollow] >= people
	})
	for kind, n := range w.count(ada) {
		if n != people {
			t.Errorf("%s: %d acts in all notifications, want %d", kind, n, people)
		}
	}
	for _, kill := range servers {
		kill()
	}
}

// TestEachLossCountsOnce: comments are deleted while two servers are killed and started again, and
// their database fails. Each comment was the only one of its notification.
func TestEachLossCountsOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ada, bob := w.user("ada"), w.user("bob")
	servers := []func(){w.run(), w.run()}
	w.awaitFirstPosition()
	const comments = 30
	var deleted []social.CommentID
	for range comments {
		c, err := w.AddComment(t.Context(), bob, network.NewComment{Post: w.post(ada), Text: "Hi"})
		if err != nil {
			t.Fatal(err)
		}
		deleted = append(deleted, c.ID)
	}
	w.await(ada, social.NotifyComment, comments)
	want := map[social.NotificationID]int{}
	for _, n := range w.all(ada) {
		want[n.ID] = 1
	}
	for _, c := range deleted {
		if _, err := w.DeleteComment(t.Context(), bob, c); err != nil {
			t.Fatal(err)
		}
		if which := w.store.roll(4); which < len(servers) {
			servers[which]()
			servers[which] = w.run()
		}
	}
	testtime.Eventually(t, "all notifications are gone", func() bool { return len(w.all(ada)) == 0 })
	for _, kill := range servers {
		kill()
	}
	_, losses, err := w.store.NotificationChanges(t.Context(), ada, social.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	got := map[social.NotificationID]int{}
	for _, l := range losses {
		got[l.Notification]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the losses of each notification (-want +got):\n%s", diff)
	}
}

// TestAPollNotifiesOnce: two servers are killed while polls close.
func TestAPollNotifiesOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ada := w.user("ada")
	servers := []func(){w.run(), w.run()}
	w.awaitFirstPosition()
	const polls = 30
	for range polls {
		w.closedPoll(ada)
		if which := w.store.roll(4); which < len(servers) {
			servers[which]()
			servers[which] = w.run()
		}
		w.readAll(ada)
	}
	w.await(ada, social.NotifyPollClosed, polls)
	if n := w.count(ada)[social.NotifyPollClosed]; n != polls {
		t.Errorf("%d acts in all notifications, want %d", n, polls)
	}
	for _, kill := range servers {
		kill()
	}
}

// closedPoll stores a poll that has closed already.
func (w *town) closedPoll(author social.UserID) {
	w.t.Helper()
	p := &social.Post{
		Author: author, WallOwner: author, Audience: social.Audience{Kind: social.AudiencePublic},
		Content: social.Content{Poll: &social.Poll{Question: "Tea?", Options: []string{"yes", "no"}, ClosesAt: time.Now().Add(-time.Minute)}},
		Replies: social.ReplyPolicy{Kind: social.RepliesEveryone}, Order: social.OrderOldest,
	}
	if err := w.store.InsertPost(w.t.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}); err != nil {
		w.t.Fatal(err)
	}
}

// TestUpTo: one of two servers reports how far notifications are stored, and neither does after
// both have stopped.
func TestUpTo(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ctx, stop := context.WithCancel(t.Context())
	var servers []*Notifier
	var running sync.WaitGroup
	for range 2 {
		n := New(notifications.New(w.store, w.Service), w.Service, w.store.Store, w.store, slog.New(slog.DiscardHandler))
		n.lease = testtime.Scale(400 * time.Millisecond)
		servers = append(servers, n)
		running.Go(func() { n.Run(ctx) })
	}
	w.awaitFirstPosition()
	before := time.Now()
	testtime.Eventually(t, "notifications are up to date", func() bool {
		one, other := servers[0].UpTo(), servers[1].UpTo()
		if !one.IsZero() && !other.IsZero() {
			t.Fatal("two servers say how far notifications are")
		}
		return one.After(before) || other.After(before)
	})
	stop()
	running.Wait()
	if one, other := servers[0].UpTo(), servers[1].UpTo(); !one.IsZero() || !other.IsZero() {
		t.Errorf("after their end, servers say %v and %v", one, other)
	}
}

// awaitFirstPosition waits until a server has stored its position in the log: events before the
// first one do not count. Each look needs another follower, because a follow that ends in the batch
// in which it began sends no notification.
func (w *town) awaitFirstPosition() {
	w.t.Helper()
	star, fans := w.user("star"), 0
	testtime.Eventually(w.t, "there is a notifier", func() bool {
		fans++
		if err := w.Follow(w.t.Context(), w.user(fmt.Sprintf("fan%d", fans)), star); err != nil {
			w.t.Fatal(err)
		}
		return w.count(star)[social.NotifyFollow] > 0
	})
}

// TestBansAreCompleted: a server is killed between the transaction of a ban and the end of a session
// that the transaction could not see. The session ends when another server meets the event.
func TestBansAreCompleted(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	stop := w.run()
	w.awaitFirstPosition()
	stop()
	late := map[bool]social.Session{}
	for isBanned, handle := range map[bool]string{true: "ada", false: "bob"} {
		user := w.user(handle)
		d := social.Decision{
			Subject: social.Subject{User: user}, Author: user, Action: social.ActionSuspend, Until: time.Now().Add(time.Hour), Reason: "Adverts", At: w.Moment(),
		}
		if isBanned {
			d.Action, d.Until = social.ActionBan, time.Time{}
		}
		e := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventStandingChanged, Target: user}
		if err := w.store.Decide(t.Context(), social.Ruling{Decision: d, Sanctions: true}, e); err != nil {
			t.Fatal(err)
		}
		session := social.Session{TokenHash: social.HashToken(handle), User: user, ExpiresAt: w.Moment().Add(time.Hour), CreatedAt: w.Moment()}
		if err := w.store.InsertSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		late[isBanned] = session
	}
	defer w.run()()
	testtime.Eventually(t, "the session of the banned user ends", func() bool {
		_, err := w.store.Session(t.Context(), late[true].TokenHash, time.Now())
		return errors.Is(err, social.ErrNotFound)
	})
	if _, err := w.store.Session(t.Context(), late[false].TokenHash, time.Now()); err != nil {
		t.Errorf("the session of the suspended user: %v", err)
	}
}

// TestHiddenActsLeaveNothing: acts that the recipient does not see are not stored, so they neither
// move a notification to the front nor fill it.
func TestHiddenActsLeaveNothing(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ada, bob, cyd, dan := w.user("ada"), w.user("bob"), w.user("cyd"), w.user("dan")
	first, second, quiet := w.post(ada), w.post(ada), w.post(ada)
	defer w.run()()
	w.awaitFirstPosition()
	w.act(bob, ada, first)
	w.act(bob, ada, second)
	w.await(ada, social.NotifyComment, 2)
	before := w.all(ada)

	if err := w.Mute(t.Context(), ada, dan); err != nil {
		t.Fatal(err)
	}
	if err := w.MuteThread(t.Context(), ada, quiet); err != nil {
		t.Fatal(err)
	}
	w.act(dan, ada, first)
	w.act(cyd, bob, quiet)
	w.act(cyd, bob, w.post(bob))
	w.await(bob, social.NotifyComment, 1)
	if diff := cmp.Diff(before, w.all(ada)); diff != "" {
		t.Errorf("hidden acts have changed what is stored (-before +after):\n%s", diff)
	}
}

func (w *town) post(author social.UserID) social.PostID {
	w.t.Helper()
	post, err := w.CreatePost(w.t.Context(), author, network.NewPost{
		Content: social.Content{Status: &social.Status{Text: "Hello"}}, Audience: social.Audience{Kind: social.AudiencePublic},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return post.ID
}

// await waits until a user has notifications of the given number of acts of a kind.
func (w *town) await(who social.UserID, kind social.NotificationKind, acts int) {
	w.t.Helper()
	testtime.Eventually(w.t, "notifications are stored", func() bool { return w.count(who)[kind] >= acts })
}

func (w *town) all(who social.UserID) []*social.Notification {
	w.t.Helper()
	all, err := w.store.Notifications(w.t.Context(), who, social.Page{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *town) act(user, ada social.UserID, post social.PostID) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.React(ctx, user, post, social.ReactionLike); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.AddComment(ctx, user, network.NewComment{Post: post, Text: "Hi"}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Follow(ctx, user, ada); err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) readAll(ada social.UserID) {
	w.t.Helper()
	newest, err := w.store.Notifications(w.t.Context(), ada, social.Page{Limit: 1})
	if err == nil && len(newest) > 0 {
		err = w.MarkNotificationsRead(w.t.Context(), ada, nil, newest[0].Order)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// count counts the acts of each kind in all notifications.
func (w *town) count(ada social.UserID) map[social.NotificationKind]int {
	w.t.Helper()
	counts := map[social.NotificationKind]int{}
	for _, n := range w.all(ada) {
		counts[n.Kind] += len(n.Acts)
	}
	return counts
}

// TestADeletedPostIsLostOnce: the notifications about a post are removed in several steps, while two
// servers are killed and started again, and their database fails.
func TestADeletedPostIsLostOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	ada := w.user("ada")
	post := w.post(ada)
	servers := []func(){w.run(), w.run()}
	w.awaitFirstPosition()
	const people = 230
	var answered []social.UserID
	for i := range people {
		user := w.user(fmt.Sprintf("user%d", i))
		answered = append(answered, user)
		c, err := w.AddComment(t.Context(), user, network.NewComment{Post: post, Text: "Hi"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.AddComment(t.Context(), ada, network.NewComment{Post: post, Parent: c.ID, Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
	}
	w.await(answered[people-1], social.NotifyReply, 1)
	if err := w.DeletePost(t.Context(), ada, post); err != nil {
		t.Fatal(err)
	}
	for left := people; left > 0; {
		servers[left%2]()
		servers[left%2] = w.run()
		before := left
		testtime.Eventually(t, "the next notifications are removed", func() bool {
			some, err := w.store.NotificationsOn(t.Context(), post, 2*people)
			left = len(some)
			return err == nil && (left < before || left == 0)
		})
	}
	for _, kill := range servers {
		kill()
	}
	for _, user := range answered {
		_, losses, err := w.store.NotificationChanges(t.Context(), user, social.Page{Limit: 10})
		if err != nil || len(losses) != 1 {
			t.Errorf("%d losses of %s, want 1: %v", len(losses), user, err)
		}
	}
}
