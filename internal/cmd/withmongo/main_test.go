//go:build unix

package main

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plaza/internal/testtime"
	"plaza/storage/mongodb/mongotest"
)

// envPlay makes the test binary act as another program: withmongo itself, or the command that
// withmongo runs.
const (
	envPlay     = "PLAZA_WITHMONGO_PLAY"
	playMain    = "withmongo"
	playCommand = "command"
)

func TestMain(m *testing.M) {
	switch os.Getenv(envPlay) {
	case playMain:
		main()
	case playCommand:
		runCommand()
	default:
		os.Exit(m.Run())
	}
}

// runCommand starts another process and waits for it, as "go test" does. It prints its own process
// id when both are running, and only a signal ends it. (A shell is not suitable: while it starts a
// process, it may not pass an interrupt on to it, and then waits for it.)
func runCommand() {
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		panic(err)
	}

	_, _ = os.Stdout.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	_ = other.Wait()
}

// withmongo returns the command that runs withmongo with the arguments. Its only folder for
// temporary files is the returned one, so that the test sees which files are left behind.
func withmongo(t *testing.T, uri string, args ...string) (cmd *exec.Cmd, temp string) {
	t.Helper()

	temp = t.TempDir()
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), envPlay+"="+playMain, "TMPDIR="+temp, mongotest.EnvURI+"="+uri)
	cmd.Stderr = os.Stderr

	return cmd, temp
}

func TestExitCode(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		args []string
		want int
	}{
		"nothing":           {nil, 2},
		"only the dashes":   {[]string{"--"}, 2},
		"an unknown flag":   {[]string{"-x"}, 2},
		"no such command":   {[]string{"--", "./there-is-no-such-command"}, 2},
		"success":           {[]string{"--", "true"}, 0},
		"failure":           {[]string{"--", "sh", "-c", "exit 7"}, 7},
		"ended by a signal": {[]string{"sh", "-c", "kill -TERM $$"}, 128 + int(syscall.SIGTERM)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cmd, _ := withmongo(t, "mongodb://unused.invalid", test.args...)
			if err := cmd.Run(); cmd.ProcessState == nil {
				t.Fatal(err)
			}

			if got := cmd.ProcessState.ExitCode(); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}

func TestUsesTheGivenURI(t *testing.T) {
	t.Parallel()

	const uri = "mongodb://given.invalid/?replicaSet=theirs"

	cmd, temp := withmongo(t, uri, "sh", "-c", "echo $"+mongotest.EnvURI)

	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != uri {
		t.Errorf("the command was given %q (%v), want %q", out, err, uri)
	}

	if left := entries(t, temp); len(left) > 0 {
		t.Errorf("a server was started all the same: %v", left)
	}
}

func TestStartsAndEndsAServer(t *testing.T) {
	t.Parallel()
	mongotest.URI(t) // skips where there is no MongoDB

	cmd, temp := withmongo(t, "", "sh", "-c", `echo $`+mongotest.EnvURI+`; ls "$TMPDIR"; exit 3`)

	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d (%v), want 3", code, err)
	}

	if text := string(out); !strings.HasPrefix(text, "mongodb://127.0.0.1:") || !strings.Contains(text, "plaza-mongod-") {
		t.Errorf("the command saw %q, want a server's URI and its folder", text)
	}

	if left := entries(t, temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestTemporaryFilesAreRemoved writes a temporary file, on a machine that decides where.
func TestTemporaryFilesAreRemoved(t *testing.T) {
	t.Parallel()

	cmd, _ := withmongo(t, "mongodb://unused.invalid", "sh", "-c", `[ -z "$TMPDIR" ] || { printf %s "$TMPDIR"; echo text >"$TMPDIR/file"; }`)
	cmd.Env = append(cmd.Env, "TMPDIR=") // the value of withmongo would be used

	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}

	folder := string(out)
	if folder == "" {
		t.Skip("this machine has no folder in memory with enough room")
	}

	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", folder, err)
	}
}

// startPlaying starts withmongo with this test binary as its command, and returns the id of the
// command's process.
func startPlaying(t *testing.T, cmd *exec.Cmd) (child int) {
	t.Helper()

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	child, err = strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}

	return child
}

// TestSignals ends withmongo in several ways while its command runs. Both the command and the
// server must end.
func TestSignals(t *testing.T) {
	t.Parallel()
	mongotest.URI(t)

	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()

			cmd, temp := withmongo(t, "", "env", envPlay+"="+playCommand, os.Args[0])

			child := startPlaying(t, cmd)

			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}

			_ = cmd.Wait()

			if got := cmd.ProcessState.ExitCode(); sig != syscall.SIGKILL && got != 128+int(sig) {
				t.Errorf("exit code %d, want %d", got, 128+int(sig))
			}

			if sig == syscall.SIGKILL {
				// A killed parent ends only the command itself; the command must end its own
				// processes.
				defer syscall.Kill(-child, syscall.SIGKILL)
			}

			eventually(t, "the command is gone", func() bool { return isGone(child) })
			eventually(t, "the server's folder is gone", func() bool { return len(entries(t, temp)) == 0 })
		})
	}
}

// TestParentKilled kills withmongo's parent, as a terminated "go run" leaves it.
func TestParentKilled(t *testing.T) {
	t.Parallel()
	mongotest.URI(t)

	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only on Linux is the parent watched")
	}

	// The shell in the middle is the parent; it must not replace itself with withmongo.
	inner, temp := withmongo(t, "", "env", envPlay+"="+playCommand, os.Args[0])
	script := `"$0" "$@"; exit $?`
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script}, inner.Args...)...)
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()

	cmd.Env, cmd.Stderr = inner.Env, said

	child := startPlaying(t, cmd)

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	_ = cmd.Wait()

	eventually(t, "the command is gone", func() bool { return isGone(child) })
	eventually(t, "the server's folder is gone", func() bool { return len(entries(t, temp)) == 0 })

	if log, err := os.ReadFile(said.Name()); err != nil || !strings.Contains(string(log), "the process that started it has ended") {
		t.Errorf("it does not say why it ends: %q, %v", log, err)
	}
}

func TestWithoutMongoDB(t *testing.T) {
	t.Parallel()

	empty := t.TempDir()

	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}

	for _, ci := range []string{"", "true"} {
		t.Run("CI="+ci, func(t *testing.T) {
			t.Parallel()

			var stderr strings.Builder

			cmd, _ := withmongo(t, "", shell, "-c", "echo $"+mongotest.EnvURI)
			cmd.Env = append(cmd.Env, "PATH="+empty, "PLAZA_CACHE="+t.TempDir(), "CI="+ci)
			cmd.Stderr = &stderr

			out, err := cmd.Output()

			if ci == "true" {
				if err == nil || !strings.Contains(stderr.String(), mongotest.ErrUnavailable.Error()) || len(out) > 0 {
					t.Errorf("got %q, %v, %q: want an error and no run of the command", out, err, stderr.String())
				}

				return
			}

			if err != nil || strings.TrimSpace(string(out)) != mongotest.None {
				t.Errorf("the command was given %q, %v, want %q", out, err, mongotest.None)
			}

			if !strings.Contains(stderr.String(), "SKIPPED") {
				t.Errorf("it did not say that tests are skipped: %q", stderr.String())
			}
		})
	}
}

// isGone reports whether a process has ended, even if its parent has not waited for it yet.
func isGone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}

	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")

	return err == nil && strings.Contains(string(stat), ") Z ")
}

func entries(t *testing.T, folder string) []fs.DirEntry {
	t.Helper()

	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}

	return list
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()

	testtime.Eventually(t, what, condition)
}
