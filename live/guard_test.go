package live

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/social/network"
)

// endedReceiver receives the reason for the end of a subscription.
type endedReceiver struct {
	numbersReceiver

	reason chan error
}

func newEndedReceiver() *endedReceiver {
	r := &endedReceiver{reason: make(chan error, 1)}
	r.done = make(chan struct{})
	return r
}

func (r *endedReceiver) End(reason error) { r.reason <- reason }

// brokenStore panics instead of reading walls, or posts.
type brokenStore struct {
	*wallStore

	walls, posts bool
}

func (st *brokenStore) Wall(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	if st.walls {
		panic("no walls")
	}
	return st.wallStore.Wall(ctx, lists)
}

func (st *brokenStore) Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	if st.posts {
		panic("no posts")
	}
	return st.wallStore.Posts(ctx, ids)
}

// TestPanicsEndOneSubscription: a panic while a subscription reads, encodes or sends ends that
// subscription, and not the server.
func TestPanicsEndOneSubscription(t *testing.T) {
	t.Parallel()
	broken := func() { panic("broken") }
	for what, c := range map[string]struct {
		store             brokenStore
		encoding, sending func()
	}{
		"reading":  {store: brokenStore{walls: true}},
		"encoding": {encoding: broken},
		"sending":  {sending: broken},
	} {
		c.store.wallStore = newWallStore(3, "short")
		r := newEndedReceiver()
		r.encoding, r.sending = c.encoding, c.sending
		h := New(network.New(&c.store, network.Options{}), nil, slog.New(slog.DiscardHandler), func([32]byte) {})
		h.Wall(t.Context(), Subscriber{}, c.store.author, fromTheBeginning, r)
		if reason := <-r.reason; !errors.Is(reason, ErrInterrupted) {
			t.Errorf("%s: the subscription ended with %v", what, reason)
		}
	}
}

// TestPanicsInDeliveryAreMadeUp: subscribers read the posts whose delivery panicked.
func TestPanicsInDeliveryAreMadeUp(t *testing.T) {
	t.Parallel()
	st := &brokenStore{wallStore: newWallStore(3, "short"), posts: true}
	last := st.ids[2]
	st.ids = st.ids[:2]
	r := newEndedReceiver()
	r.last = "2"
	h := New(network.New(st, network.Options{}), nil, slog.New(slog.DiscardHandler), func([32]byte) {})
	h.Wall(t.Context(), Subscriber{}, st.author, social.Key(st.ids[1].Bytes()), r)
	testtime.Eventually(t, "the subscription is live", func() bool {
		s := h.registry.matching(everyone)[0]
		s.mu.Lock()
		defer s.mu.Unlock()
		return !s.running && !s.behind
	})
	st.ids = append(st.ids, last)
	h.dispatch(t.Context(), social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated, Actor: st.author, Target: st.author, Post: last})
	<-r.done
	if len(r.got) != 1 || r.got[0] != "2" {
		t.Errorf("got %v, want the last post", r.got)
	}
}
