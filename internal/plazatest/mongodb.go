package plazatest

import (
	"cmp"
	"log/slog"
	"sync/atomic"
	"testing"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// Patient gives a store as much time as a slow machine may need.
func Patient(o mongodb.Options) mongodb.Options {
	o.Timeout = cmp.Or(o.Timeout, testtime.Patience())
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, testtime.Patience())
	o.Lease = cmp.Or(o.Lease, testtime.Patience())
	o.Logger = cmp.Or(o.Logger, slog.New(warnings{}))
	return o
}

// OpenMongoDB opens a store, and closes it at the end of the test unless it is closed already:
// otherwise its heartbeat would fail when the database is dropped.
func OpenMongoDB(t testing.TB, uri string, o mongodb.Options) storage.Store {
	t.Helper()
	counter, _ := writesTo.LoadOrStore(uri, &atomic.Uint64{})
	writes := counter.(*atomic.Uint64)
	o.Monitor = countingWrites(writes, o.Monitor)
	st, err := mongodb.Open(t.Context(), uri, Patient(o))
	if err != nil {
		t.Fatal(err)
	}
	writesOf.Store(st, writes)
	t.Cleanup(func() {
		writesOf.Delete(st)
		_ = st.Close()
	})
	return st
}

// PatientURI returns the URI of a database on a server of its own. The server keeps transactions of
// killed processes open for an hour, so Plaza's servers have to end them.
func PatientURI(t *testing.T) string {
	t.Helper()
	return mongotest.InDatabase(t, mongotest.OwnServer(t, mongotest.WithParameter("transactionLifetimeLimitSeconds=3600")).URI(), "plaza")
}

// NewComment returns a comment on the post itself, which the caller stores.
func NewComment(post social.PostID, author social.UserID) *social.Comment {
	c := &social.Comment{Post: post, Author: author, Text: "yes"}
	c.SetID(social.CommentID{ID: id.New()})
	return c
}

// CommentAdded returns the event that goes with a comment.
func CommentAdded() social.Event {
	return social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventCommentAdded}
}
