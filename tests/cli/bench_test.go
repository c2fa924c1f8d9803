package cli

import (
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/internal/plazatest"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// benchTables runs a comparison, and returns the figures of its tables: by call, layout and column.
func benchTables(t *testing.T, uri, name string, args ...string) map[[3]string]float64 {
	t.Helper()
	return readTables(t, benchReport(t, uri, name, args...))
}

// benchReport runs a comparison, checks what it writes and that it leaves nothing behind, and
// returns its report.
func benchReport(t *testing.T, uri, name string, args ...string) string {
	t.Helper()
	out, temporary := t.TempDir(), t.TempDir()
	args = append([]string{"bench", name, "--quick", "--mongodb-uri", uri, "--out", out}, args...)
	command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), args...)
	command.Env = append(command.Env, "TMPDIR="+temporary)
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	text, err := os.ReadFile(filepath.Join(out, name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), out) || strings.Contains(string(text), "mongodb://") {
		t.Errorf("the report contains local paths or addresses:\n%.500s", text)
	}
	pictures, err := filepath.Glob(filepath.Join(out, "*.svg"))
	if err != nil || len(pictures) == 0 {
		t.Fatalf("there are no pictures (%v)", err)
	}
	for _, picture := range pictures {
		checkPicture(t, picture, string(text))
	}
	return string(text)
}

// checkPicture checks that a picture is well-formed, and that the report shows it.
func checkPicture(t *testing.T, path, report string) {
	t.Helper()
	if !strings.Contains(report, "]("+filepath.Base(path)+")") {
		t.Errorf("%s is not in the report", filepath.Base(path))
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	bars := 0
	for decoder := xml.NewDecoder(file); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "rect" {
			bars++
		}
	}
	if bars < 4 {
		t.Errorf("%s has %d bars", path, bars)
	}
}

// readTables reads Markdown tables whose first two columns are names. An empty first cell repeats
// the one above it.
func readTables(t *testing.T, text string) map[[3]string]float64 {
	t.Helper()
	figures := map[[3]string]float64{}
	var head []string
	call := ""
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < 3:
			head = nil
		case head == nil:
			head = cells
		case strings.HasPrefix(cells[0], "---"):
		default:
			if cells[0] != "" {
				call = cells[0]
			}
			for i := 2; i < len(cells); i++ {
				number, _, _ := strings.Cut(cells[i], " ")
				value, err := strconv.ParseFloat(number, 64)
				if err != nil && cells[i] != "–" {
					t.Errorf("%q is not a number: %s", cells[i], line)
				}
				figures[[3]string{call, cells[1], head[i]}] = value
			}
		}
	}
	return figures
}

// checkCosts checks that the figures of each layout for a call are plausible.
func checkCosts(t *testing.T, figures map[[3]string]float64, call string, layouts []string) {
	t.Helper()
	for _, layout := range layouts {
		// The cost of measuring mongod is subtracted, so a small figure may become zero.
		at := func(column string) float64 { return figures[[3]string{call, layout, column}] }
		if at("server ms") <= 0 || at("server ms") > 1000 || at("mongod ms") < 0 || at("mongod ms") > 1000 || at("commands") <= 0 || at("commands") > 100 {
			t.Errorf("%s, %s: %v + %v ms and %v commands", call, layout, at("server ms"), at("mongod ms"), at("commands"))
		}
	}
}

// benchDatabase returns a URI of the server with a database name that only this test uses. It
// checks at the end that no such database is left.
func benchDatabase(t *testing.T, server string) string {
	t.Helper()
	mine := "bench_" + strings.ToLower(rand.Text()) // subtests run at the same time
	client := mongotest.Connect(t, server).Client()
	t.Cleanup(func() {
		ctx := context.Background()
		names, err := client.ListDatabaseNames(ctx, bson.D{})
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			if strings.HasPrefix(name, mine) {
				t.Errorf("the database %s was not dropped", name)
				_ = client.Database(name).Drop(ctx)
			}
		}
	})
	return mongotest.InDatabase(t, server, mine)
}

func TestBenchFeeds(t *testing.T) {
	t.Parallel()
	report := benchReport(t, benchDatabase(t, mongotest.URI(t)), "feeds", "--edges", "80000")
	figures := readTables(t, report)
	layouts := mongodb.Layouts("feeds")
	if !slices.Contains(layouts, mongodb.FeedsHybrid) || layouts[0] != mongodb.FeedsRead {
		t.Fatalf("the layouts are %v", layouts)
	}
	for _, call := range []string{
		"news page", "news, fifth page", "wall page", "thread page", "post, no followers", "post, very many followers", "comment", "follow and unfollow",
		"follow or unfollow, then news",
	} {
		checkCosts(t, figures, call, layouts)
	}
	if n := figures[[3]string{"fan-out, each entry", mongodb.FeedsHybrid, "commands"}]; n <= 0 || n > 3 {
		t.Errorf("an entry takes %v commands", n)
	}
	if n, ok := figures[[3]string{"news page", "from memory", "commands"}]; n != 0 || !ok {
		t.Errorf("a page from memory takes %v commands", n)
	}
	if figures[[3]string{"news page", "from memory", "server ms"}] <= 0 {
		t.Error("a page from memory takes no time")
	}
	for call, commands := range map[string]float64{"news page": 2, "thread page": 1, "post, no followers": 1, "comment": 2} {
		if n := figures[[3]string{call, "by hand", "commands"}]; n != commands {
			t.Errorf("%s by hand takes %v commands, want %v", call, n, commands)
		}
		if figures[[3]string{call, "sqlite", "server ms"}] <= 0 {
			t.Errorf("%s on SQLite takes no time", call)
		}
	}
	for _, call := range []string{"news page", "news page, 16 concurrent"} {
		if remark := regexp.MustCompile("\n- " + call + `: in sqlite it takes [\d.]+ times the server CPU that it takes from memory\.`); !remark.MatchString(report) {
			t.Errorf("the report does not compare %s with memory:\n%s", call, report)
		}
	}
}

// TestBenchNetworks measures one call in one layout, on a network of files and on a generated one:
// TestBenchFeeds measures the rest.
func TestBenchNetworks(t *testing.T) {
	t.Parallel()
	report := benchReport(t, benchDatabase(t, mongotest.URI(t)), "feeds", "--networks", networkFolder(t, 30, ""), "--edges", "80000", "--layouts", mongodb.FeedsRead, "--only", "news page")
	for _, title := range []string{"ego-facebook: 34 people", "power law: "} {
		_, section, found := strings.Cut(report, "\n## "+title)
		if !found {
			t.Fatalf("%q has no section:\n%s", title, report)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		checkCosts(t, readTables(t, section), "news page", []string{mongodb.FeedsRead})
	}
}

func TestBenchComments(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t) // its cache becomes small
	before := cacheSize(t, server.URI())
	figures := benchTables(t, benchDatabase(t, server.URI()), "comments", "--cache", "32")
	layouts := mongodb.Layouts("comments")
	if !slices.Contains(layouts, mongodb.CommentsPages) || layouts[0] != mongodb.CommentsDocuments {
		t.Fatalf("the layouts are %v", layouts)
	}
	for _, call := range []string{
		"first page", "deep page", "last page", "tree page", "deep tree page", "permalink", "discussion", "append", "to one thread", "to 64 threads",
	} {
		checkCosts(t, figures, call, layouts)
	}
	if got := cacheSize(t, server.URI()); got != before {
		t.Errorf("mongod's cache has %d bytes afterwards", got)
	}
}

// TestBenchModel compares embedding with referencing. Each must read and write what it claims to,
// and the report says when each of them pays off.
func TestBenchModel(t *testing.T) {
	t.Parallel()
	designs := []string{"referenced", "embedded"}
	figures := benchTables(t, benchDatabase(t, mongotest.URI(t)), "model")
	for _, c := range []struct {
		call                 string
		referenced, embedded float64 // commands
	}{
		{"page with names", 2, 1},
		{"rename", 3, 5},
		{"rename, many posts", 3, 5},
		{"page with previews", 2, 1},
		{"edit of a comment", 3, 4},
		{"page, 10 votes each", 2, 1},
		{"vote, 10 before", 4, 3},
		{"page, 100 votes each", 2, 1},
		{"vote, 100 before", 4, 3},
	} {
		checkCosts(t, figures, c.call, designs)
		for i, want := range []float64{c.referenced, c.embedded} {
			if got := figures[[3]string{c.call, designs[i], "commands"}]; got != want {
				t.Errorf("%s, %s: %v commands, want %v", c.call, designs[i], got, want)
			}
		}
	}
}

func TestBenchAds(t *testing.T) {
	t.Parallel()
	report := benchReport(t, benchDatabase(t, mongotest.URI(t)), "ads", "--zones", "300", "--units", "10", "--profiles", "20000")
	onMongoDB, onSQLite, both := strings.Cut(report, "\n## SQLite: 3 zones with 10 ads each, 200 profiles\n")
	if !both || !strings.Contains(onMongoDB, "\n## MongoDB: 3 zones with 10 ads each, 200 profiles\n") {
		t.Fatalf("the report is\n%s", report)
	}
	for name, text := range map[string]string{"MongoDB": onMongoDB, "SQLite": onSQLite} {
		if n := strings.Count(text, "times the server CPU of `{ viewer { user { handle } } }`"); n != 3 {
			t.Errorf("%s: %d designs are compared to a trivial query", name, n)
		}
		figures := readTables(t, text)
		for _, call := range []string{"choice, one zone", "choice, all zones", "query, one zone", "query, all zones", "query, five ads", "query, signed in"} {
			for _, design := range []string{"zone", "frequency", "keywords"} {
				at := func(column string) float64 { return figures[[3]string{call, design, column}] }
				// The cost of measuring is subtracted, so a small figure may become zero; wall time
				// does not.
				if at("p99 ms") <= 0 || at("server ms") < 0 || at("server ms") > 1000 || at("commands") > 100 {
					t.Errorf("%s: %s, %s: %v", name, call, design, figures)
				}
			}
		}
		if name == "MongoDB" && figures[[3]string{"choice, one zone", "frequency", "commands"}] <= 0 {
			t.Error("a choice with caps takes no command")
		}
	}
}

// TestBenchLive lets four subscribers of each kind receive events.
func TestBenchLive(t *testing.T) {
	t.Parallel()
	report := benchReport(t, benchDatabase(t, mongotest.URI(t)), "live", "--sockets", "400", "--many", "800", "--idle", "1000")
	figures := readTables(t, report)
	for _, call := range []string{"comment in a thread", "post of an author", "reconnect in a thread"} {
		checkCosts(t, figures, call, []string{"plain", "viewer's rights", "viewer's own data"})
	}
	for _, remark := range []string{"10 idle subscribers take ", "Comment in a thread, plain: half of the subscribers have it after ", "8 subscribers to each event"} {
		if !strings.Contains(report, remark) {
			t.Errorf("the report does not say %q:\n%s", remark, report)
		}
	}
}

// cacheSize returns the size of mongod's cache, in bytes.
func cacheSize(t *testing.T, uri string) int64 {
	t.Helper()
	admin := mongotest.Connect(t, uri).Client().Database("admin")
	var status struct {
		WiredTiger struct {
			Cache struct {
				Maximum int64 `bson:"maximum bytes configured"`
			} `bson:"cache"`
		} `bson:"wiredTiger"`
	}
	if err := admin.RunCommand(t.Context(), bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status); err != nil {
		t.Fatal(err)
	}
	return status.WiredTiger.Cache.Maximum
}

func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	server := mongotest.URI(t)
	taken := mongotest.Database(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no MongoDB":         {[]string{"feeds"}, "a benchmark needs a MongoDB"},
		"another database":   {[]string{"comments", "--mongodb-uri", strings.Replace(server, "/?", "/people?", 1)}, `names the database "people"`},
		"an unknown layout":  {[]string{"comments", "--layouts", "documents,scrolls", "--mongodb-uri", taken}, `there is no "scrolls": choose from documents, `},
		"a layout twice":     {[]string{"comments", "--layouts", "pages,pages", "--mongodb-uri", taken}, `"pages" is named twice`},
		"no rounds":          {[]string{"feeds", "--rounds", "0", "--mongodb-uri", taken}, "--rounds must be 1 or more"},
		"no scale":           {[]string{"feeds", "--scale", "0", "--mongodb-uri", taken}, "--scale must be above 0"},
		"too many edges":     {[]string{"feeds", "--edges", "1000001", "--mongodb-uri", taken}, "--edges must be from 0 to 1,000,000"},
		"no network":         {[]string{"feeds", "--edges", "0", "--mongodb-uri", taken}, "there is no network to load"},
		"too few files":      {[]string{"live", "--sockets", "1000000000", "--mongodb-uri", taken}, "allow more with ulimit -n 3000000200"},
		"no zones":           {[]string{"ads", "--zones", "0", "--mongodb-uri", taken}, "--zones, --units and --profiles must be 1 or more"},
		"too many ads":       {[]string{"ads", "--units", "1001", "--mongodb-uri", taken}, "--units 1000 at most"},
		"no such design":     {[]string{"ads", "--layouts", "random", "--mongodb-uri", taken}, `there is no "random": choose from zone, frequency, keywords`},
		"no folder":          {[]string{"feeds", "--networks", "/no/such/folder", "--mongodb-uri", taken}, "--networks: there is no folder /no/such/folder"},
		"an unknown design":  {[]string{"model", "--layouts", "linked", "--mongodb-uri", taken}, `there is no "linked": choose from referenced, embedded`},
		"a server elsewhere": {[]string{"feeds", "--mongodb-uri", "mongodb://127.0.0.1:1/bench?serverSelectionTimeoutMS=100"}, "MongoDB can't be measured"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, stdout, stderr := plazatest.Command(t.Context(), t.TempDir(), append([]string{"bench"}, c.args...)...)
			_ = command.Run()
			if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), c.want) || stdout.Len() > 0 {
				t.Errorf("exit code %d, and\n%s%s, want 1 and %q", code, stdout, stderr, c.want)
			}
		})
	}
}

// TestBenchLeavesDatabasesAlone checks that a database with data is refused unless a flag allows
// it.
func TestBenchLeavesDatabasesAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		database string
		args     []string
		want     string
	}{
		"comments": {"_documents", []string{"--cache", "0", "--layouts", "documents", "--only", "permalink"}, "| permalink | documents |"},
		"model":    {"_votes_embedded", []string{"--layouts", "embedded", "--only", "vote, 10 "}, "| vote, 10 before | embedded |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := benchDatabase(t, mongotest.URI(t))
			bench := mongotest.Connect(t, uri)
			mine := bench.Client().Database(bench.Name() + c.database).Collection("mine")
			if _, err := mine.InsertOne(t.Context(), bson.D{{Key: "dear", Value: true}}); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"bench", name, "--quick", "--mongodb-uri", uri}, c.args...)
			command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), args...)
			if err := command.Run(); err == nil || !strings.Contains(stderr.String(), "is not empty") {
				t.Errorf("%v, and\n%s", err, stderr)
			}
			if n, err := mine.EstimatedDocumentCount(t.Context()); n != 1 || err != nil {
				t.Fatalf("%d documents are left (%v)", n, err)
			}
			command, stdout, stderr := plazatest.Command(t.Context(), t.TempDir(), append(args, "--overwrite")...)
			if err := command.Run(); err != nil || !strings.Contains(stdout.String(), c.want) {
				t.Errorf("%v, and\n%s%s", err, stderr, stdout)
			}
		})
	}
}
