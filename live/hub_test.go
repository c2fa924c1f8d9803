package live_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"plaza/internal/testtime"
	"plaza/live"
	"plaza/social"
	"plaza/social/network"
)

// fragileLog is an event log without events, which fails until it is repaired.
type fragileLog struct {
	fault  error
	mended atomic.Bool
	opened atomic.Int32
}

func (l *fragileLog) Tail(context.Context, string) (social.EventStream, error) {
	if !l.mended.Load() {
		return nil, l.fault
	}
	l.opened.Add(1)
	return silence{}, nil
}

func (*fragileLog) KeepEvents(context.Context, time.Duration) error { return nil }

// silence is a stream without events.
type silence struct{}

func (silence) Next(ctx context.Context) (social.Event, error) {
	<-ctx.Done()
	return social.Event{}, ctx.Err()
}

func (silence) Position() string { return "" }
func (silence) Close() error     { return nil }

func newHub(log social.EventLog) *live.Hub {
	return live.New(network.New(nil, network.Options{}), log, slog.New(slog.DiscardHandler), func([32]byte) {})
}

// TestOpenWaitsForTheDatabase: a server whose database fails after it was opened and before it is
// followed keeps running. Subscribers who came in the meantime get a gap, because the updates that
// they missed are unknown.
func TestOpenWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	log := &fragileLog{fault: fmt.Errorf("tail: %w", social.ErrUnavailable)}
	hub := newHub(log)
	ctx, stop := context.WithCancel(t.Context())
	done, err := hub.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	early := gapReceiver{make(chan live.Change, 1)}
	hub.News(ctx, live.Subscriber{}, "", early)
	log.mended.Store(true)
	if event := <-early.events; event != live.Gap {
		t.Errorf("the subscription got %v, want a gap", event)
	}
	testtime.Eventually(t, "the hub follows the log", func() bool { return log.opened.Load() == 1 })
	ended := make(chan error, 1)
	hub.News(t.Context(), live.Subscriber{}, "", endReceiver{t, ended})
	stop()
	<-done
	if err := <-ended; !errors.Is(err, live.ErrClosed) {
		t.Errorf("the subscription ended with %v, want ErrClosed", err)
	}
}

// gapReceiver records the kinds of its items.
type gapReceiver struct{ events chan live.Change }

func (r gapReceiver) Encode(item *live.Item) []byte { r.events <- item.Event; return nil }
func (gapReceiver) Send([]byte)                     {}
func (gapReceiver) End(error)                       {}

// endReceiver expects only the end.
type endReceiver struct {
	t     *testing.T
	ended chan<- error
}

func (r endReceiver) Encode(*live.Item) []byte {
	r.t.Error("an item arrived, though nothing happened")
	return nil
}

func (r endReceiver) Send([]byte)      {}
func (r endReceiver) End(reason error) { r.ended <- reason }

func TestOpenReportsOtherFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such collection")
	if _, err := newHub(&fragileLog{fault: broken}).Open(t.Context()); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

// TestSubscriptionsEndWhileTheHubStops: a hub that has stopped waits for the goroutines of
// subscriptions that their subscribers ended at that moment. The race detector reports goroutines
// that start later.
func TestSubscriptionsEndWhileTheHubStops(t *testing.T) {
	t.Parallel()
	for range 200 {
		log := &fragileLog{}
		log.mended.Store(true)
		hub := newHub(log)
		ctx, stop := context.WithCancel(t.Context())
		done, err := hub.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		subscribed, leave := context.WithCancel(t.Context())
		for range 4 {
			hub.News(subscribed, live.Subscriber{}, "", endReceiver{t, make(chan error, 1)})
		}
		go leave()
		stop()
		<-done
	}
}
