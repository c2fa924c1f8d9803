package mongodb_test

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// adminOf returns the admin database of the server that a URI names.
func adminOf(t *testing.T, uri string) *mongo.Database {
	t.Helper()
	return mongotest.Connect(t, uri).Client().Database("admin")
}

// TestServerWithoutHeartbeatsRefusesWrites makes the heartbeats fail: writes fail when the lease
// has ended, reads continue as long as the settings can be read, and everything works again when
// heartbeats succeed.
func TestServerWithoutHeartbeatsRefusesWrites(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	uri := mongotest.InDatabase(t, server.URI(), "plaza")
	o := mongodb.Options{Heartbeat: 10 * time.Millisecond, Lease: testtime.Scale(time.Second)}
	patient := &town{Store: openAt(t, uri, mongodb.Options{}), uri: uri, t: t, ctx: t.Context()}
	ada := patient.people(1)[0].User.ID
	w := &town{Store: openAt(t, uri, o), uri: uri, t: t, ctx: t.Context()}
	write := func() error {
		return w.InsertPost(w.ctx, status(ada, ada, public), happened(social.EventPostCreated))
	}
	read := func() error {
		_, err := w.Users(w.ctx, []social.UserID{ada})
		return err
	}
	const unknownError, outOfDiskSpace = 8, 14031
	failWith := func(code int, mode string, commands bson.A, collection string) {
		data := bson.D{{Key: "failCommands", Value: commands}, {Key: "namespace", Value: "plaza." + collection}, {Key: "errorCode", Value: code}}
		mongotest.FailCommand(t, adminOf(t, uri).Client(), mode, data)
	}
	fail := func(mode string, commands bson.A, collection string) {
		failWith(unknownError, mode, commands, collection)
	}
	fail("alwaysOn", bson.A{"findAndModify"}, "servers")
	testtime.Eventually(t, "a refusal", func() bool { return errors.Is(write(), social.ErrUnavailable) })
	testtime.Eventually(t, "a reading", func() bool { return read() == nil })
	fail("off", bson.A{"findAndModify"}, "servers")
	testtime.Eventually(t, "a success", func() bool { return write() == nil })
	fail("alwaysOn", bson.A{"find"}, "settings")
	testtime.Eventually(t, "a refusal", func() bool { return errors.Is(read(), social.ErrUnavailable) })
	if err := write(); !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("a server that cannot read its settings writes: %v", err)
	}
	fail("off", bson.A{"find"}, "settings")
	testtime.Eventually(t, "a success", func() bool { return write() == nil && read() == nil })
	failWith(outOfDiskSpace, "alwaysOn", bson.A{"findAndModify"}, "servers")
	testtime.Eventually(t, "a full disk", func() bool { return errors.Is(w.Ping(w.ctx), social.ErrNoRoom) })
	if err := write(); !errors.Is(err, social.ErrNoRoom) || !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("a post for a full disk: %v", err)
	}
	if err := read(); err != nil {
		t.Errorf("a reading from a full disk: %v", err)
	}
	fail("off", bson.A{"findAndModify"}, "servers")
	testtime.Eventually(t, "room", func() bool { return w.Ping(w.ctx) == nil && write() == nil })
}

// TestServersComeAndGo: a store is in the list of servers exactly while it is open.
func TestServersComeAndGo(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	servers := mongotest.Connect(t, uri).Collection("servers")
	known := func() int64 {
		n, err := servers.CountDocuments(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	stores := make([]*mongodb.Store, 3)
	for i := range stores {
		store, err := mongodb.Open(t.Context(), uri, patient(mongodb.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		stores[i] = store
	}
	if n := known(); n != 3 {
		t.Errorf("%d servers are known, want 3", n)
	}
	for _, store := range stores {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := reopen(t, uri, comments(mongodb.CommentsPages)); err == nil {
		t.Error("another layout is accepted")
	}
	if n := known(); n != 0 {
		t.Errorf("%d servers are known, want none", n)
	}
}

// TestBucketsLeaveTheSharedCollection: the buckets that older versions kept in a shared collection
// move to that of the database's layout.
func TestBucketsLeaveTheSharedCollection(t *testing.T) {
	t.Parallel()
	w := newTownAlone(t, nil, mongodb.Options{Comments: mongodb.CommentsPages})
	ada := w.people(1)[0].User.ID
	p := w.post(status(ada, ada, public))
	want := w.comment(p, nil, ada)
	admin, database := adminOf(t, w.uri), mongotest.NameIn(t, w.uri)
	w.ok(admin.RunCommand(w.ctx, bson.D{
		{Key: "renameCollection", Value: database + ".threads." + mongodb.CommentsPages}, {Key: "to", Value: database + ".threads"},
	}).Err())
	again := &town{Store: openAt(t, w.uri, mongodb.Options{}), uri: w.uri, t: t, ctx: t.Context()}
	if all := again.thread(p.ID, social.OrderThreaded); len(all) != 1 || all[0].ID != want.ID {
		t.Errorf("the thread has %d comments", len(all))
	}
}
