package mongodb

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// eventDoc is a document of events: the log, in which nothing changes.
type eventDoc struct {
	ID      social.EventID   `bson:"_id"`
	Version int              `bson:"v"`
	At      time.Time        `bson:"at"` // when it was stored: the log's documents expire by it
	Kind    social.EventKind `bson:"kind"`
	Actor   social.UserID    `bson:"actor,omitempty"`
	Target  social.UserID    `bson:"target,omitempty"`
	Post    social.PostID    `bson:"post,omitempty"`
	Comment social.CommentID `bson:"comment,omitempty"`
	Circle  social.CircleID  `bson:"circle,omitempty"`
	Session *bson.Binary     `bson:"session,omitempty"`
}

func newEventDoc(e *social.Event) eventDoc {
	d := eventDoc{
		ID: e.ID, Version: mdb.FirstVersion, At: time.Now(), Kind: e.Kind, Actor: e.Actor, Target: e.Target,
		Post: e.Post, Comment: e.Comment, Circle: e.Circle,
	}
	if e.Session != [32]byte{} {
		key := tokenKey(e.Session)
		d.Session = &key
	}
	return d
}

func (d *eventDoc) event() social.Event {
	e := social.Event{
		ID: d.ID, Kind: d.Kind, Actor: d.Actor, Target: d.Target, Post: d.Post, Comment: d.Comment, Circle: d.Circle,
	}
	if d.Session != nil {
		copy(e.Session[:], d.Session.Data)
	}
	return e
}

// append writes to the log, inside the transaction of what happened.
func (s *Store) append(ctx context.Context, events ...social.Event) error {
	docs := make([]eventDoc, len(events))
	for i := range events {
		docs[i] = newEventDoc(&events[i])
	}
	_, err := s.events.InsertMany(ctx, docs)
	return err
}

// KeepEvents implements social.EventLog: it changes the index by which the database itself removes events.
func (s *Store) KeepEvents(ctx context.Context, retention time.Duration) error {
	return s.db.Read(ctx, "keep events", func(ctx context.Context) error {
		diff, err := ensure(ctx, s.events, []mongo.IndexModel{mdb.ExpiringIndex("at", retention)})
		for _, model := range diff.expires {
			s.logger.InfoContext(ctx, "events are kept for another time", "retention", retention.String())
			err = errors.Join(err, s.setExpiry(ctx, s.events, model))
		}
		return err
	})
}

// Tail implements social.EventLog, by a change stream.
func (s *Store) Tail(ctx context.Context) (social.EventStream, error) {
	var changes *mongo.ChangeStream
	err := s.db.Read(ctx, "tail", func(ctx context.Context) error {
		var err error
		changes, err = s.events.Watch(ctx, bson.A{mdb.Doc("$match", mdb.Doc("operationType", "insert"))})
		return err
	})
	if err != nil {
		return nil, err
	}
	return startTail(changes), nil
}

// tail reads ahead by one event in a goroutine of its own, because a change stream does not survive the end of a
// context that Next was called with.
type tail struct {
	changes *mongo.ChangeStream
	events  chan social.Event
	stop    context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended; err is set then
	err     error
	close   sync.Once
}

// closeTimeout bounds the end of a stream.
const closeTimeout = 5 * time.Second

var errClosed = errors.New("mongodb: event stream: closed")

func startTail(changes *mongo.ChangeStream) *tail {
	ctx, stop := context.WithCancel(context.Background())
	t := &tail{changes: changes, events: make(chan social.Event), stop: stop, done: make(chan struct{})}
	go t.pump(ctx)
	return t
}

func (t *tail) pump(ctx context.Context) {
	defer close(t.done)
	for t.changes.Next(ctx) {
		e, err := readChange(t.changes)
		if err != nil {
			t.err = mdb.Translate(ctx, "event stream", err)
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

// reason is why the change stream has ended.
func (t *tail) reason(ctx context.Context) error {
	if ctx.Err() != nil {
		return errClosed
	}
	if err := t.changes.Err(); err != nil {
		return mdb.Translate(ctx, "event stream", err)
	}
	return errors.New("mongodb: event stream: the log was dropped")
}

// readChange reads the change stream's current event; its position is the resume token's text.
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
		return e, nil
	case <-t.done:
		return social.Event{}, t.err
	case <-ctx.Done():
		return social.Event{}, ctx.Err()
	}
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

func tokenKey(hash [32]byte) bson.Binary { return bson.Binary{Data: hash[:]} }
