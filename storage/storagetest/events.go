package storagetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plaza/internal/testtime"
	"plaza/social"
)

var eventCases = []testCase{
	{"EveryWriteAppendsItsEvent", everyWriteAppendsItsEvent},
	{"AFollowAppendsAnotherEvent", aFollowAppendsAnotherEvent},
	{"ADeletionReportsWhatItChangesAbove", aDeletionReportsWhatItChangesAbove},
	{"WritesThatDoNothingOrFailAppendNone", writesThatDoNothingOrFailAppendNone},
	{"ImportsAppendNone", importsAppendNone},
	{"EventsAreReturnedInFull", eventsAreReturnedInFull},
	{"TailSeesNothingFromBefore", tailSeesNothingFromBefore},
	{"TailContinuesAtAPosition", tailContinuesAtAPosition},
	{"TailContinuesWhereNothingHappened", tailContinuesWhereNothingHappened},
	{"NextWaitsForAnEvent", nextWaitsForAnEvent},
	{"NextEndsWithItsContext", nextEndsWithItsContext},
	{"NothingIsLostWithoutReaders", nothingIsLostWithoutReaders},
	{"AllTailsSeeTheSameOrder", allTailsSeeTheSameOrder},
	{"AnEventIsReadOnlyAfterItsWrite", anEventIsReadOnlyAfterItsWrite},
}

// patience limits every wait for an expected event.
var patience = testtime.Patience()

// tail is a stream of events under test.
type tail struct {
	w      *world
	stream social.EventStream
}

// tail opens a stream; it is closed with the test.
func (w *world) tail() *tail {
	w.t.Helper()
	return w.tailFrom("")
}

// tailFrom opens a stream that continues another.
func (w *world) tailFrom(position string) *tail {
	w.t.Helper()
	stream, err := w.Tail(w.ctx, position)
	w.ok(err, "Tail")
	w.t.Cleanup(func() {
		if err := stream.Close(); err != nil {
			w.t.Errorf("closing the stream: %v", err)
		}
	})
	return &tail{w, stream}
}

// next reads one event.
func (s *tail) next() social.Event {
	s.w.t.Helper()
	ctx, cancel := context.WithTimeout(s.w.ctx, patience)
	defer cancel()
	e, err := s.stream.Next(ctx)
	s.w.ok(err, "Next")
	if e.Position == "" {
		s.w.t.Errorf("the event %s has no position", e.Kind)
	}
	return e
}

// take reads n events.
func (s *tail) take(n int) []social.Event {
	s.w.t.Helper()
	var events []social.Event
	for range n {
		events = append(events, s.next())
	}
	return events
}

// rest adds one more event, and reads until that arrives. It returns all events that were committed
// before.
func (s *tail) rest() []social.Event {
	s.w.t.Helper()
	mark := s.w.mark()
	var events []social.Event
	for {
		e := s.next()
		if e.ID == mark.ID {
			return events
		}
		events = append(events, e)
	}
}

// posts counts the events of a kind by their posts. They name nothing else.
func (s *tail) posts(kind social.EventKind) map[social.PostID]int {
	s.w.t.Helper()
	reported := map[social.PostID]int{}
	for _, e := range s.rest() {
		if e.Kind == kind {
			reported[e.Post]++
			s.w.sameEvents([]social.Event{e}, []social.Event{{ID: e.ID, Kind: e.Kind, Post: e.Post}}, "the event of a post")
		}
	}
	return reported
}

// mark creates an event without meaning.
func (w *world) mark() social.Event {
	w.t.Helper()
	e := event(social.EventUserSignedUp)
	w.ok(w.InsertUser(w.ctx, newUser(), e), "InsertUser")
	return e
}

// sameEvents compares events without their positions.
func (w *world) sameEvents(got, want []social.Event, what string) {
	w.t.Helper()
	ignore := cmpopts.IgnoreFields(social.Event{}, "Position")
	if diff := cmp.Diff(want, got, ignore, cmpopts.EquateEmpty(), readableIDs); diff != "" {
		w.t.Errorf("%s: the events differ (-want +got):\n%s", what, diff)
	}
}

// writes are calls that change something, in an order in which all succeed.
func (w *world) writes() []func(e social.Event) error {
	ada, ben := newUser(), newUser()
	friends := &social.Circle{ID: newCircleID(), Owner: ada.User.ID, Name: "Friends"}
	session := social.Session{TokenHash: [32]byte{1, 2, 3}, User: ada.User.ID, ExpiresAt: now().Add(time.Hour)}
	m := social.Membership{Circle: friends.ID, Owner: ada.User.ID, Member: ben.User.ID}
	again := social.Membership{Circle: ada.Following.ID, Owner: ada.User.ID, Member: ben.User.ID}
	a, b := person{ada.User.ID, ada.Following.ID}, person{ben.User.ID, ben.Following.ID}
	p := statusBy(a)
	p.Content = social.Content{Poll: &social.Poll{Question: "?", Options: []string{"a", "b"}}}
	edited := *p
	edited.Revision = 1
	root := newComment(p, nil, b)
	reply := newComment(p, root, a)
	edge := func(from, to person) social.Edge { return social.Edge{ID: newEdgeID(), From: from.ID, To: to.ID} }
	did := func(ok bool, err error) error {
		if err == nil && !ok {
			return errors.New("the call changed nothing")
		}
		return err
	}
	ctx, post := w.ctx, p.ID
	return []func(e social.Event) error{
		func(e social.Event) error { return w.InsertUser(ctx, ada, e) },
		func(e social.Event) error { return w.InsertUser(ctx, ben, e) },
		func(e social.Event) error { return w.UpdateProfile(ctx, ada.User.ID, profileOf(&ada.User), e) },
		func(e social.Event) error { return did(w.GrantRight(ctx, ada.User.ID, social.RightAdmin, e)) },
		func(e social.Event) error { return did(w.RevokeRight(ctx, ada.User.ID, social.RightAdmin, e)) },
		func(e social.Event) error {
			w.ok(w.InsertSession(ctx, session), "InsertSession")
			return w.DeleteSession(ctx, session.TokenHash, e)
		},
		func(e social.Event) error { return w.InsertCircle(ctx, friends, social.MaxCircles, e) },
		func(e social.Event) error { return w.RenameCircle(ctx, friends.ID, "Close", e) },
		func(e social.Event) error { return did(w.AddToCircle(ctx, m, newEdgeID(), e)) },
		func(e social.Event) error { return did(w.AddToCircle(ctx, again, newEdgeID(), e)) },
		func(e social.Event) error { return did(w.RemoveFromCircle(ctx, m, e)) },
		func(e social.Event) error { return did(w.RemoveFromCircle(ctx, again, e)) },
		func(e social.Event) error { return did(w.AddToCircle(ctx, m, newEdgeID(), e)) },
		func(e social.Event) error { return did(w.Unfollow(ctx, a.ID, b.ID, e)) },
		func(e social.Event) error { return w.DeleteCircle(ctx, friends.ID, e) },
		func(e social.Event) error { return did(w.Mute(ctx, edge(a, b), e)) },
		func(e social.Event) error { return did(w.Unmute(ctx, a.ID, b.ID, e)) },
		func(e social.Event) error { return did(w.Block(ctx, edge(a, b), e)) },
		func(e social.Event) error { return did(w.Unblock(ctx, a.ID, b.ID, e)) },
		func(e social.Event) error { return w.InsertPost(ctx, p, e) },
		func(e social.Event) error { return w.UpdatePost(ctx, &edited, &social.Version{Content: p.Content}, e) },
		func(e social.Event) error { return w.PutVote(ctx, post, b.ID, 0, e) },
		func(e social.Event) error { return w.PutVote(ctx, post, b.ID, 1, e) },
		func(e social.Event) error { return w.PutReaction(ctx, post, b.ID, social.ReactionLike, e) },
		func(e social.Event) error { return w.PutReaction(ctx, post, b.ID, social.ReactionLove, e) },
		func(e social.Event) error { return w.DeleteReaction(ctx, post, b.ID, e) },
		func(e social.Event) error { return w.InsertComment(ctx, root, e) },
		func(e social.Event) error { return w.InsertComment(ctx, reply, e) },
		func(e social.Event) error { return did(w.MuteThread(ctx, post, b.ID, e)) },
		func(e social.Event) error { return did(w.UnmuteThread(ctx, post, b.ID, e)) },
		func(e social.Event) error { return eraseNothing(w, e) },
		func(e social.Event) error { return w.EditComment(ctx, root.ID, "edited", now(), e) },
		func(e social.Event) error { return w.DeleteComment(ctx, root.ID, e) },
		func(e social.Event) error { return w.DeleteComment(ctx, reply.ID, e) },
		func(e social.Event) error { return w.DeletePost(ctx, post, e) },
	}
}

func everyWriteAppendsItsEvent(w *world) {
	tail := w.tail()
	var want []social.Event
	for i, write := range w.writes() {
		e := event(social.EventMuted)
		w.ok(write(e), "write %d", i)
		want = append(want, e)
	}
	isFurther := func(e social.Event) bool {
		return e.Kind == social.EventFollowed || e.Kind == social.EventCommentDeleted
	}
	events := slices.DeleteFunc(tail.rest(), isFurther)
	deleted := &events[len(events)-1] // the engine says who saw the post
	deleted.Author, deleted.Audience = social.UserID{}, social.Audience{}
	w.sameEvents(events, want, "one event for each write, in their order")
}

// aFollowAppendsAnotherEvent, which does not name the circle.
func aFollowAppendsAnotherEvent(w *world) {
	ada, ben := w.user(), w.user()
	friends := w.circle(ada, "Friends")
	tail := w.tail()
	w.join(friends, ada, ben)
	w.follow(ada, ben)
	w.did(true)(w.Unfollow(w.ctx, ada.ID, ben.ID, event(social.EventUnfollowed)))
	w.follow(ada, ben)
	var kinds []social.EventKind
	for _, e := range tail.rest() {
		kinds = append(kinds, e.Kind)
		if e.Kind == social.EventFollowed {
			w.sameEvents([]social.Event{e}, []social.Event{{ID: e.ID, Kind: e.Kind, Actor: ada.ID, Target: ben.ID}}, "the event of a follow")
		}
	}
	w.same(kinds, []social.EventKind{
		social.EventMemberAdded, social.EventFollowed, social.EventMemberAdded, social.EventUnfollowed, social.EventMemberAdded, social.EventFollowed,
	}, "the events")
}

// aDeletionReportsWhatItChangesAbove: the tombstones that go with a comment, and the comment that has
// one reply fewer.
func aDeletionReportsWhatItChangesAbove(w *world) {
	ada, ben := w.user(), w.user()
	p := w.status(ada)
	root := w.comment(p, nil, ada)
	upper := w.comment(p, root, ben)
	lower := w.comment(p, upper, ben)
	leaf := w.comment(p, lower, ada)
	tail := w.tail()
	w.deleteComment(upper)
	w.deleteComment(lower)
	last := event(social.EventCommentDeleted)
	last.Actor, last.Post, last.Comment = ada.ID, p.ID, leaf.ID
	w.ok(w.DeleteComment(w.ctx, leaf.ID, last), "DeleteComment")
	further := tail.rest()[2:]
	for i := range further[1:] {
		w.same(further[i+1].ID.IsZero(), false, "whether a further event has no id")
		further[i+1].ID = last.ID
	}
	also := func(kind social.EventKind, c *social.Comment) social.Event {
		return social.Event{ID: last.ID, Kind: kind, Actor: ada.ID, Post: p.ID, Comment: c.ID}
	}
	w.sameEvents(further, []social.Event{
		last, also(social.EventCommentDeleted, lower), also(social.EventCommentDeleted, upper), also(social.EventReplyRemoved, root),
	}, "the events of the last deletion")

	tail = w.tail()
	_, err := w.EraseComments(w.ctx, ada.ID, newCommentID(), event(social.EventErasureBegun))
	w.ok(err, "EraseComments")
	w.ok(settle(w.ctx, w.Store), "background work")
	w.same(len(tail.rest()), 2, "the number of events of an erasure that removes one comment on the post")
}

func writesThatDoNothingOrFailAppendNone(w *world) {
	people := w.users(4)
	ada, ben, cem, missing := people[0], people[1], people[2], person{newUserID(), newCircleID()}
	friends := w.circle(ada, "Friends")
	w.follow(ada, ben)
	w.did(true)(w.mute(ada, ben))
	w.did(true)(w.block(ada, cem))
	p := *w.poll(ada, 2)
	w.ok(w.PutVote(w.ctx, p.ID, ben.ID, 0, event(social.EventPollVoted)), "PutVote")
	w.ok(w.PutReaction(w.ctx, p.ID, ben.ID, social.ReactionLike, event(social.EventReactionAdded)), "PutReaction")
	root := w.comment(&p, nil, ada)
	w.comment(&p, root, ada)
	w.deleteComment(root)
	taken := newUser()
	taken.User.Handle = w.getUser(ada.ID).Handle
	stale, lost := p, statusBy(ada)
	lost.Revision = 1
	slug := commentWithSlug(root.Slug, newCommentID(), &p, nil, ada)

	ctx, e := w.ctx, event(social.EventBlocked)
	tail := w.tail()
	w.did(false)(w.RevokeRight(ctx, ada.ID, social.RightAdmin, e))
	w.did(false)(w.add(ada.Following, ada, ben))
	w.did(false)(w.remove(friends, ada, ben))
	w.did(false)(w.Unfollow(ctx, ben.ID, ada.ID, e))
	w.did(false)(w.mute(ada, ben))
	w.did(false)(w.Unmute(ctx, ben.ID, ada.ID, e))
	w.did(false)(w.block(ada, cem))
	w.did(false)(w.Unblock(ctx, cem.ID, ada.ID, e))
	w.ok(w.PutVote(ctx, p.ID, ben.ID, 0, e), "the same vote")
	w.ok(w.PutReaction(ctx, p.ID, ben.ID, social.ReactionLike, e), "the same reaction")
	w.ok(w.DeleteReaction(ctx, p.ID, ada.ID, e), "taking back what is not there")
	w.ok(w.DeleteSession(ctx, [32]byte{7}, e), "deleting a session that is gone")
	w.did(false)(w.UnmuteThread(ctx, p.ID, ada.ID, e))
	for what, err := range map[string]error{
		"InsertUser":      w.InsertUser(ctx, taken, e),
		"UpdateProfile":   w.UpdateProfile(ctx, newUserID(), social.ProfileChange{}, e),
		"GrantRight":      second(w.GrantRight(ctx, newUserID(), social.RightAdmin, e)),
		"RevokeRight":     second(w.RevokeRight(ctx, newUserID(), social.RightAdmin, e)),
		"InsertCircle":    w.InsertCircle(ctx, &social.Circle{ID: newCircleID(), Owner: ada.ID, Name: "friends"}, social.MaxCircles, e),
		"RenameCircle":    w.RenameCircle(ctx, newCircleID(), "x", e),
		"RenameCircle 2":  w.RenameCircle(ctx, friends, "following", e),
		"DeleteCircle":    w.DeleteCircle(ctx, newCircleID(), e),
		"AddToCircle":     second(w.add(newCircleID(), ada, ben)),
		"AddToCircle 2":   second(w.add(ada.Following, ada, missing)),
		"AddToCircle 3":   second(w.add(ada.Following, ada, cem)),
		"Block":           second(w.block(ada, missing)),
		"Mute":            second(w.mute(ada, missing)),
		"UpdatePost":      w.UpdatePost(ctx, &stale, nil, e),
		"UpdatePost 2":    w.UpdatePost(ctx, lost, &social.Version{Content: lost.Content}, e),
		"DeletePost":      w.DeletePost(ctx, lost.ID, e),
		"PutVote":         w.PutVote(ctx, lost.ID, ada.ID, 0, e),
		"PutReaction":     w.PutReaction(ctx, lost.ID, ada.ID, social.ReactionLike, e),
		"DeleteReaction":  w.DeleteReaction(ctx, lost.ID, ada.ID, e),
		"MuteThread":      second(w.MuteThread(ctx, lost.ID, ada.ID, e)),
		"UnmuteThread":    second(w.UnmuteThread(ctx, lost.ID, ada.ID, e)),
		"InsertComment":   w.InsertComment(ctx, newComment(lost, nil, ada), e),
		"InsertComment 2": w.InsertComment(ctx, newComment(&p, root, ada), e),
		"InsertComment 3": w.InsertComment(ctx, slug, e),
		"EditComment":     w.EditComment(ctx, root.ID, "x", now(), e),
		"DeleteComment":   w.DeleteComment(ctx, root.ID, e),
	} {
		if err == nil {
			w.t.Errorf("%s: no error", what)
		}
	}
	w.sameEvents(tail.rest(), nil, "writes that did nothing")
}

func second(_ bool, err error) error { return err }

// eraseNothing erases the comments of a user who has none.
func eraseNothing(w *world, e social.Event) error {
	_, err := w.EraseComments(w.ctx, newUserID(), newCommentID(), e)
	return err
}

func importsAppendNone(w *world) {
	tail := w.tail()
	people := w.users(3)
	w.followAll(people[0], people[1:])
	_, err := w.ImportCircles(w.ctx, []*social.Circle{{ID: newCircleID(), Owner: people[0].ID, Name: "Friends"}})
	w.ok(err, "ImportCircles")
	w.sameEvents(tail.rest(), nil, "an import")
}

func eventsAreReturnedInFull(w *world) {
	tail := w.tail()
	ada := w.user()
	whole := event(social.EventCommentAdded)
	whole.Actor, whole.Target, whole.Post = newUserID(), newUserID(), newPostID()
	whole.Comment, whole.Circle = newCommentID(), newCircleID()
	whole.Session = [32]byte{0, 1, 0xff, 31: 0x80}
	bare := event(social.EventPostEdited)
	for _, e := range []social.Event{whole, bare} {
		w.ok(w.InsertPost(w.ctx, statusBy(ada), e), "InsertPost")
	}
	got := tail.take(3)[1:]
	w.sameEvents(got, []social.Event{whole, bare}, "events with all fields and with none")
	if got[0].Position == got[1].Position {
		w.t.Errorf("two events are at the same position %q", got[0].Position)
	}
}

func tailSeesNothingFromBefore(w *world) {
	ada := w.user()
	for range 10 {
		w.status(ada)
		tail := w.tail()
		after := event(social.EventPostCreated)
		w.ok(w.InsertPost(w.ctx, statusBy(ada), after), "InsertPost")
		w.sameEvents(tail.take(1), []social.Event{after}, "the first event after Tail")
	}
}

func tailContinuesAtAPosition(w *world) {
	first := w.tail()
	var want []social.Event
	for range 5 {
		want = append(want, w.mark())
	}
	for taken := 1; taken <= len(want); taken++ {
		e := first.next()
		if got := first.stream.Position(); got != e.Position {
			w.t.Errorf("after %d events the stream is at %q, want %q", taken, got, e.Position)
		}
		w.sameEvents(w.tailFrom(e.Position).take(len(want)-taken), want[taken:], "the events after the position")
	}
	w.ok(first.stream.Close(), "Close")
	last := w.mark()
	w.sameEvents(w.tailFrom(first.stream.Position()).take(1), []social.Event{last}, "the event after the stream was closed")
}

func tailContinuesWhereNothingHappened(w *world) {
	w.mark()
	silent := w.tail()
	position := silent.stream.Position()
	w.ok(silent.stream.Close(), "Close")
	want := []social.Event{w.mark(), w.mark()}
	w.sameEvents(w.tailFrom(position).take(len(want)), want, "the events after a stream without any")
}

func nextWaitsForAnEvent(w *world) {
	tail := w.tail()
	for range 5 {
		type answer struct {
			event social.Event
			err   error
		}
		answers, began := make(chan answer, 1), make(chan struct{})
		go func() {
			close(began)
			e, err := tail.stream.Next(w.ctx)
			answers <- answer{e, err}
		}()
		<-began
		mark := w.mark()
		select {
		case got := <-answers:
			w.ok(got.err, "Next")
			w.sameEvents([]social.Event{got.event}, []social.Event{mark}, "the event that Next waited for")
		case <-time.After(patience):
			w.t.Fatal("Next does not see the event")
		}
	}
}

func nextEndsWithItsContext(w *world) {
	for _, ended := range []bool{true, false} {
		tail := w.tail()
		ctx, cancel := context.WithCancel(w.ctx)
		if ended {
			cancel()
		}
		errs, began := make(chan error, 1), make(chan struct{})
		go func() {
			close(began)
			_, err := tail.stream.Next(ctx)
			errs <- err
		}()
		<-began
		cancel()
		select {
		case err := <-errs:
			w.fails(err, context.Canceled, "Next with an ended context")
		case <-time.After(patience):
			w.t.Fatal("Next continues after its context has ended")
		}
	}
	ctx, cancel := context.WithTimeout(w.ctx, time.Millisecond)
	defer cancel()
	_, err := w.tail().stream.Next(ctx)
	w.fails(err, context.DeadlineExceeded, "Next with a deadline")
}

func nothingIsLostWithoutReaders(w *world) {
	const most = 300 // more than SQLite reads in one batch
	tail := w.tail()
	ada := w.user()
	first := tail.take(1)
	var want []social.Event
	for range most {
		e := event(social.EventProfileUpdated)
		w.ok(w.UpdateProfile(w.ctx, ada.ID, social.ProfileChange{}, e), "UpdateProfile")
		want = append(want, e)
	}
	w.sameEvents(tail.take(most), want, "all events after "+string(first[0].Kind))
}

func allTailsSeeTheSameOrder(w *world) {
	const writers, each = 16, 10
	people := w.users(writers)
	early := w.tail()
	errs := together(writers, func(i int) error {
		for range each {
			e := event(social.EventPostCreated)
			e.Actor = people[i].ID
			if err := w.InsertPost(w.ctx, statusBy(people[i]), e); err != nil {
				return err
			}
		}
		return nil
	})
	w.tally(errs)
	late := w.tail()
	w.sameEvents(late.rest(), nil, "the late tail")

	// The mark of the late tail's rest is the first event that both see.
	got := early.rest()
	w.same(len(got), writers*each+1, "the number of events")
	latest := map[social.UserID]social.EventID{}
	for _, e := range got {
		if before := latest[e.Actor]; before.Compare(e.ID.ID) >= 0 {
			w.t.Errorf("one writer's events are not in the order of the writes")
		}
		latest[e.Actor] = e.ID
	}

	one, two := w.tail(), w.tail()
	errs = together(writers, func(i int) error {
		for range each {
			if err := w.InsertPost(w.ctx, statusBy(people[i]), event(social.EventPostCreated)); err != nil {
				return err
			}
		}
		return nil
	})
	w.tally(errs)
	w.sameEvents(one.take(writers*each), two.take(writers*each), "two tails")
}

func anEventIsReadOnlyAfterItsWrite(w *world) {
	// A reader of a post's event can read the post.
	ada := w.user()
	tail := w.tail()
	const posts = 50
	failures := make(chan error, 1)
	go func() {
		for range posts {
			p := statusBy(ada)
			e := event(social.EventPostCreated)
			e.Post = p.ID
			if err := w.InsertPost(w.ctx, p, e); err != nil {
				failures <- err
				return
			}
		}
		failures <- nil
	}()
	for range posts {
		w.getPost(tail.next().Post)
	}
	w.ok(<-failures, "InsertPost")
}
