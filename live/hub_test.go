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
	early := gapReceiver{events: make(chan live.Change, 1)}
	hub.News(ctx, live.Subscriber{}, "", early)
	log.mended.Store(true)
	if event := <-early.events; event != live.Gap {
		t.Errorf("the subscription got %v, want a gap", event)
	}
	testtime.Eventually(t, "the hub follows the log", func() bool { return log.opened.Load() == 1 })
	ended := make(chan error, 1)
	hub.News(t.Context(), live.Subscriber{}, "", endReceiver{t: t, ended: ended})
	stop()
	<-done
	if err := <-ended; !errors.Is(err, live.ErrClosed) {
		t.Errorf("the subscription ended with %v, want ErrClosed", err)
	}
}

// refusingLog is an event log that can't be read from the position of its first stream, and that
// does not say why.
type refusingLog struct {
	first  social.EventStream
	opened atomic.Bool
}

func (l *refusingLog) Tail(_ context.Context, position string) (social.EventStream, error) {
	if _, opens := l.first.(refusedStream); position != "" && !opens {
		return nil, errRefused
	}
	if position == "" && l.opened.Swap(true) {
		return silence{}, nil
	}
	return l.first, nil
}

func (*refusingLog) KeepEvents(context.Context, time.Duration) error { return nil }

var errRefused = errors.New("a code that we do not know")

// brokenStream fails without an event.
type brokenStream struct{ silence }

func (brokenStream) Next(context.Context) (social.Event, error) {
	return social.Event{}, fmt.Errorf("%w: the connection was lost", social.ErrUnavailable)
}

func (brokenStream) Position() string { return "here" }

// refusedStream fails at its first event, for an unknown reason.
type refusedStream struct{ brokenStream }

func (refusedStream) Next(context.Context) (social.Event, error) { return social.Event{}, errRefused }

// TestAnUnknownFaultIsAGap: if the log cannot be read from a position, for a reason that the hub
// does not know, it does not try forever: subscribers get a gap.
func TestAnUnknownFaultIsAGap(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]social.EventStream{"opening": brokenStream{}, "reading": refusedStream{}} {
		hub := newHub(&refusingLog{first: first})
		ctx, stop := context.WithCancel(t.Context())
		receiver := gapReceiver{events: make(chan live.Change, 1)}
		hub.News(ctx, live.Subscriber{}, "", receiver)
		done, err := hub.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if event := <-receiver.events; event != live.Gap {
			t.Errorf("%s: the subscription got %v, want a gap", name, event)
		}
		stop()
		<-done
	}
}

// unlimited is the part of a receiver that admits everything.
type unlimited struct{}

func (unlimited) Await()      {}
func (unlimited) Admit() bool { return true }

// gapReceiver records the kinds of its items.
type gapReceiver struct {
	unlimited

	events chan live.Change
}

func (r gapReceiver) Encoder() func(*live.Item) []byte {
	return func(item *live.Item) []byte { r.events <- item.Event; return nil }
}
func (gapReceiver) Send(...[]byte) {}
func (gapReceiver) End(error)      {}

// endReceiver expects only the end.
type endReceiver struct {
	unlimited

	t     *testing.T
	ended chan<- error
}

func (r endReceiver) Encoder() func(*live.Item) []byte {
	r.t.Error("an item arrived, though nothing happened")
	return func(*live.Item) []byte { return nil }
}

func (r endReceiver) Send(...[]byte)   {}
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
			hub.News(subscribed, live.Subscriber{}, "", endReceiver{t: t, ended: make(chan error, 1)})
		}
		go leave()
		stop()
		<-done
	}
}
