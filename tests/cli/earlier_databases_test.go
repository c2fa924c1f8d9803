package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/sqlite"
)

var (
	keepDatabase = flag.String("keep-database", "", "let a server fill a database, and keep it as storage/mongodb/testdata/databases/NAME.json.gz")
	keptServer   = flag.String("kept-server", os.Args[0], "the server that fills it, with --demo and the flags behind the test's: an earlier version's, say")
)

// earlierDatabase is a database that an earlier server has written: the demo's community, and that
// server's answers about it.
type earlierDatabase struct {
	Collections []earlierCollection `bson:"collections"`
	Answers     []earlierAnswer     `bson:"answers"`
}

type earlierCollection struct {
	Name      string   `bson:"name"`
	Indexes   []bson.D `bson:"indexes"`
	Documents []bson.D `bson:"documents"`
}

type earlierAnswer struct {
	Operation string `bson:"operation"`
	Data      string `bson:"data"` // JSON
}

// TestEarlierDatabases opens databases of each earlier version. The answers are those of the old
// server: while documents are of older versions, when they are of those that the previous release
// can read, and when they are of the newest.
func TestEarlierDatabases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(earlierDatabases, "*.json.gz"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d databases are kept, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(t *testing.T) {
			t.Parallel()
			kept, uri := readEarlier(t, path), mongotest.Database(t)
			kept.restore(t, mongotest.Connect(t, uri))
			st := plazatest.OpenMongoDB(t, uri, mongodb.Options{}).(*mongodb.Store)
			p := plazatest.Serve(t, st)
			ada := signInAda(t, p.URL)
			kept.check(t, ada, "while documents are old")
			migrate := func() {
				t.Helper()
				if err := st.MigrateDocuments(t.Context(), mongodb.DocumentMigration{}); err != nil {
					t.Fatal(err)
				}
			}
			migrate()
			kept.check(t, ada, "when all are upgraded")
			everyoneIsNamed(t, st)
			if err := st.FinishUpgrade(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			migrate()
			kept.check(t, ada, "when the upgrade is finished")
		})
	}
}

// TestEarlierFiles sends the queries of TestEarlierDatabases to SQLite files of every earlier
// schema version. All of them contain the demo's community: apart from ids and times, the answers
// are those for the newest file.
func TestEarlierFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../storage/sqlite/testdata/files/*.sqlite.gz")
	if err != nil || len(files) < 11 {
		t.Fatalf("%d files are kept, %v", len(files), err)
	}
	var want []string
	for _, path := range files {
		st, err := sqlite.Open(t.Context(), unpackedFile(t, path))
		if err != nil {
			t.Fatal(err)
		}
		p := plazatest.Serve(t, st)
		ada := signInAda(t, p.URL)
		var answers []string
		for _, operation := range earlierOperations(t, ada) {
			answers = append(answers, withoutMoments.ReplaceAllString(dataOf(t, ada, operation), ""))
		}
		if want == nil {
			want = answers
		}
		if diff := cmp.Diff(want, answers); diff != "" {
			t.Errorf("the answers about %s differ from those about %s (-first +this):\n%s", path, files[0], diff)
		}
	}
}

// withoutMoments matches the texts that differ between two demos.
var withoutMoments = regexp.MustCompile(`"(id|slug|path|createdAt|editedAt|replacedAt)": "[^"]*"`)

func unpackedFile(t *testing.T, packed string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plaza.sqlite")
	if err := os.WriteFile(path, unpacked(t, packed), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

const earlierDatabases = "../../storage/mongodb/testdata/databases"

// TestKeepADatabase lets a server fill a database, and keeps the database and the answers if the
// flag is set.
func TestKeepADatabase(t *testing.T) {
	if *keepDatabase == "" {
		t.Skip("-keep-database is not set")
	}
	path := filepath.Join(earlierDatabases, *keepDatabase+".json.gz")
	uri, address := mongotest.Database(t), freeAddress(t)
	args := append([]string{"--mongodb-uri", uri, "--addr", address, "--demo"}, flag.Args()...)
	server := exec.CommandContext(t.Context(), *keptServer, args...)
	server.Env = append(os.Environ(), plazatest.AsPlaza+"=1")
	said := &bytes.Buffer{}
	server.Stderr = said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	testtime.Eventually(t, "the server is ready", func() bool { return isReady(t.Context(), "http://"+address+"/readyz") })
	ada := signInAda(t, "http://"+address)
	var kept earlierDatabase
	for _, operation := range earlierOperations(t, ada) {
		kept.Answers = append(kept.Answers, earlierAnswer{operation, dataOf(t, ada, operation)})
	}
	_ = server.Process.Signal(syscall.SIGINT)
	if err := server.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	kept.dump(t, mongotest.Connect(t, uri))
	kept.write(t, path)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func isReady(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// signInAda signs in as ada, who is in every demo.
func signInAda(t *testing.T, url string) plazatest.Person {
	t.Helper()
	p := plazatest.Person{URL: url}
	var answer struct{ SignIn struct{ Token string } }
	p.Do(t, `mutation { signIn(input: {handle: "ada", password: "plaza-demo"}) { token } }`, nil, &answer)
	p.Token = answer.SignIn.Token
	return p
}

const (
	earlierPost = `__typename id text createdAt editedAt commentCount author { id handle } wallOwner { handle } audience { kind circles { id name } }
		history { text replacedAt } reactionCounts { kind count } viewerReaction viewerCanComment viewerCanEdit viewerCanDelete
		latestComments { text author { handle } }
		... on PhotoPost { url caption width height } ... on LinkPost { url title } ... on CheckinPost { place latitude longitude } ... on PollPost { options { text votesCount } }`
	earlierViewer = `{ viewer { user { id handle } wallPolicy circles(first: 20) { nodes { id name isDefault membersCount members(first: 20) { nodes { handle } } } }
		blockedUsers(first: 20) { nodes { handle } } mutedUsers(first: 20) { nodes { handle } } } }`
	earlierNews     = `{ viewer { news(first: 20) { nodes { ` + earlierPost + ` } } } }`
	earlierIncoming = `{ viewer { incoming(first: 20) { nodes { ` + earlierPost + ` } } } }`
	earlierUser     = `{ user(handle: %q) { id handle name bio avatarUrl createdAt followersCount followingCount viewerFollows isFollowingViewer viewerIsMuting viewerCanPostOnWall
		viewerCircles { name } followers(first: 20) { nodes { handle } } following(first: 20) { nodes { handle } } wall(first: 15) { nodes { ` + earlierPost + ` } } } }`
	earlierThread = `{ post(id: %q) { text comments(first: 50, order: THREADED) { nodes { id slug path depth text isDeleted createdAt editedAt author { handle } repliesCount viewerCanReply viewerCanEdit } } } }`
)

// earlierOperations returns queries that every version of the API answers. They read everything in
// the database.
func earlierOperations(t *testing.T, ada plazatest.Person) []string {
	t.Helper()
	operations := []string{earlierViewer, earlierNews, earlierIncoming}
	posts := map[string]bool{}
	for _, handle := range []string{"ada", "omar", "grace", "linus", "rosa", "theo", "nadia", "sam", "mei", "ines", "kofi", "bruno"} {
		operation := fmt.Sprintf(earlierUser, handle)
		operations = append(operations, operation)
		var answer struct {
			User struct {
				Wall struct {
					Nodes []struct {
						ID           string
						CommentCount int
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(dataOf(t, ada, operation)), &answer); err != nil {
			t.Fatal(err)
		}
		for _, p := range answer.User.Wall.Nodes {
			if p.CommentCount > 0 {
				posts[p.ID] = true
			}
		}
	}
	for _, post := range slices.Sorted(maps.Keys(posts)) {
		operations = append(operations, fmt.Sprintf(earlierThread, post))
	}
	return operations
}

// dataOf returns the data of an answer, indented, without errors.
func dataOf(t *testing.T, p plazatest.Person, operation string) string {
	t.Helper()
	var data any
	p.Do(t, operation, nil, &data)
	text, err := json.MarshalIndent(data, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (d *earlierDatabase) check(t *testing.T, ada plazatest.Person, when string) {
	t.Helper()
	if len(d.Answers) < 30 {
		t.Fatalf("only %d answers are kept", len(d.Answers))
	}
	for _, answer := range d.Answers {
		if diff := cmp.Diff(sorted(t, answer.Data), sorted(t, dataOf(t, ada, answer.Operation))); diff != "" {
			t.Errorf("%s: the answer to %.60s has changed (-then +now):\n%s", when, answer.Operation, diff)
		}
	}
}

// sorted returns an answer whose circles have their members by handle, and whose users have the
// viewer's circles by name, because earlier servers listed both in another order.
func sorted(t *testing.T, text string) (data any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	byText := func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	answer, _ := data.(map[string]any)
	viewer, _ := answer["viewer"].(map[string]any)
	circles, _ := viewer["circles"].(map[string]any)
	nodes, _ := circles["nodes"].([]any)
	for _, circle := range nodes {
		slices.SortFunc(circle.(map[string]any)["members"].(map[string]any)["nodes"].([]any), byText)
	}
	user, _ := answer["user"].(map[string]any)
	holding, _ := user["viewerCircles"].([]any)
	slices.SortFunc(holding, byText)
	return data
}

// everyoneIsNamed checks that a search by name finds all people.
func everyoneIsNamed(t *testing.T, st *mongodb.Store) {
	t.Helper()
	if old, err := st.OldDocuments(t.Context()); err != nil || len(old) > 0 {
		t.Errorf("%v have documents of older versions, %v", old, err)
	}
	found, err := st.UsersNamed(t.Context(), "", social.Page{Limit: 100})
	if err != nil || len(found) < 13 {
		t.Errorf("%d are found by name, %v", len(found), err)
	}
}

func (d *earlierDatabase) dump(t *testing.T, db *mongo.Database) {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		c := earlierCollection{Name: name}
		indexes, err := db.Collection(name).Indexes().List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		documents, err := db.Collection(name).Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			t.Fatal(err)
		}
		if err := indexes.All(t.Context(), &c.Indexes); err != nil {
			t.Fatal(err)
		}
		if err := documents.All(t.Context(), &c.Documents); err != nil {
			t.Fatal(err)
		}
		d.Collections = append(d.Collections, c)
	}
}

func (d *earlierDatabase) restore(t *testing.T, db *mongo.Database) {
	t.Helper()
	for _, c := range d.Collections {
		create := bson.D{{Key: "createIndexes", Value: c.Name}, {Key: "indexes", Value: c.Indexes}}
		if err := db.RunCommand(t.Context(), create).Err(); err != nil {
			t.Fatal(err)
		}
		if len(c.Documents) > 0 {
			if _, err := db.Collection(c.Name).InsertMany(t.Context(), c.Documents); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (d *earlierDatabase) write(t *testing.T, path string) {
	t.Helper()
	text, err := bson.MarshalExtJSON(d, true, false)
	if err != nil {
		t.Fatal(err)
	}
	packed := &bytes.Buffer{}
	to, err := gzip.NewWriterLevel(packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readEarlier(t *testing.T, path string) (d earlierDatabase) {
	t.Helper()
	if err := bson.UnmarshalExtJSON(unpacked(t, path), true, &d); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return d
}
