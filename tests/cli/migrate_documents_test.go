package cli

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// oldTown is a database with people and photos of the documents' version 1.
type oldTown struct {
	t      *testing.T
	uri    string
	db     *mongo.Database
	store  *mongodb.Store
	people []social.UserID
	photos []social.PostID
}

func newOldTown(t *testing.T, people, photos int) *oldTown {
	t.Helper()
	uri := mongotest.Reused(t)
	store, err := mongodb.Open(t.Context(), uri, plazatest.Patient(brisk))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &oldTown{t: t, uri: uri, db: mongotest.Connect(t, uri), store: store}
	users, posts := make([]any, people), make([]any, photos)
	for i := range users {
		user := social.UserID{ID: id.New()}
		w.people = append(w.people, user)
		users[i] = bson.D{
			{Key: "_id", Value: bsonID(user.ID)},
			{Key: "v", Value: 1},
			{Key: "handle", Value: "u" + user.ID.String()},
			{Key: "name", Value: "first"},
			{Key: "bio", Value: fmt.Sprint("I am number ", i)},
			{Key: "wallPolicy", Value: "EVERYONE"},
			{Key: "followers", Value: i},
			{Key: "following", Value: 0},
		}
	}
	photo := goldenPhoto(t)
	for i := range posts {
		post := social.PostID{ID: id.New()}
		w.photos = append(w.photos, post)
		p := bson.D{{Key: "_id", Value: bsonID(post.ID)}, {Key: "seq", Value: bsonID(post.ID)}}
		for _, field := range photo {
			if field.Key != "_id" && field.Key != "seq" {
				p = append(p, field)
			}
		}
		posts[i] = p
	}
	w.insert("users", users)
	w.insert("posts", posts)
	return w
}

// goldenPhoto returns a photo as a server of version 1 wrote it.
func goldenPhoto(t *testing.T) (photo bson.D) {
	t.Helper()
	rest, err := os.ReadFile("../../storage/mongodb/testdata/documents/posts.v1.bson")
	if err != nil {
		t.Fatal(err)
	}
	for len(rest) > 0 {
		n := binary.LittleEndian.Uint32(rest)
		raw := bson.Raw(rest[:n])
		if rest = rest[n:]; raw.Lookup("type").StringValue() != "PHOTO" {
			continue
		}
		if err := bson.Unmarshal(raw, &photo); err != nil {
			t.Fatal(err)
		}
		return photo
	}
	t.Fatal("there is no photo among the posts of version 1")
	return nil
}

func bsonID(i id.ID) bson.Binary { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: i[:]} }

func (w *oldTown) insert(collection string, documents []any) {
	w.t.Helper()
	if len(documents) == 0 {
		return
	}
	if _, err := w.db.Collection(collection).InsertMany(w.t.Context(), documents); err != nil {
		w.t.Fatal(err)
	}
}

// migrate runs "plaza migrate documents", and returns its output.
func (w *oldTown) migrate(args ...string) string {
	w.t.Helper()
	return migrateNow(w.t, w.uri, append([]string{"documents"}, args...)...)
}

// counts returns the number of users of each version, as "--status" reports them.
func (w *oldTown) counts(collection string) map[string]string {
	w.t.Helper()
	counts := map[string]string{}
	for line := range strings.Lines(w.migrate("--status")) {
		if cells := strings.Fields(line); len(cells) >= 3 && cells[0] == collection && cells[1] != "version" {
			counts[cells[1]] = cells[2]
		}
	}
	return counts
}

// state waits until the migration of documents is in a given state.
func (w *oldTown) state(what string, is func(mongodb.DocumentMigrationState) bool) mongodb.DocumentMigrationState {
	w.t.Helper()
	var s mongodb.DocumentMigrationState
	testtime.Eventually(w.t, what, func() bool {
		var err error
		if s, err = w.store.DocumentMigration(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		return is(s)
	})
	return s
}

// passed returns how many users the migration has processed.
func passed(s mongodb.DocumentMigrationState) int {
	for _, c := range s.Collections {
		if c.Collection == "users" {
			return c.Done
		}
	}
	return 0
}

// upgraded returns how many documents of a collection a run reports as upgraded.
func upgraded(t *testing.T, said, collection string) int {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + collection + ` +(\d+) upgraded$`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("the output does not say how many %s were upgraded: %s", collection, said)
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// statusSays checks the output of "plaza migrate status" about documents.
func (w *oldTown) statusSays(words ...string) {
	w.t.Helper()
	_, said, found := strings.Cut(migrateNow(w.t, w.uri, "status"), "\ndocuments ")
	for _, word := range words {
		if !found || !strings.Contains(said, word) {
			w.t.Errorf("the status does not say %q: %s", word, said)
		}
	}
}

// quiet is the number of people, from the first one on, that are never renamed.
const quiet = 20

// writeOn renames people continuously, as servers of the older and of the current version do, until
// it is stopped.
func (w *oldTown) writeOn() (stop func() (last map[social.UserID]string)) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var writers sync.WaitGroup
	w.t.Cleanup(func() { cancel(); writers.Wait() })
	names := make([]map[social.UserID]string, 2)
	write := func(kind int, rename func(user social.UserID, name string) error) {
		names[kind] = map[social.UserID]string{}
		writers.Go(func() {
			next := time.NewTicker(5 * time.Millisecond) // others need the processor, too
			defer next.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				<-next.C
				user := w.people[quiet+(2*n*37+kind)%(len(w.people)-quiet)]
				name := fmt.Sprintf("Name %d", n)
				if err := rename(user, name); err != nil {
					w.t.Error(err)
				}
				names[kind][user] = name
			}
		})
	}
	users := w.db.Collection("users")
	write(0, func(user social.UserID, name string) error {
		_, err := users.UpdateOne(context.WithoutCancel(ctx), bson.D{{Key: "_id", Value: bsonID(user.ID)}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: 1}, {Key: "name", Value: name}}}})
		return err
	})
	write(1, func(user social.UserID, name string) error {
		e := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventProfileUpdated, Actor: user}
		return w.store.UpdateProfile(context.WithoutCancel(ctx), user, social.ProfileChange{Name: &name}, e)
	})
	return func() map[social.UserID]string {
		cancel()
		writers.Wait()
		maps.Copy(names[0], names[1])
		return names[0]
	}
}

// checkPeople checks that every person is as last written, and is found by that name.
func (w *oldTown) checkPeople(names map[social.UserID]string) {
	w.t.Helper()
	read, err := w.store.Users(w.t.Context(), w.people)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, user := range w.people {
		want := &social.User{
			ID: user, Handle: "u" + user.ID.String(), Name: "first", Bio: fmt.Sprint("I am number ", i),
			WallPolicy: social.WallEveryone, FollowersCount: i,
		}
		if name, renamed := names[user]; renamed {
			want.Name = name
		}
		if diff := cmp.Diff(want, read[user]); diff != "" {
			w.t.Errorf("number %d differs (-want +got):\n%s", i, diff)
		}
	}
	for prefix, want := range map[string]int{"first": len(w.people) - len(names), "name": len(names)} {
		found, err := w.store.UsersNamed(w.t.Context(), prefix, social.Page{Limit: 10_000})
		if err != nil || len(found) != want {
			w.t.Errorf("%d are found by %q, want %d (%v)", len(found), prefix, want, err)
		}
	}
}

// TestDocumentMigrationContinuesAfterItIsKilled kills "plaza migrate documents" twice in the middle
// of its batches (SIGKILL), while servers of both versions write. The next run continues where the
// last one stopped, and nothing is lost.
func TestDocumentMigrationContinuesAfterItIsKilled(t *testing.T) {
	t.Parallel()
	const people, photos = 400, 20
	w := newOldTown(t, people, photos)
	w.statusSays("have not been upgraded yet")
	stop := w.writeOn()
	done := 0
	for range 2 {
		command, _, said := migrateProcess(t, w.uri, "documents", "--batch=10", "--rate=60") // slow, so that it is killed in time
		command.Env = append(command.Env, "PLAZA_LEASE="+testtime.Scale(3*time.Second).String())
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		w.state("further on", func(s mongodb.DocumentMigrationState) bool {
			if passed(s) < done {
				t.Fatalf("the migration started over: it had processed %d users, and now %d", done, passed(s))
			}
			return passed(s) >= done+20
		})
		_ = command.Process.Kill()
		_ = command.Wait()
		now := passed(w.state("left alone", func(s mongodb.DocumentMigrationState) bool { return s.UnderWay && s.Driver == "" }))
		if now >= people {
			t.Fatalf("the migration had already processed all users: %d\n%s", now, said)
		}
		done = now
		w.statusSays("being upgraded", fmt.Sprintf("users: %d of about 400", done), "No process is upgrading them", "resumes")
	}
	behind := bson.D{{Key: "_id", Value: bsonID(w.people[0].ID)}} // before the place where it was stopped
	if _, err := w.db.Collection("users").UpdateOne(t.Context(), behind, bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: 1}}}}); err != nil {
		t.Fatal(err)
	}
	said := w.migrate("--batch=10")
	if n := upgraded(t, said, "users"); n == 0 {
		t.Errorf("no users were upgraded after the first %d", done)
	}
	if n := upgraded(t, said, "posts"); n != photos {
		t.Errorf("%d posts are upgraded, want %d", n, photos)
	}
	if n, err := w.db.Collection("users").CountDocuments(t.Context(), append(behind, bson.E{Key: "v", Value: 1})); n != 1 || err != nil {
		t.Errorf("the last run started over (%v)", err)
	}
	w.statusSays("were all upgraded at 20")
	names := stop()
	w.migrate() // documents that the older servers have written since
	if diff := cmp.Diff(map[string]string{"2": "400"}, w.counts("users")); diff != "" {
		t.Errorf("the versions of users (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"4": "20"}, w.counts("posts")); diff != "" {
		t.Errorf("the versions of posts (-want +got):\n%s", diff)
	}
	w.checkPeople(names)
	posts, err := w.store.Posts(t.Context(), w.photos)
	if err != nil {
		t.Fatal(err)
	}
	for _, post := range w.photos {
		want := &social.Photo{URL: "https://example.org/photo.png", Caption: "a photo", Width: 640, Height: 480}
		if diff := cmp.Diff(want, posts[post].Content.Photo); diff != "" {
			t.Fatalf("a photo differs (-want +got):\n%s", diff)
		}
	}
}

// TestMigrateDocumentsCommand checks which arguments the command refuses, that a dry run changes
// nothing, that only one process runs at a time and keeps the rate, and that the process can be
// stopped.
func TestMigrateDocumentsCommand(t *testing.T) {
	t.Parallel()
	const people = 120
	w := newOldTown(t, people, 0)
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{"--batch=0"}, "--batch must be between 1 and 10,000"},
		{[]string{"--batch=10001"}, "--batch must be between 1 and 10,000"},
		{[]string{"--rate=-1"}, "--rate must not be negative"},
	} {
		refuseNow(t, w.uri, append([]string{"documents"}, c.args...), c.word)
	}
	if said := w.migrate("--dry-run", "--batch=50"); !regexp.MustCompile(`(?m)^users +120 to upgrade$`).MatchString(said) {
		t.Errorf("a dry run says %s", said)
	}
	w.statusSays("have not been upgraded yet")
	if diff := cmp.Diff(map[string]string{"1": "120"}, w.counts("users")); diff != "" {
		t.Errorf("after a dry run, the versions of users (-want +got):\n%s", diff)
	}

	first, out, said := migrateProcess(t, w.uri, "documents", "--batch=50", "--rate=1") // pauses for a long time after a batch
	first.Env = append(first.Env, "PLAZA_LEASE="+testtime.Patience().String())
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	at := w.state("begun", func(s mongodb.DocumentMigrationState) bool { return passed(s) > 0 })
	process := fmt.Sprintf("process %d", first.Process.Pid)
	if !strings.HasSuffix(at.Driver, process) {
		t.Errorf("%q runs the migration, want %q", at.Driver, process)
	}
	refuseNow(t, w.uri, []string{"documents"}, "another process is upgrading documents now", process)
	w.statusSays("being upgraded", "Upgraded by: ", process)
	_ = w.migrate("--dry-run") // writes nothing, so it may run beside another one
	if err := first.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil || out.Len() > 0 ||
		!strings.Contains(said.String(), "users\n") || !strings.Contains(said.String(), "was stopped; the same command resumes from there") {
		t.Errorf("the stopped migration ends with %v, and says %s%s", err, out, said)
	}
	done := passed(w.state("left", func(s mongodb.DocumentMigrationState) bool { return s.UnderWay && s.Driver == "" }))
	if done == 0 || done >= people {
		t.Fatalf("%d of %d are done", done, people)
	}

	const rate = 300 // per second, so that the rest takes a measurable part of one
	began := time.Now()
	if n := upgraded(t, w.migrate("--batch=10", "--rate="+strconv.Itoa(rate)), "users"); n != people-done {
		t.Errorf("%d are upgraded, want %d", n, people-done)
	}
	if least, took := time.Duration(people-done)*time.Second/rate, time.Since(began); took < least {
		t.Errorf("%d documents took %v, want %v or more", people-done, took, least)
	}
	w.statusSays("were all upgraded at 20")
	w.checkPeople(nil)
	if n := upgraded(t, w.migrate(), "users"); n != 0 {
		t.Errorf("a run with nothing to do upgrades %d", n)
	}
}
