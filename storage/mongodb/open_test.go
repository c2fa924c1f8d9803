package mongodb_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// refused tries to open a store, and checks that the error comes soon, contains the words, and does
// not contain the password.
func refused(t *testing.T, uri string, words ...string) error {
	t.Helper()
	start := time.Now()
	store, err := mongodb.Open(t.Context(), uri, mongodb.Options{})
	if err == nil {
		t.Fatal("it opened", store.Close())
	}
	if took := time.Since(start); took > testtime.Patience() {
		t.Errorf("the error came after %v", took)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
	if strings.Contains(err.Error(), "sEcReT") {
		t.Errorf("the error tells the password: %v", err)
	}
	return err
}

func TestOpenRefusesMalformedURIs(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"", "localhost", "http://localhost", "mongodb://", "mongodb://127.0.0.1:99999", "mongodb://u:sEcReT@:x/",
		"mongodb://127.0.0.1/pl.aza", "mongodb://127.0.0.1/?replicaSet=a&w=-3", "mongodb://u:sEcReT@127.0.0.1/%zz",
	} {
		t.Run(uri, func(t *testing.T) { refused(t, uri, "URI") })
	}
}

func TestOpenSaysThatAServerIsDown(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.1:1" // no test's server can have this port
	for _, query := range []string{"", "/?replicaSet=rs0"} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			if err := refused(t, "mongodb://u:sEcReT@"+address+query, address); !errors.Is(err, social.ErrUnavailable) {
				t.Errorf("%v is not ErrUnavailable", err)
			}
		})
	}
}

func TestOpenSaysWhatAStandaloneServerNeeds(t *testing.T) {
	t.Parallel()
	uri := mongotest.StandaloneURI(t)
	host, _, _ := strings.Cut(strings.TrimPrefix(uri, "mongodb://"), "/")
	for _, query := range []string{"/", "/?directConnection=true", "/?replicaSet=rs0"} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			refused(t, "mongodb://"+host+query, "standalone", "--replSet", "rs.initiate()")
		})
	}
}

func TestOpenSaysThatASetHasAnotherName(t *testing.T) {
	t.Parallel()
	host, _, _ := strings.Cut(strings.TrimPrefix(mongotest.URI(t), "mongodb://"), "/")
	refused(t, "mongodb://"+host+"/?replicaSet=other", "other", "named")
}

func TestOpenSaysThatCredentialsAreWrong(t *testing.T) {
	t.Parallel()
	refused(t, strings.Replace(mongotest.URI(t), "://", "://u:sEcReT@", 1), "password")
}

func TestOpenAgainKeepsEverything(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	for range 3 {
		store, err := mongodb.Open(t.Context(), uri, patient(mongodb.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestADeadDatabaseIsUnavailable: calls end at their deadline with ErrUnavailable.
func TestADeadDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t)
	store, err := mongodb.Open(t.Context(), server.URI(), mongodb.Options{Timeout: testtime.Scale(10 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	tail, err := store.Tail(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tail.Close() })
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(context.Context) error{
		"Ping":          store.Ping,
		"Users":         func(ctx context.Context) error { _, err := store.Users(ctx, []social.UserID{{}}); return err },
		"PublicAuthors": func(ctx context.Context) error { _, err := store.PublicAuthors(ctx, 1); return err },
		"InsertPost": func(ctx context.Context) error {
			return store.InsertPost(ctx, status(social.UserID{}, social.UserID{}, public), happened(social.EventPostCreated))
		},
	} {
		start := time.Now()
		if err := call(t.Context()); !errors.Is(err, social.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
		if took := time.Since(start); took > testtime.Patience() {
			t.Errorf("%s: the error came after %v", name, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
}

func TestDocumentsHaveAVersion(t *testing.T) {
	t.Parallel()
	w := newTown(t, nil)
	callEverything(w)
	client := plainClient(t)
	database := client.Database(mongotest.NameIn(t, w.uri))
	collections, err := database.ListCollectionNames(w.ctx, bson.D{})
	w.ok(err)
	stored := 0
	for _, c := range collections {
		all, err := database.Collection(c).CountDocuments(w.ctx, bson.D{})
		w.ok(err)
		newest, err := database.Collection(c).CountDocuments(w.ctx, bson.D{{Key: "v", Value: mongodb.NewestVersion(c)}})
		w.ok(err)
		if all != newest {
			t.Errorf("%d of %d documents of %s are of the newest version", newest, all, c)
		}
		if all > 0 {
			stored++
		}
	}
	if stored < 10 {
		t.Errorf("documents in %d collections: too few to prove anything", stored)
	}
}
