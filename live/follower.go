package live

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"plaza/social"
)

// follower reads the event log.
type follower struct {
	log      social.EventLog
	logger   *slog.Logger
	happened func(context.Context, social.Event)
	skipped  func() // called when events between two others may be missing
}

// run reads the log until ctx ends, and reopens it when it breaks.
func (f *follower) run(ctx context.Context, stream social.EventStream) {
	for ctx.Err() == nil {
		opened := stream.Position()
		err := f.read(ctx, stream)
		position := stream.Position()
		_ = stream.Close()
		if ctx.Err() != nil {
			return
		}
		f.logger.ErrorContext(ctx, "the event stream broke", "error", err)
		if errors.Is(err, social.ErrPositionLost) || position == opened && !errors.Is(err, social.ErrUnavailable) {
			position = "" // a stream from there would break again
		}
		stream = f.reopen(ctx, position)
	}
}

func (f *follower) read(ctx context.Context, stream social.EventStream) error {
	for {
		e, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		f.happened(ctx, e)
	}
}

// reopen retries with backoff until it succeeds or ctx ends. If the stream does not continue at the
// position, all subscriptions read what happened in the meantime, so that none of it is skipped. It
// gives a position up that is lost, and one that the database refuses several times for a reason
// that may be permanent: subscribers who read again are better off than those who get nothing.
func (f *follower) reopen(ctx context.Context, position string) social.EventStream {
	const slowest, refusals = 10 * time.Second, 3
	refused := 0
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, slowest) {
		stream, err := f.log.Tail(ctx, position)
		if err == nil {
			if position == "" {
				f.skipped()
			}
			return stream
		}
		if !errors.Is(err, social.ErrUnavailable) {
			refused++
		}
		if errors.Is(err, social.ErrPositionLost) || refused == refusals {
			position = ""
		}
		f.logger.WarnContext(ctx, "the event stream cannot be opened", "error", err, "ms", wait.Milliseconds())
		select {
		case <-ctx.Done():
			return closedStream{}
		case <-time.After(wait):
		}
	}
}

// closedStream is followed if there is no time left to open a stream.
type closedStream struct{}

func (closedStream) Next(ctx context.Context) (social.Event, error) { return social.Event{}, ctx.Err() }
func (closedStream) Position() string                               { return "" }
func (closedStream) Close() error                                   { return nil }
