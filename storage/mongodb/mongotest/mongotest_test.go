package mongotest_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.uber.org/goleak"

	"plaza/internal/testtime"
	"plaza/storage/mongodb/mongotest"
)

// envOwner makes the test binary act as the process that starts a server and is then killed.
const envOwner = "PLAZA_MONGOTEST_PLAY_OWNER"

func TestMain(m *testing.M) {
	if os.Getenv(envOwner) != "" {
		playOwner()
	}

	goleak.VerifyTestMain(m, mongotest.IgnoreServer())
}

// playOwner starts a server, prints where it is, and waits to be ended.
func playOwner() {
	server, err := mongotest.Start(context.Background())
	if err != nil {
		panic(err)
	}

	_, _ = os.Stdout.WriteString(server.URI() + "\n" + server.Folder() + "\n")

	if os.Getenv(envOwner) == "exit" {
		os.Exit(0)
	}

	select {}
}

func TestTransaction(t *testing.T) {
	t.Parallel()

	things := mongotest.Connect(t, mongotest.Database(t)).Collection("things")

	session, err := things.Database().Client().StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(t.Context())

	refused := errors.New("changed my mind")

	_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		if _, err := things.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
			return nil, err
		}

		return nil, refused
	})
	if !errors.Is(err, refused) {
		t.Fatalf("got %v, want %v", err, refused)
	}

	_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		return things.InsertOne(ctx, bson.D{{Key: "_id", Value: 2}})
	})
	if err != nil {
		t.Fatal(err)
	}

	var ids []struct {
		ID int `bson:"_id"`
	}

	cursor, err := things.Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}

	if err := cursor.All(t.Context(), &ids); err != nil {
		t.Fatal(err)
	}

	if len(ids) != 1 || ids[0].ID != 2 {
		t.Errorf("after an aborted and a committed insert the collection holds %v, want only 2", ids)
	}
}

func TestChangeStream(t *testing.T) {
	t.Parallel()

	things := mongotest.Connect(t, mongotest.Database(t)).Collection("things")

	ctx, cancel := context.WithTimeout(t.Context(), testtime.Patience())
	defer cancel()

	stream, err := things.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close(context.WithoutCancel(ctx))

	if _, err := things.InsertOne(ctx, bson.D{{Key: "_id", Value: 7}}); err != nil {
		t.Fatal(err)
	}

	if !stream.Next(ctx) {
		t.Fatalf("the change stream ended: %v", stream.Err())
	}

	var event struct {
		Operation string `bson:"operationType"`
		Document  struct {
			ID int `bson:"_id"`
		} `bson:"fullDocument"`
	}

	if err := stream.Decode(&event); err != nil {
		t.Fatal(err)
	}

	if event.Operation != "insert" || event.Document.ID != 7 {
		t.Errorf("the change stream says %+v, want the insert of 7", event)
	}
}

func TestDatabaseIsFreshAndDropped(t *testing.T) {
	t.Parallel()

	names := map[string]bool{}

	t.Run("inner with ä name that is much longer than a database's name may be in MongoDB", func(t *testing.T) {
		for range 3 {
			database := mongotest.Connect(t, mongotest.Database(t))
			names[database.Name()] = true

			_, err := database.Collection("things").InsertOne(t.Context(), bson.D{})
			if err != nil {
				t.Fatal(err)
			}
		}
	})

	if len(names) == 0 {
		t.SkipNow() // so was the inner test, and it said why
	}

	if len(names) != 3 {
		t.Errorf("3 calls gave %d names", len(names))
	}

	left, err := mongotest.Connect(t, mongotest.URI(t)).Client().ListDatabaseNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}

	for _, name := range left {
		if names[name] {
			t.Errorf("%s is still there after its test", name)
		}
	}
}

func TestStandaloneHasNoTransactions(t *testing.T) {
	t.Parallel()

	uri := mongotest.StandaloneURI(t)

	var hello struct {
		SetName string `bson:"setName"`
	}

	err := mongotest.Connect(t, uri).Client().Database("admin").RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	if err != nil {
		t.Fatal(err)
	}

	if hello.SetName != "" {
		t.Errorf("the standalone server belongs to the replica set %q", hello.SetName)
	}
}

// TestServerEndsWithItsOwner kills or ends the process that started a server, and waits until the
// server and its folder are gone.
func TestServerEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	mongotest.URI(t) // skips where there is no MongoDB

	for _, end := range []string{"kill", "exit"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()

			owner := exec.CommandContext(t.Context(), os.Args[0])
			owner.Env = append(os.Environ(), envOwner+"="+end)
			owner.Stderr = os.Stderr

			out, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}

			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}

			lines := bufio.NewScanner(out)
			lines.Scan()
			uri := lines.Text()
			lines.Scan()
			folder := lines.Text()

			if end == "kill" {
				if err := owner.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}

			_ = owner.Wait()

			parsed, err := url.Parse(uri)
			if err != nil || parsed.Host == "" || !strings.Contains(folder, "plaza-mongod-") {
				t.Fatalf("the owner said %q, %q", uri, folder)
			}

			eventually(t, "the server takes no connections any more", func() bool {
				var dialer net.Dialer

				conn, err := dialer.DialContext(t.Context(), "tcp", parsed.Host)
				if err == nil {
					_ = conn.Close()
				}

				return err != nil
			})
			eventually(t, "its folder is gone", func() bool {
				_, err := os.Stat(folder)

				return errors.Is(err, os.ErrNotExist)
			})
		})
	}
}

func TestStopRemovesTheFolder(t *testing.T) {
	t.Parallel()

	server := mongotest.OwnServer(t)

	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}

	select {
	case <-server.Exited():
	default:
		t.Error("mongod is still there after Stop")
	}

	if _, err := os.Stat(server.Folder()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there after Stop: %v", err)
	}
}

func TestStartSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	mongotest.URI(t)

	_, err := mongotest.Start(t.Context(), mongotest.WithParameter("thereIsNoSuchThing=1"))
	if err == nil || !strings.Contains(err.Error(), "mongod ended") {
		t.Errorf("got %v, want that mongod ended", err)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()

	testtime.Eventually(t, what, condition)
}
