package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestBadEnvironmentsAreRefused checks that a bad variable is refused in one sentence, before
// anything is created.
func TestBadEnvironmentsAreRefused(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"PLAZA_MONGODB_URI=":                           "must not be empty",
		"PLAZA_MONGODBURI=mongodb://x":                 "did you mean PLAZA_MONGODB_URI?",
		"PLAZA_DATA=":                                  "PLAZA_DATA is empty",
		"PLAZA_PUBLIC_URL=plaza.example":               `"plaza.example"`,
		"PLAZA_ALLOWED_ORIGINS=https://plaza.example/": `"https://plaza.example/"`,
	} {
		data := filepath.Join(t.TempDir(), "data")
		command, stdout, stderr := plazatest.Command(t.Context(), data, "serve", "--addr", "127.0.0.1:0")
		command.Env = append(command.Env, variable)
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code < 1 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "plaza: ") || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, says %q", variable, code, stderr)
		}
		if made, _ := filepath.Glob(data); len(made) > 0 {
			t.Errorf("%s: a database was created", variable)
		}
	}
}

// TestStartUpLine checks that the log names the version and the database, for people who look for
// the wrong one.
func TestStartUpLine(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	line := startUpLine(t, data)
	want := map[string]any{"engine": "SQLite", "database": filepath.Join(data, "plaza.sqlite"), "publicURL": "https://plaza.example/x"}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("on SQLite (-want +got):\n%s", diff)
	}
	uri := mongotest.Reused(t)
	at, err := connstring.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	without := logLine(t, "Plaza is open", data, "PLAZA_GRAPHIQL=off", "PLAZA_APP=off")
	for _, page := range []string{"graphiql", "app"} {
		if address, is := without[page]; is {
			t.Errorf("a server without %s says that it is at %v", page, address)
		}
	}
	line = startUpLine(t, data, "PLAZA_MONGODB_URI="+uri, "PLAZA_FEEDS=month")
	want = map[string]any{
		"engine": "MongoDB", "database": strings.Join(at.Hosts, ",") + "/" + at.Database, "publicURL": "https://plaza.example/x",
		"comments": "documents", "feeds": "month", "graph": "reverse",
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("on MongoDB (-want +got):\n%s", diff)
	}
}

// startUpLine returns what a server logs when it starts to serve, without the fields that differ
// each time.
func startUpLine(t *testing.T, data string, environ ...string) map[string]any {
	t.Helper()
	line := logLine(t, "Plaza is open", data, environ...)
	if version, _ := line["version"].(string); version == "" {
		t.Errorf("the line names no version: %v", line)
	}
	if line["graphql"] != fmt.Sprint(line["graphiql"], "/graphql") || line["app"] != fmt.Sprint(line["graphiql"], "/app/") {
		t.Errorf("the line has the addresses %v, %v and %v", line["graphiql"], line["graphql"], line["app"])
	}
	for _, usual := range []string{"time", "level", "msg", "version", "graphiql", "app", "graphql"} {
		delete(line, usual)
	}
	return line
}

// logLine starts a server, stops it when it has logged a message that begins like this, and returns
// that line.
func logLine(t *testing.T, begins, data string, environ ...string) map[string]any {
	t.Helper()
	command, _, _ := plazatest.Command(t.Context(), data, "serve", "--addr", "127.0.0.1:0", "--public-url", "https://plaza.example/x")
	command.Env, command.Stderr = append(command.Env, environ...), nil
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line := map[string]any{}
	for lines, found := bufio.NewScanner(said), false; !found && lines.Scan(); {
		line = map[string]any{}
		_ = json.Unmarshal(lines.Bytes(), &line)
		message, _ := line["msg"].(string)
		found = strings.HasPrefix(message, begins)
	}
	_ = command.Process.Signal(syscall.SIGTERM)
	_ = command.Wait()
	return line
}

// TestServersUpgradeOldDocuments checks that users of an older version are upgraded: without an
// upgrade, a search by name would silently leave them out.
func TestServersUpgradeOldDocuments(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	plazatest.OpenMongoDB(t, uri, mongodb.Options{})
	users := mongotest.Connect(t, uri).Collection("users")
	old := bson.D{{Key: "_id", Value: id.New().Bytes()}, {Key: "v", Value: 1}, {Key: "name", Value: "Ada"}}
	if _, err := users.InsertOne(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if line := logLine(t, "all documents are upgraded", t.TempDir(), "PLAZA_MONGODB_URI="+uri); line["level"] != "INFO" {
		t.Errorf("it says %v", line)
	}
	n, err := users.CountDocuments(t.Context(), bson.D{{Key: "v", Value: 2}, {Key: "nameOrder", Value: bson.D{{Key: "$exists", Value: true}}}})
	if err != nil || n != 1 {
		t.Errorf("%d users have an order, %v", n, err)
	}
}
