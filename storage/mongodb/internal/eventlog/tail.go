package eventlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Tail implements social.EventLog with a change stream.
func (l *Log) Tail(ctx context.Context, position string) (social.EventStream, error) {
	from := options.ChangeStream()
	if position != "" {
		from.SetStartAfter(mdb.Doc(tokenField, position))
	}
	var changes *mongo.ChangeStream
	err := l.db.Read(ctx, "tail", func(ctx context.Context) error {
		var err error
		changes, err = l.events.Watch(ctx, bson.A{mdb.Doc("$match", mdb.Doc("operationType", "insert"))}, from)
		return lost(err)
	})
	if err != nil {
		return nil, err
	}
	return startTail(changes), nil
}

// tokenField is the field of a resume token that contains all of it.
const tokenField = "_data"

// The server's errors about resume tokens: it does not know the token, or the oplog does not reach
// back to it.
const (
	codeInvalidResumeToken      = 260
	codeChangeStreamFatalError  = 280
	codeChangeStreamHistoryLost = 286
)

// lost turns the errors after which a change stream cannot be resumed into ErrPositionLost.
func lost(err error) error {
	if mdb.HasCode(err, codeInvalidResumeToken, codeChangeStreamFatalError, codeChangeStreamHistoryLost) {
		return fmt.Errorf("%w: %v", social.ErrPositionLost, err) //nolint:errorlint // hides the driver's types
	}
	return err
}

// tail reads one event ahead in its own goroutine, because a change stream does not survive the end
// of a context that was passed to Next.
type tail struct {
	changes *mongo.ChangeStream
	events  chan social.Event
	stop    context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended; err is set then
	err     error
	close   sync.Once

	mu       sync.Mutex
	position string // of the last event that Next returned, or later if there was none since
}

// closeTimeout bounds the end of a stream.
const closeTimeout = 5 * time.Second

var errClosed = errors.New("mongodb: event stream: closed")

func startTail(changes *mongo.ChangeStream) *tail {
	ctx, stop := context.WithCancel(context.Background())
	t := &tail{changes: changes, events: make(chan social.Event), stop: stop, done: make(chan struct{})}
	t.rest()
	go t.pump(ctx)
	return t
}

func (t *tail) pump(ctx context.Context) {
	defer close(t.done)
	for t.isOpen(ctx) {
		if !t.changes.TryNext(ctx) {
			if t.isOpen(ctx) {
				t.rest()
			}
			continue
		}
		e, err := readChange(t.changes)
		if err != nil { // a new stream at this position would fail again
			t.err = fmt.Errorf("mongodb: event stream: %w: %v", social.ErrPositionLost, err) //nolint:errorlint // as above
			return
		}
		select {
		case t.events <- e:
		case <-ctx.Done():
			t.err = errClosed
			return
		}
	}
	t.err = t.reason(ctx)
}

func (t *tail) isOpen(ctx context.Context) bool {
	return ctx.Err() == nil && t.changes.Err() == nil && t.changes.ID() != 0
}

// rest advances the position while there are no events, because the oplog would drop an old
// position.
func (t *tail) rest() {
	if token, ok := t.changes.ResumeToken().Lookup(tokenField).StringValueOK(); ok {
		t.moveTo(token)
	}
}

func (t *tail) moveTo(position string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.position = position
}

// reason returns why the change stream has ended.
func (t *tail) reason(ctx context.Context) error {
	if ctx.Err() != nil {
		return errClosed
	}
	if err := t.changes.Err(); err != nil {
		return mdb.Translate(ctx, "event stream", lost(err))
	}
	return fmt.Errorf("mongodb: event stream: %w: the log was dropped", social.ErrPositionLost)
}

// readChange reads the change stream's current event. Its position is the text of the resume token.
func readChange(changes *mongo.ChangeStream) (social.Event, error) {
	var change struct {
		Token struct {
			Data string `bson:"_data"`
		} `bson:"_id"`
		Event eventDoc `bson:"fullDocument"`
	}
	if err := changes.Decode(&change); err != nil {
		return social.Event{}, err
	}
	e := change.Event.event()
	e.Position = change.Token.Data
	return e, nil
}

// Next implements social.EventStream.
func (t *tail) Next(ctx context.Context) (social.Event, error) {
	if ctx.Err() != nil {
		return social.Event{}, ctx.Err()
	}
	select {
	case e := <-t.events:
		t.moveTo(e.Position)
		return e, nil
	case <-t.done:
		return social.Event{}, t.err
	case <-ctx.Done():
		return social.Event{}, ctx.Err()
	}
}

// Position implements social.EventStream.
func (t *tail) Position() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.position
}

// Close implements social.EventStream.
func (t *tail) Close() error {
	var err error
	t.close.Do(func() {
		t.stop()
		<-t.done
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		err = mdb.Translate(ctx, "close event stream", t.changes.Close(ctx))
	})
	return err
}
