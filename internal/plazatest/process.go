package plazatest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"plaza/internal/testtime"
	"plaza/storage/mongodb/mongotest"
)

// Main runs the tests of a package. When Command starts the test binary again, Main calls plaza
// instead, which is cli.Run.
func Main(m *testing.M, plaza func() (exitCode int)) {
	if os.Getenv(AsPlaza) != "" {
		os.Exit(plaza())
	}
	os.Exit(mongotest.Tests{M: m}.Run())
}

// AsPlaza is the environment variable that makes a test binary run as plaza.
const AsPlaza = "PLAZA_TEST_AS_PLAZA"

// Command prepares a plaza process with a data folder.
func Command(ctx context.Context, data string, args ...string) (command *exec.Cmd, stdout, stderr *bytes.Buffer) {
	command = exec.CommandContext(ctx, os.Args[0], append([]string{"--data", data}, args...)...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "PLAZA_MONGODB_URI" || name == "GOGC" || name == "GOMEMLIMIT" // a server sets the last two itself
	})
	command.Env = append(command.Env, AsPlaza+"=1", "PLAZA_RATE_LIMITS=off")
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	command.Stdout, command.Stderr = stdout, stderr
	return command, stdout, stderr
}

// WaitFor waits until a condition holds, and fails the test if that takes too long.
func WaitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	testtime.Eventually(t, what, condition)
}

// Get sends a GET with an Authorization header ("": none), and returns the answer.
func Get(t *testing.T, url, authorization string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// StatusOf returns the HTTP status of a GET.
func StatusOf(t *testing.T, url string) int {
	t.Helper()
	status, _ := Get(t, url, "")
	return status
}

// Readiness returns the status of /readyz; 0 if nothing listens.
func Readiness(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TakenAddress returns an address that is in use until the test ends.
func TakenAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// Process is a plaza server in its own process, at a free port.
type Process struct {
	Command *exec.Cmd
	Log     *Words
}

// StartProcess starts plaza serve with further arguments, on a new embedded database unless they
// name another one.
func StartProcess(t *testing.T, args ...string) *Process {
	t.Helper()
	s := &Process{Log: &Words{}}
	s.Command, _, _ = Command(t.Context(), t.TempDir(), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.Command.Stderr = s.Log
	if err := s.Command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Command.Process.Kill(); _ = s.Command.Wait() })
	return s
}

// URL waits until the log names the address that the server listens on.
func (s *Process) URL(t *testing.T) string {
	t.Helper()
	var found []string
	WaitFor(t, "the server listens", func() bool {
		found = listensAt.FindStringSubmatch(s.Log.String())
		return found != nil
	})
	return "http://" + found[1]
}

// Terminate sends SIGTERM, and fails the test unless the process then ends with exit code 0.
func (s *Process) Terminate(t *testing.T) {
	t.Helper()
	if err := s.Command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Command.Wait(); err != nil {
		t.Errorf("it ends with %v:\n%s", err, s.Log)
	}
}

var listensAt = regexp.MustCompile(`"(?:addr|graphql)":"(?:http://)?(127\.0\.0\.1:\d+)(?:/graphql)?"`)

// Words returns what a process has written so far.
type Words struct {
	mu   sync.Mutex
	said strings.Builder
}

// Write implements io.Writer.
func (w *Words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.Write(p)
}

func (w *Words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.String()
}
