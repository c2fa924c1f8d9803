package mongodb

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// Sweep runs the job that removes what is left of a deleted user.
func (s *Store) Sweep(ctx context.Context, user social.UserID) error {
	for {
		if err := s.deleteLeft(ctx, &jobs.Job{Kind: jobSweep, Author: user}); !errors.Is(err, jobs.ErrMore) {
			return err
		}
	}
}

// SweepNow makes the job due that would be due in some minutes.
func (s *Store) SweepNow(ctx context.Context) error {
	result, err := jobsOf(s).UpdateMany(ctx, mdb.Doc("kind", jobSweep), mdb.Doc("$set", mdb.Doc("due", time.Now())))
	if err == nil && result.MatchedCount == 0 {
		err = errors.New("no job is due later")
	}
	s.jobs.Wake()
	return err
}

// fuse cancels a context at a certain command, which interrupts the work there.
type fuse struct {
	left atomic.Int64
	blow atomic.Pointer[context.CancelFunc]
}

func (f *fuse) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(context.Context, *event.CommandStartedEvent) {
		if f.left.Add(-1) == 0 {
			(*f.blow.Load())()
		}
	}}
}

// light returns a context that ends with the nth command from now on.
func (f *fuse) light(ctx context.Context, commands int) context.Context {
	ctx, blow := context.WithCancel(ctx)
	f.blow.Store(&blow)
	f.left.Store(int64(commands))
	return ctx
}

// TestInterruptedDeletionsResume kills the server that has the job at many points. Another server
// takes the job when the lease has ended.
func TestInterruptedDeletionsResume(t *testing.T) {
	t.Parallel()
	f := &fuse{}
	s := openInside(t, Options{Feeds: FeedsHybrid, Monitor: f.monitor()})
	s.erasing.inJob = time.Nanosecond // so that each attempt does only a part
	star, fans := fans(t, s, 3*cutTogether/2)
	other := newStatus(fans[0])
	ok(t, s.InsertPost(t.Context(), other, anEvent(social.EventPostCreated)))
	for i := range 6 {
		p := newStatus(star)
		ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
		c := &social.Comment{Post: other.ID, Author: star, Text: "hello"}
		ok(t, s.InsertComment(t.Context(), c, anEvent(social.EventCommentAdded)))
		ok(t, s.PutReaction(t.Context(), other.ID, []social.UserID{star, fans[1]}[i%2], social.ReactionLike, anEvent(social.EventReactionAdded)))
	}
	workOff(t, s, 1)
	ok(t, s.DeleteUser(t.Context(), star, anEvent(social.EventUserDeleted)))
	lives, died := 0, 0
	for now := time.Now(); must(s.IsDeleting(t.Context(), star))(t); lives++ {
		now = now.Add(2 * jobs.LeaseTime)
		j := must(s.jobs.Claim(t.Context(), now))(t)
		if j.Kind != jobDelete {
			ok(t, s.jobs.Finish(t.Context(), j)) // of the feeds
			continue
		}
		switch err := s.workers.Attempt(f.light(t.Context(), 1+lives), j); {
		case err == nil:
			ok(t, s.jobs.Finish(t.Context(), j))
		case errors.Is(err, jobs.ErrMore):
			ok(t, s.jobs.Continue(t.Context(), j))
		default:
			died++
		}
	}
	if died < 5 {
		t.Errorf("it died only %d times in %d lives", died, lives)
	}
	for _, u := range must(s.Users(t.Context(), fans))(t) {
		if u.FollowingCount != 0 {
			t.Fatalf("%v follows %d", u.ID, u.FollowingCount)
		}
	}
	p := must(s.Posts(t.Context(), []social.PostID{other.ID}))(t)[other.ID]
	if p.CommentCount != 0 || len(p.Latest) != 0 || p.Reactions[social.ReactionLike] != 1 {
		t.Errorf("%d comments, %d of them there, and %d likes", p.CommentCount, len(p.Latest), p.Reactions[social.ReactionLike])
	}
	left := must(collectionOf(s, "edges").CountDocuments(t.Context(), mdb.Doc("other", star)))(t) + must(s.posts.CountDocuments(t.Context(), mdb.Doc("author", star)))(t)
	if left != 1 {
		t.Errorf("%d edges and posts are left, want the marker", left)
	}
}

// TestPostsOnDeletedWallsMove: posts on the wall of someone who leaves are then on their authors'
// walls, and in no inbox of that wall. One that is in no other inbox has none, so it is not in the
// indexes of posts with one.
func TestPostsOnDeletedWallsMove(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	owner, fans := fans(t, s, 2)
	author, reader := fans[0], fans[1]
	inboxes := map[social.AudienceKind]int{social.AudiencePublic: 0, social.AudienceOnlyMe: 0, social.AudienceCircles: 1}
	posts := map[social.PostID]social.AudienceKind{}
	for kind := range inboxes {
		p := newStatus(author)
		p.WallOwner, p.Audience.Kind = owner, kind
		ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
		posts[p.ID] = kind
	}
	ok(t, s.DeleteUser(t.Context(), owner, anEvent(social.EventUserDeleted)))
	ok(t, s.Sweep(t.Context(), owner))
	for _, p := range must(mdb.FindAll[postDoc](t.Context(), s.posts, mdb.Doc(), len(posts)))(t) {
		if want := inboxes[posts[p.ID]]; p.WallOwner != author || len(p.Inbox) != want {
			t.Errorf("%s: it is on the wall of %v, with %d inboxes, want %d", posts[p.ID], p.WallOwner, len(p.Inbox), want)
		}
	}
	if n := must(s.posts.CountDocuments(t.Context(), mdb.Doc("inbox", mdb.Doc("$exists", true))))(t); n != 1 {
		t.Errorf("%d posts have a field for inboxes, want 1", n)
	}
	if n := len(must(s.Incoming(t.Context(), reader, social.Page{Limit: 9}))(t)); n != 0 {
		t.Errorf("%d posts are in the incoming of someone in no circle", n)
	}
}

// TestOldReactionsAreFound: reactions of version 1 have no field for the user.
func TestOldReactionsAreFound(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	author, fans := fans(t, s, 3)
	p := newStatus(author)
	ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	for _, user := range fans {
		ok(t, s.PutReaction(t.Context(), p.ID, user, social.ReactionLike, anEvent(social.EventReactionAdded)))
	}
	must(s.reactions.UpdateMany(t.Context(), mdb.Doc("user", fans[1]), mdb.Doc("$unset", mdb.Doc("user", 1), "$set", mdb.Doc("v", 1))))(t)
	ok(t, s.DeleteUser(t.Context(), fans[1], anEvent(social.EventUserDeleted)))
	ok(t, s.Sweep(t.Context(), fans[1]))
	if n := must(s.Posts(t.Context(), []social.PostID{p.ID}))(t)[p.ID].Reactions[social.ReactionLike]; n != 2 {
		t.Errorf("%d reactions are counted, want 2", n)
	}
	if n := must(s.reactions.CountDocuments(t.Context(), mdb.Doc()))(t); n != 2 {
		t.Errorf("%d reactions are there, want 2", n)
	}
}

// TestThreadsOfTheDeletedDoNotStopAMigration: a long thread is removed in parts, before its post
// and the count on it.
func TestThreadsOfTheDeletedDoNotStopAMigration(t *testing.T) {
	t.Parallel()
	s := openAlone(t, Options{Heartbeat: 25 * time.Millisecond})
	star, fans := fans(t, s, 1)
	p := newStatus(star)
	ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	for range 3 {
		c := &social.Comment{Post: p.ID, Author: fans[0], Text: "hello"}
		ok(t, s.InsertComment(t.Context(), c, anEvent(social.EventCommentAdded)))
	}
	ok(t, s.DeleteUser(t.Context(), star, anEvent(social.EventUserDeleted)))
	must(deletion{Store: s, user: star}.emptyPost(t.Context(), p.ID))(t)
	ok(t, s.Migrate(t.Context(), Migration{Subject: MigrateComments, To: CommentsEmbedded, Goal: GoalFinish}))
	ok(t, s.Sweep(t.Context(), star))
	if n := must(s.posts.CountDocuments(t.Context(), mdb.Doc()))(t); n != 0 {
		t.Errorf("%d posts are left", n)
	}
}

// TestSessionsOfTheDeletedEnd: a session that a sign-in creates while its account is deleted ends
// with an event, which closes its sockets.
func TestSessionsOfTheDeletedEnd(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	users, _ := fans(t, s, 0)
	ok(t, s.DeleteUser(t.Context(), users, anEvent(social.EventUserDeleted)))
	token := [32]byte{7}
	ok(t, s.InsertSession(t.Context(), social.Session{TokenHash: token, User: users, ExpiresAt: time.Now().Add(time.Hour)}))
	ok(t, s.Sweep(t.Context(), users))
	if _, err := s.Session(t.Context(), token, time.Now()); !errors.Is(err, social.ErrNotFound) {
		t.Errorf("the session: %v", err)
	}
	if n := must(collectionOf(s, "events").CountDocuments(t.Context(), mdb.Doc("kind", social.EventSessionEnded, "session", mdb.HashKey(token))))(t); n != 1 {
		t.Errorf("%d events report its end", n)
	}
}
