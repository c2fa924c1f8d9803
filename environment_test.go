package main

import (
	"bufio"
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"plaza/id"
	"plaza/storage/mongodb"
)

func TestUnknownVariablesAreRefused(t *testing.T) {
	app := kong.Must(&commandLine{}).Model
	for variable, meant := range map[string]string{
		"PLAZA_MONGO_URI=mongodb://plaza.test": "PLAZA_MONGODB_URI",
		"PLAZA_PUBLICURL=":                     "PLAZA_PUBLIC_URL",
		"PLAZA_ALLOWED_ORIGIN=*":               "PLAZA_ALLOWED_ORIGINS",
		"PLAZA_port=8080":                      "PLAZA_ADDR",
		"PLAZA_PORT=8080":                      "PLAZA_",
		"PLAZA_COMMENT=pages":                  "PLAZA_COMMENTS",
		"PLAZA_=":                              "PLAZA_",
	} {
		name, _, _ := strings.Cut(variable, "=")
		want := "there is no setting " + name + ": did you mean " + meant
		if err := checkEnvironment(app, []string{"HOME=/", variable}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", variable, err, want)
		}
	}
	others := []string{
		"PLAZA_TEST_MONGODB_URI=none", "PLAZA_CACHE=/tmp", "PLAZA_ALL_LAYOUTS=1", "PLAZA_MODEL_HISTORIES=5", "PLAZAS=1", "plaza_x=1", "PATH=/bin",
		"PLAZA_SERVICE_HOST=10.0.0.1", "PLAZA_SERVICE_PORT_HTTP=80", "PLAZA_PORT=tcp://10.0.0.1:80", "PLAZA_PORT_80_TCP_ADDR=10.0.0.1",
		"PLAZA_API_SERVICE_HOST=10.0.0.1", "PLAZA_API_PORT_80_TCP=tcp://10.0.0.1:80",
	}
	for _, name := range settings(app) {
		others = append(others, name+"=x")
	}
	if err := checkEnvironment(app, others); err != nil || len(settings(app)) < 15 {
		t.Errorf("%d settings, %v", len(settings(app)), err)
	}
}

func TestAddressesAreChecked(t *testing.T) {
	for url, good := range map[string]bool{
		"": true, "https://plaza.example": true, "http://127.0.0.1:8080/": true, "https://plaza.example/community/": true, "http://[::1]:80": true,
		"plaza.example": false, "plaza.example:443": false, "ftp://plaza.example": false, "https://": false, "https://:443": false,
		"https://ada:secret@plaza.example": false, "https://plaza.example/?x": false, "https://plaza.example#x": false, "https://plaza .example": false,
	} {
		if err := (&serveCommand{PublicURL: url}).checkAddresses(); (err == nil) != good {
			t.Errorf("the public URL %q: %v", url, err)
		}
	}
	for origin, good := range map[string]bool{
		"*": true, "null": true, "https://plaza.example": true, "http://localhost:5173": true, "https://*.plaza.example": true, "capacitor://localhost": true,
		"": false, "https://plaza.example/": false, "https://plaza.example/app": false, "plaza.example": false, "https://Plaza.example": false,
		"https://plaza.example?x": false, "//plaza.example": false, "https://ada@plaza.example": false,
	} {
		if err := (&serveCommand{AllowedOrigins: []string{"*", origin}}).checkAddresses(); (err == nil) != good {
			t.Errorf("the origin %q: %v", origin, err)
		}
	}
}

// TestBadEnvironmentsAreRefused: before anything is made, in one sentence.
func TestBadEnvironmentsAreRefused(t *testing.T) {
	for variable, want := range map[string]string{
		"PLAZA_MONGODB_URI=":                           "must not be empty",
		"PLAZA_MONGODBURI=mongodb://x":                 "did you mean PLAZA_MONGODB_URI?",
		"PLAZA_PUBLIC_URL=plaza.example":               `"plaza.example"`,
		"PLAZA_ALLOWED_ORIGINS=https://plaza.example/": `"https://plaza.example/"`,
	} {
		data := filepath.Join(t.TempDir(), "data")
		command, stdout, stderr := plazaCommand(t.Context(), data, "serve", "--addr", "127.0.0.1:0")
		command.Env = append(command.Env, variable)
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code < 1 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "plaza: ") || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, says %q", variable, code, stderr)
		}
		if made, _ := filepath.Glob(data); len(made) > 0 {
			t.Errorf("%s: a database was made", variable)
		}
	}
}

// TestStartUpLine: what somebody needs to know who looks for the wrong version, or the wrong database.
func TestStartUpLine(t *testing.T) {
	data := t.TempDir()
	line := startUpLine(t, data)
	want := map[string]any{"engine": "SQLite", "database": filepath.Join(data, "plaza.sqlite"), "publicURL": "https://plaza.example/x"}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("on SQLite (-want +got):\n%s", diff)
	}
	uri := mongoURI(t)
	at, err := connstring.Parse(uri)
	if err != nil {
		t.Fatal(err)
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

// startUpLine is what a server logs when it serves, apart from what differs each time.
func startUpLine(t *testing.T, data string, environ ...string) map[string]any {
	t.Helper()
	line := logLine(t, "Plaza is open", data, environ...)
	if version, _ := line["version"].(string); version == "" {
		t.Errorf("it names no version: %v", line)
	}
	for _, usual := range []string{"time", "level", "msg", "version", "graphiql", "graphql"} {
		delete(line, usual)
	}
	return line
}

// logLine starts a server, ends it when it has logged a message that begins so, and returns that line.
func logLine(t *testing.T, begins, data string, environ ...string) map[string]any {
	t.Helper()
	command, _, _ := plazaCommand(t.Context(), data, "serve", "--addr", "127.0.0.1:0", "--public-url", "https://plaza.example/x")
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

// TestServersUpgradeOldDocuments: a search by name would silently leave somebody out.
func TestServersUpgradeOldDocuments(t *testing.T) {
	uri := mongoURI(t)
	openMongoDB(t, uri, mongodb.Options{})
	users := database(t, uri).Collection("users")
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
