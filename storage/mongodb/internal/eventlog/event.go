package eventlog

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/social"
	"plaza/storage/mongodb/internal/audience"
	"plaza/storage/mongodb/internal/mdb"
)

// eventDoc is a document of events. It never changes.
type eventDoc struct {
	ID      social.EventID   `bson:"_id"`
	Version int              `bson:"v"`
	At      time.Time        `bson:"at"` // when it was stored, from which its retention counts
	Kind    social.EventKind `bson:"kind"`
	Actor   social.UserID    `bson:"actor,omitempty"`
	Target  social.UserID    `bson:"target,omitempty"`
	Post    social.PostID    `bson:"post,omitempty"`
	Comment social.CommentID `bson:"comment,omitempty"`
	Circle  social.CircleID  `bson:"circle,omitempty"`
	Session *bson.Binary     `bson:"session,omitempty"`

	Author   social.UserID      `bson:"author,omitempty"`
	Audience *audience.Document `bson:"audience,omitempty"`
}

func newEventDoc(e *social.Event) eventDoc {
	d := eventDoc{
		ID: e.ID, Version: mdb.FirstVersion, At: time.Now(), Kind: e.Kind, Actor: e.Actor, Target: e.Target,
		Post: e.Post, Comment: e.Comment, Circle: e.Circle, Author: e.Author,
	}
	if e.Audience.Kind != "" {
		of := audience.Document(e.Audience)
		d.Audience = &of
	}
	if e.Session != [32]byte{} {
		key := mdb.HashKey(e.Session)
		d.Session = &key
	}
	return d
}

func (d *eventDoc) event() social.Event {
	e := social.Event{
		ID: d.ID, Kind: d.Kind, Actor: d.Actor, Target: d.Target, Post: d.Post, Comment: d.Comment, Circle: d.Circle, Author: d.Author,
	}
	if d.Audience != nil {
		e.Audience = social.Audience(*d.Audience)
	}
	if d.Session != nil {
		copy(e.Session[:], d.Session.Data)
	}
	return e
}

// Append writes events to the log, as a part of the transaction that they report.
func (l *Log) Append(ctx context.Context, events ...social.Event) error {
	docs := make([]eventDoc, len(events))
	for i := range events {
		docs[i] = newEventDoc(&events[i])
	}
	_, err := l.events.InsertMany(ctx, docs)
	return err
}

// KeepEvents implements social.EventLog. It changes the TTL index, so that the database removes
// events.
func (l *Log) KeepEvents(ctx context.Context, retention time.Duration) error {
	return l.db.Read(ctx, "keep events", func(ctx context.Context) error {
		changed, err := l.indexes.Expire(ctx, l.events, mdb.ExpiringIndex("at", retention))
		if changed {
			l.logger.InfoContext(ctx, "the retention of events has changed", "retention", retention.String())
		}
		return err
	})
}
