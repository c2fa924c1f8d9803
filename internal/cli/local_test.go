package cli

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/storage/sqlite"
)

// TestLocalCommands: a server carries out nothing but commands that are marked for it, and none that
// would end its process.
func TestLocalCommands(t *testing.T) {
	t.Parallel()
	local := &localServer{store: plazatest.Engines[0].Open(t)}
	for body, want := range map[string]string{ // of the error; "": success
		`{"args": ["rights"]}`:                                         "",
		`{"args": ["--log-level=warn", "user", "list"]}`:               "",
		`{"args": ["--mongodb-uri=mongodb://db.example/x", "rights"]}`: "",
		`{"args": []}`: "does not carry out",
		`{"args": ["serve", "--addr=127.0.0.1:0"]}`:     "does not carry out",
		`{"args": ["import", "ego-facebook", "/"]}`:     "does not carry out",
		`{"args": ["user", "list", "--help"]}`:          "does not carry out",
		`{"args": ["--version"]}`:                       "does not carry out",
		`{"args": ["user", "befriend", "ada"]}`:         "another version",
		`{"args": ["user", "add", "ada"]}`:              "password: This must not be empty.",
		`{"args": ["grant", "admin", "ada"], "x": "y"}`: "There is no such user.",
		`{"args": ["delete", "user", "ada", "--yes"]}`:  "There is no such user.",
	} {
		answer := httptest.NewRecorder()
		local.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		var out strings.Builder
		err := readLocalAnswer(answer.Body, &out)
		if want == "" && (err != nil || out.Len() == 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0) {
			t.Errorf("%s: %v, %q", body, err, out.String())
		}
	}
	answer := httptest.NewRecorder()
	if local.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))); answer.Code != 400 {
		t.Errorf("no JSON: %d", answer.Code)
	}
	var out strings.Builder
	err := readLocalAnswer(strings.NewReader(`{"output":"aGk="}`+"\n"), &out)
	if _, failed := errors.AsType[failedError](err); err == nil || failed || out.String() != "hi" {
		t.Errorf("a server that ends in the middle: %v, %q", err, out.String())
	}
}

// TestCommandsDuringShutdown: the store closes when no command uses it any more, and each command is
// carried out, or says that the server has gone.
func TestCommandsDuringShutdown(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	common := &commonFlags{Data: data}
	st, err := sqlite.Open(t.Context(), filepath.Join(data, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	served := serveCommands(t.Context(), common.socketPath(), &localServer{store: st})
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range 4 {
		clients.Go(func() {
			for {
				var out strings.Builder
				err := (&commonFlags{Data: data, console: console{out: &out}}).send(t.Context(), []string{"rights"})
				if err != nil {
					if _, failed := errors.AsType[failedError](err); failed {
						t.Errorf("a command during the shutdown: %v", err)
					}
					return
				}
				answered.Add(1)
			}
		})
	}
	testtime.Eventually(t, "commands are carried out", func() bool { return answered.Load() > 10 })
	if err := served.Close(); err != nil {
		t.Error(err)
	}
	clients.Wait()
	if err := common.send(t.Context(), []string{"rights"}); !errors.Is(err, errNoServer) {
		t.Errorf("a command after the shutdown: %v", err)
	}
}
