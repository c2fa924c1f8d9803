package network_test

import (
	"context"
	"testing"

	"plaza/id"
	"plaza/social"
	"plaza/social/network"
)

// failingStore has one user, and fails to write.
type failingStore struct {
	social.Store

	user social.UserID
}

func (st failingStore) People(_ context.Context, _ social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	found := map[social.UserID]social.Person{}
	for _, user := range ids {
		if user == st.user {
			found[user] = social.Person{User: &social.User{ID: user}}
		}
	}
	return found, nil
}

func (failingStore) Relations(context.Context, []social.Pair) (map[social.Pair]social.Relation, error) {
	return nil, nil
}

func (failingStore) Posts(context.Context, []social.PostID) (map[social.PostID]*social.Post, error) {
	return nil, nil
}

func (failingStore) Comments(context.Context, []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	return nil, nil
}

func (failingStore) Block(context.Context, social.Edge, social.Event) (bool, error) {
	return false, context.DeadlineExceeded
}

// TestWhatMayHaveHidden: a change that is refused before it is written makes no update invalid. One
// that fails later does, because it may have been carried out.
func TestWhatMayHaveHidden(t *testing.T) {
	t.Parallel()
	viewer, known, unknown := social.UserID{ID: id.New()}, social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	s := network.New(failingStore{user: known}, network.Options{})
	ctx, before := t.Context(), s.Hidings()
	refused := []error{
		s.MuteThread(ctx, viewer, social.PostID{ID: id.New()}), s.DeletePost(ctx, viewer, social.PostID{ID: id.New()}),
		s.Mute(ctx, viewer, unknown), s.Unfollow(ctx, viewer, unknown),
	}
	_, err := s.Block(ctx, viewer, unknown)
	refused = append(refused, err)
	_, err = s.DeleteComment(ctx, viewer, social.CommentID{ID: id.New()})
	for _, err := range append(refused, err) {
		if err == nil {
			t.Error("an unknown object was found")
		}
	}
	if s.HaveHidden(before, viewer) || s.HaveHidden(before, social.UserID{}) {
		t.Error("changes that were refused were counted")
	}
	if _, err := s.Block(ctx, viewer, known); err == nil || !s.HaveHidden(before, unknown) || !s.HaveHidden(before, social.UserID{}) {
		t.Errorf("a block that failed with %v was not counted", err)
	}
}

// TestHidesFrom: an unfollow, a mute and the end of a membership hide something from
// the two users alone; a block and a deletion from anyone.
func TestHidesFrom(t *testing.T) {
	t.Parallel()
	actor, target, other := social.UserID{ID: id.New()}, social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	for kind, want := range map[social.EventKind]struct{ actor, target, other bool }{
		social.EventUnfollowed:      {true, true, false},
		social.EventMuted:           {true, true, false},
		social.EventMemberRemoved:   {true, true, false},
		social.EventThreadMuted:     {true, false, false},
		social.EventBlocked:         {true, true, true},
		social.EventCircleDeleted:   {true, true, true},
		social.EventAudienceChanged: {true, true, true},
		social.EventPostDeleted:     {true, true, true},
		social.EventCommentDeleted:  {true, true, true},
		social.EventUserDeleted:     {true, true, true},
		social.EventStandingChanged: {true, true, true},
		social.EventCommentAdded:    {},
	} {
		s := network.New(nil, network.Options{})
		before := s.Hidings()
		s.Noted(social.Event{Kind: kind, Actor: actor, Target: target})
		got := struct{ actor, target, other bool }{s.HaveHidden(before, actor), s.HaveHidden(before, target), s.HaveHidden(before, other)}
		if got != want {
			t.Errorf("%s: hidden from %+v, want %+v", kind, got, want)
		}
		if now := s.Hidings(); s.HaveHidden(now, actor) || s.HaveHidden(now, other) {
			t.Errorf("%s: hidden from those who have read since", kind)
		}
	}
}
