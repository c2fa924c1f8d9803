package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestTheStreamContinues kills mongod with SIGKILL while a server follows its change stream, and
// starts it again: the server continues with its resume token, and its subscribers notice nothing.
// Then the token is lost: subscribers who have received items, or began at a cursor, receive
// everything from there on, and the others a gap.
func TestTheStreamContinues(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	store := &countingStore{Store: plazatest.OpenMongoDB(t, mongotest.InDatabase(t, server.URI(), "plaza"), mongodb.Options{})}
	plaza := plazatest.Serve(t, store)
	ada := plaza.As(t, "ada")
	post, other := ada.Status(t, "0", plazatest.Public), ada.Status(t, "0", plazatest.Public)
	news, thread, silent, watch := ada.Connect(t), ada.Connect(t), ada.Connect(t), ada.Connect(t)
	news.Subscribe(plaza, "1", `subscription { item: newsItemAdded { event new: post { text } } }`)
	thread.Subscribe(plaza, "1", fmt.Sprintf(`subscription { item: commentAdded(postId: %q) { event new: comment { text } } }`, post))
	silent.Subscribe(plaza, "1", fmt.Sprintf(`subscription { item: commentAdded(postId: %q) { event new: comment { text } } }`, other))
	watch.Subscribe(plaza, "1", fmt.Sprintf(`subscription { item: postChanged(postIds: [%q]) { event new: post { text } } }`, post))

	admin := adminOf(t, server.URI())
	order(t, admin, bson.D{{Key: "fsync", Value: 1}})
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	testtime.Eventually(t, "the server reaches its database again", func() bool { return store.Ping(t.Context()) == nil })
	ada.Status(t, "1", plazatest.Public)
	ada.Comment(t, post, "1")
	wantNext(t, news, "ADDED 1")
	wantNext(t, thread, "ADDED 1")
	wantNext(t, watch, "CHANGED 0")

	streams := func(mode string) {
		t.Helper()
		const historyLost = 286
		mongotest.FailCommand(t, admin.Client(), mode, bson.D{
			{Key: "failCommands", Value: bson.A{"getMore", "aggregate"}}, {Key: "namespace", Value: "plaza.events"}, {Key: "errorCode", Value: historyLost},
		})
	}
	streams("alwaysOn")
	ada.Status(t, "2", plazatest.Public)
	ada.Comment(t, post, "2")
	testtime.Eventually(t, "the stream breaks", func() bool { return store.refused.Load() > 0 })
	streams("off")
	wantNext(t, silent, "GAP ")
	wantNext(t, news, "ADDED 2")
	wantNext(t, thread, "ADDED 2")
	wantNext(t, watch, "CHANGED 0")
	ada.Comment(t, other, "3")
	wantNext(t, silent, "ADDED 3")
}

// countingStore counts the streams of events that could not be opened.
type countingStore struct {
	storage.Store
	refused atomic.Int64
}

func (s *countingStore) Tail(ctx context.Context, position string) (social.EventStream, error) {
	stream, err := s.Store.Tail(ctx, position)
	if err != nil {
		s.refused.Add(1)
	}
	return stream, err
}

// adminOf connects to a server's admin database.
func adminOf(t *testing.T, uri string) *mongo.Database {
	t.Helper()
	return mongotest.Connect(t, uri).Client().Database("admin")
}

// order runs a command.
func order(t *testing.T, admin *mongo.Database, command bson.D) {
	t.Helper()
	if err := admin.RunCommand(t.Context(), command).Err(); err != nil {
		t.Fatal(err)
	}
}

// wantNext waits for an item of a subscription: its event and the text of what is new.
func wantNext(t *testing.T, s *plazatest.Socket, want string) {
	t.Helper()
	m := s.Next()
	var payload struct {
		Data struct {
			Item struct {
				Event string
				New   struct{ Text string }
			}
		}
	}
	if m.Type != "next" || json.Unmarshal(m.Payload, &payload) != nil {
		t.Fatalf("want an item, got %s %s", m.Type, m.Payload)
	}
	if got := payload.Data.Item.Event + " " + payload.Data.Item.New.Text; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
