//go:build clients

// Package clients_test runs public GraphQL clients against a server. Each program in this folder
// gets the server's address and the tokens of two people, and exits non-zero if a client does not
// get what the documentation promises.
package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plaza/internal/cli"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
)

func TestMain(m *testing.M) { plazatest.Main(m, cli.Run) }

// TestClients runs each program with a separate server, and those that compare a cache with it on
// each database.
func TestClients(t *testing.T) {
	programs, err := filepath.Glob("*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range append(programs, "gql_client.py") {
		if library[program] {
			continue
		}
		t.Run(program, func(t *testing.T) {
			if comparison[program] {
				plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) { runProgram(t, e, program) })
				return
			}
			runProgram(t, plazatest.Engines[0], program)
		})
	}
}

// comparison names the programs that compare a cache with the server.
var comparison = map[string]bool{"apollo.mjs": true, "graphcache.mjs": true}

// library names the files that programs import, and the one that identity_test.go runs.
var library = map[string]bool{"scenario.mjs": true, "steps.mjs": true, "guide.mjs": true, "identity.mjs": true}

// runProgram runs one program, and shows what it writes.
func runProgram(t *testing.T, e plazatest.Engine, program string) {
	t.Helper()
	interpreter := "node"
	if filepath.Ext(program) == ".py" {
		interpreter = filepath.Join(os.Getenv("PLAZA_CLIENTS_VENV"), "bin", "python")
	}
	store := e.Open(t)
	if program == "resume.mjs" {
		store = &interrupted{Store: store}
	}
	plaza := plazatest.Serve(t, store)
	ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
	plaza.Notify(t)
	command := exec.CommandContext(t.Context(), interpreter, program)
	command.Env = append(os.Environ(), "PLAZA_URL="+plaza.URL, "PLAZA_TOKEN="+ada.Token, "PLAZA_OTHER_TOKEN="+bob.Token)
	overdue := time.AfterFunc(testtime.Scale(2*time.Minute), func() { _ = command.Process.Kill() })
	defer overdue.Stop()
	output, err := command.CombinedOutput()
	t.Logf("%s", output)
	if err != nil {
		t.Errorf("%s: %v", program, err)
	}
}
