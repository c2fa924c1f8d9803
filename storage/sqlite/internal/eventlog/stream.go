package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// eventBatch is how many events a stream reads in one query.
const eventBatch = 256

var (
	eventsAfter = sqldb.Define(`SELECT seq, id, kind, actor, target, post, comment, circle, session, author, coalesce(audience, ''), audience_circles
		FROM events WHERE seq > ? ORDER BY seq LIMIT ?`)
	// hasPosition is true if the event exists, or if the position is 0, which is before the first
	// one.
	hasPosition = sqldb.Define(`SELECT EXISTS (SELECT 1 FROM events WHERE seq = ?1)
		OR ?1 = 0 AND (EXISTS (SELECT 1 FROM events WHERE seq = 1) OR NOT EXISTS (SELECT 1 FROM events WHERE seq > 0))`)
)

// errClosed is the error of a stream after the store or the stream was closed.
var errClosed = errors.New("the event stream is closed")

// Tail implements social.EventLog.
func (l *Log) Tail(ctx context.Context, position string) (social.EventStream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	last, _ := l.signal.state()
	if position != "" {
		var err error
		if last, err = l.seek(ctx, position); err != nil {
			return nil, err
		}
	}
	return &stream{log: l, last: last, position: strconv.FormatInt(last, 10), closed: make(chan struct{})}, nil
}

// seek finds a position in the log. Pruning keeps the newest event. So if the event of the position
// is gone, later ones may be gone too.
func (l *Log) seek(ctx context.Context, position string) (seq int64, err error) {
	seq, err = strconv.ParseInt(position, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q", social.ErrPositionLost, position)
	}
	known, err := sqldb.Read(ctx, l.db, func(tx sqldb.Reader) (known bool, err error) {
		_, err = tx.Row(hasPosition, []any{&known}, seq)
		return known, err
	})
	if err == nil && !known {
		err = fmt.Errorf("%w: %q", social.ErrPositionLost, position)
	}
	return seq, err
}

// stream reads the log in batches, and sleeps at its end until the next commit. It holds no
// connection and no goroutine between reads.
type stream struct {
	log      *Log
	last     int64 // everything up to here has been read, or is gone
	batch    []social.Event
	position string // of the last event that Next returned
	closed   chan struct{}
	close    sync.Once
}

// Next implements social.EventStream.
func (s *stream) Next(ctx context.Context) (social.Event, error) {
	for len(s.batch) == 0 {
		last, grown := s.log.signal.state() // before reading, so that no commit is missed
		if last <= s.last {
			if err := s.wait(ctx, grown); err != nil {
				return social.Event{}, err
			}
			continue
		}
		if err := s.fill(ctx, last); err != nil {
			return social.Event{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return social.Event{}, err
	}
	next := s.batch[0]
	s.batch = s.batch[1:]
	s.position = next.Position
	return next, nil
}

// Position implements social.EventStream.
func (s *stream) Position() string { return s.position }

func (s *stream) wait(ctx context.Context, grown <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return errClosed
	case <-s.log.signal.ended:
		return errClosed
	case <-grown:
		return nil
	}
}

// fill reads the next batch. last is the newest event that was committed before: if there is none
// to read up to there, the log has forgotten them since, and what is committed later comes after
// it.
func (s *stream) fill(ctx context.Context, last int64) error {
	batch, err := sqldb.Read(ctx, s.log.db, func(tx sqldb.Reader) ([]social.Event, error) {
		return sqldb.All(tx, eventsAfter, scanEvent, s.last, eventBatch)
	})
	if err != nil {
		return err
	}
	if len(batch) == 0 {
		s.last = last // reading again would find nothing, again and again
		return nil
	}
	s.batch = batch
	s.last, err = strconv.ParseInt(batch[len(batch)-1].Position, 10, 64)
	return err
}

func scanEvent(scan sqldb.Scan) (e social.Event, err error) {
	var seq int64
	var session []byte
	err = scan(&seq, sqldb.Into(&e.ID.ID), &e.Kind, sqldb.Into(&e.Actor.ID), sqldb.Into(&e.Target.ID), sqldb.Into(&e.Post.ID), sqldb.Into(&e.Comment.ID),
		sqldb.Into(&e.Circle.ID), &session, sqldb.Into(&e.Author.ID), &e.Audience.Kind, sqldb.IntoIDs(&e.Audience.Circles))
	copy(e.Session[:], session)
	e.Position = strconv.FormatInt(seq, 10)
	return e, err
}

// Close implements social.EventStream.
func (s *stream) Close() error {
	s.close.Do(func() { close(s.closed) })
	return nil
}
