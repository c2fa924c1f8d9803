package mongodb_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// TestALostPositionIsReported: MongoDB reports that its oplog does not reach back to the position,
// or that the position is unknown, when the stream is opened or while it is read.
func TestALostPositionIsReported(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	uri := mongotest.InDatabase(t, server.URI(), "plaza")
	store := openAt(t, uri, mongodb.Options{})
	fail := func(mode, command string, code int) {
		mongotest.FailCommand(t, adminOf(t, uri).Client(), mode, mdb.Doc("failCommands", bson.A{command}, "namespace", "plaza.events", "errorCode", code))
	}
	tail := func(position string) (social.EventStream, error) {
		stream, err := store.Tail(t.Context(), position)
		if err == nil {
			t.Cleanup(func() { _ = stream.Close() })
		}
		return stream, err
	}
	for _, code := range []int{260, 280, 286} {
		stream, err := tail("")
		if err != nil {
			t.Fatal(err)
		}
		fail("alwaysOn", "getMore", code)
		if _, err := stream.Next(t.Context()); !errors.Is(err, social.ErrPositionLost) {
			t.Errorf("%d while reading: %v, want ErrPositionLost", code, err)
		}
		fail("alwaysOn", "aggregate", code)
		if _, err := tail(stream.Position()); !errors.Is(err, social.ErrPositionLost) {
			t.Errorf("%d while opening: %v, want ErrPositionLost", code, err)
		}
		fail("off", "aggregate", code)
		if _, err := tail(stream.Position()); err != nil {
			t.Errorf("continuing a stream that broke: %v", err)
		}
	}
}
