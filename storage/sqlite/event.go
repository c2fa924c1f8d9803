package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"plaza/social"
)

// eventBatch is how many events a stream reads in one query.
const eventBatch = 256

var (
	insertEvent = define(`INSERT INTO events (id, kind, actor, target, post, comment, circle, session)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`)
	lastEvent   = define(`SELECT coalesce(max(seq), 0) FROM events`)
	eventsAfter = define(`SELECT seq, id, kind, actor, target, post, comment, circle, session
		FROM events WHERE seq > ? ORDER BY seq LIMIT ?`)
	// hasPosition: an event is there, or 0 is before the first one.
	hasPosition = define(`SELECT EXISTS (SELECT 1 FROM events WHERE seq = ?1)
		OR ?1 = 0 AND (EXISTS (SELECT 1 FROM events WHERE seq = 1) OR NOT EXISTS (SELECT 1 FROM events WHERE seq > 0))`)
)

// errClosed is the error of a stream after the store or the stream was closed.
var errClosed = errors.New("the event stream is closed")

// eventLog notifies streams of new events. Only one process at a time has the file open, so this
// store's commits are all there are.
type eventLog struct {
	mu    sync.Mutex
	last  int64         // of the newest committed event
	grown chan struct{} // closed when last grows
	ended chan struct{} // closed when the store closes
	end   sync.Once
}

func newEventLog() *eventLog {
	return &eventLog{grown: make(chan struct{}), ended: make(chan struct{})}
}

// advance wakes the streams, and never waits for them. Commits may be reported out of order.
func (l *eventLog) advance(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq <= l.last {
		return
	}
	l.last = seq
	close(l.grown)
	l.grown = make(chan struct{})
}

// state is the newest event, and a channel that is closed when there is a newer one.
func (l *eventLog) state() (last int64, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.grown
}

func (l *eventLog) close() { l.end.Do(func() { close(l.ended) }) }

// appendWith stores an event, and remembers what its transaction has changed.
func (w *work) appendWith(c social.Change, e social.Event) error {
	w.changes.Add(c)
	return w.append(e)
}

// append stores an event with the changes of its transaction.
func (w *work) append(e social.Event) error {
	var session any
	if e.Session != [32]byte{} {
		session = e.Session[:]
	}
	_, err := w.row(insertEvent, []any{&w.seq}, e.ID.Bytes(), string(e.Kind), orNull(e.Actor.ID), orNull(e.Target.ID),
		orNull(e.Post.ID), orNull(e.Comment.ID), orNull(e.Circle.ID), session)
	return err
}

// Tail implements social.EventLog.
func (s *Store) Tail(ctx context.Context, position string) (social.EventStream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	last, _ := s.log.state()
	if position != "" {
		var err error
		if last, err = s.seek(ctx, position); err != nil {
			return nil, err
		}
	}
	return &stream{store: s, last: last, position: strconv.FormatInt(last, 10), closed: make(chan struct{})}, nil
}

// seek finds a position in the log. Pruning keeps the newest event: if that of the position is gone, so
// may be others behind it.
func (s *Store) seek(ctx context.Context, position string) (seq int64, err error) {
	seq, err = strconv.ParseInt(position, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q", social.ErrPositionLost, position)
	}
	known, err := read(ctx, s, func(w *work) (known bool, err error) {
		_, err = w.row(hasPosition, []any{&known}, seq)
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
	store    *Store
	last     int64 // the newest that has been read
	batch    []social.Event
	position string // of the last event that Next returned
	closed   chan struct{}
	close    sync.Once
}

// Next implements social.EventStream.
func (s *stream) Next(ctx context.Context) (social.Event, error) {
	for len(s.batch) == 0 {
		last, grown := s.store.log.state() // before reading, so that no commit is missed
		if last <= s.last {
			if err := s.wait(ctx, grown); err != nil {
				return social.Event{}, err
			}
			continue
		}
		if err := s.fill(ctx); err != nil {
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
	case <-s.store.log.ended:
		return errClosed
	case <-grown:
		return nil
	}
}

func (s *stream) fill(ctx context.Context) error {
	batch, err := read(ctx, s.store, func(w *work) ([]social.Event, error) {
		return all(w, eventsAfter, scanEvent, s.last, eventBatch)
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	s.batch = batch
	s.last, err = strconv.ParseInt(batch[len(batch)-1].Position, 10, 64)
	return err
}

func scanEvent(scan scan) (e social.Event, err error) {
	var seq int64
	var session []byte
	err = scan(&seq, into(&e.ID.ID), &e.Kind, into(&e.Actor.ID), into(&e.Target.ID), into(&e.Post.ID), into(&e.Comment.ID),
		into(&e.Circle.ID), &session)
	copy(e.Session[:], session)
	e.Position = strconv.FormatInt(seq, 10)
	return e, err
}

// Close implements social.EventStream.
func (s *stream) Close() error {
	s.close.Do(func() { close(s.closed) })
	return nil
}
