package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"plaza/social/accounts"
	"plaza/storage"
)

// localCommand is what a command sends to the server that has the embedded database open: itself.
type localCommand struct {
	Args     []string `json:"args"`
	Password *string  `json:"password,omitempty"` // from the command's standard input
}

// localAnswer is a part of the answer, in JSON Lines: output, and at last how the command ended.
type localAnswer struct {
	Output []byte `json:"output,omitempty"`
	Ended  bool   `json:"ended,omitempty"`
	Error  string `json:"error,omitempty"` // as the command would write it; "": success
}

// maxLocalCommand limits a command, in bytes.
const maxLocalCommand = 1 << 20

// socketPath is where a server listens for commands: beside the file of the database.
func (c *commonFlags) socketPath() string {
	path := filepath.Join(c.Data, databaseName)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path + ".sock"
}

// localServer carries out commands on a store that is open.
type localServer struct {
	store   storage.Store
	audit   func(context.Context, accounts.Act) // nil: none
	running sync.RWMutex                        // read-locked by each command; locked forever when the store closes
}

// servedStore is a store that commands can use until it is closed.
type servedStore struct {
	storage.Store

	commands *localServer
	server   *http.Server
}

// Close ends the commands that run, removes the socket, and closes the store.
func (s *servedStore) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close() // this ends the contexts of commands
	}
	s.commands.running.Lock()
	return errors.Join(err, s.Store.Close())
}

// serveCommands lets commands use the store of the embedded database through a socket, which only
// this process's user can open. The caller has the file's lock, so a socket that is there belongs to
// a server that was killed. Without a socket the server works, and commands say that they can't.
func serveCommands(ctx context.Context, path string, local *localServer) storage.Store {
	_ = os.Remove(path)
	listener, err := listenPrivately(ctx, path)
	if errors.Is(err, errors.ErrUnsupported) {
		return local.store
	}
	if err != nil {
		slog.WarnContext(ctx, "commands such as \"plaza user\" need this server to stop first: it cannot listen for them", "error", err)
		return local.store
	}
	server := &http.Server{Handler: local, ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) }}
	go func() { _ = server.Serve(listener) }() // until Close
	return &servedStore{local.store, local, server}
}

// ServeHTTP carries out a command.
func (l *localServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !l.running.TryRLock() {
		http.Error(w, "The server is shutting down.", http.StatusServiceUnavailable)
		return
	}
	defer l.running.RUnlock()
	var command localCommand
	if err := json.NewDecoder(io.LimitReader(r.Body, maxLocalCommand)).Decode(&command); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := &localOutput{json.NewEncoder(w), http.NewResponseController(w)}
	ended := localAnswer{Ended: true}
	if err := l.run(r.Context(), command, answer); err != nil {
		ended.Error = withAdvice(err).Error()
	}
	_ = answer.send(ended) // who does not wait for it has gone
}

// localOutput writes what a command writes to the answer.
type localOutput struct {
	*json.Encoder

	response *http.ResponseController
}

// Write implements io.Writer.
func (o *localOutput) Write(text []byte) (int, error) {
	return len(text), o.send(localAnswer{Output: text})
}

func (o *localOutput) send(a localAnswer) error { return errors.Join(o.Encode(a), o.response.Flush()) }

// run parses a command as the process did that has sent it, and runs it on the store.
func (l *localServer) run(ctx context.Context, sent localCommand, out io.Writer) error {
	var cli commandLine
	hasEnded := false
	parser, err := newParser(&cli, kong.Exit(func(int) { hasEnded = true }), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return err
	}
	command, err := parser.Parse(sent.Args)
	switch {
	case err != nil:
		return fmt.Errorf("the server runs another version, which does not have this command: %w", err)
	case hasEnded || !isForServers(command):
		return errors.New("the server does not carry out this command: stop it first")
	}
	if sent.Password == nil {
		sent.Password = new(string)
	}
	cli.console = console{out: out, store: l.store, audit: l.audit, password: sent.Password}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(&cli.commonFlags)
}

// isForServers reports whether a server can carry out a command.
func isForServers(command *kong.Context) bool {
	selected := command.Selected()
	if selected == nil || !selected.Target.CanAddr() {
		return false
	}
	_, ok := reflect.TypeAssert[interface{ isForServers() }](selected.Target.Addr())
	return ok
}

// errNoServer means that no server listens for commands.
var errNoServer = errors.New("no server listens for commands")

// failedError is the failure of a command that a server has carried out.
type failedError string

func (e failedError) Error() string { return string(e) }

// send lets the server that has the database open carry out a command, and writes its output. Errors:
// errNoServer; failedError.
func (c *commonFlags) send(ctx context.Context, args []string) error {
	text, err := json.Marshal(localCommand{args, c.console.password}) //nolint:gosec // through a socket of the same user
	if err != nil {
		return err
	}
	path := c.socketPath()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://plaza/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if opening, ok := errors.AsType[*net.OpError](err); ok && opening.Op == "dial" {
		return errNoServer
	}
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	return readLocalAnswer(response.Body, c.console.stdout())
}

// readLocalAnswer writes a command's output. Error: failedError.
func readLocalAnswer(from io.Reader, out io.Writer) error {
	for answers := json.NewDecoder(from); ; {
		var a localAnswer
		if err := answers.Decode(&a); err != nil {
			return fmt.Errorf("the server has ended before the command: %w", err)
		}
		if _, err := out.Write(a.Output); err != nil {
			return err
		}
		if a.Ended && a.Error != "" {
			return failedError(a.Error)
		}
		if a.Ended {
			return nil
		}
	}
}
