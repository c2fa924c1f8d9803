// Command withmongo runs another command with a MongoDB beside it:
//
//	go run ./internal/cmd/withmongo -- go test ./...
//
// It starts one MongoDB (plaza/storage/mongodb/mongotest describes where it finds one), passes its
// URI to the command in PLAZA_TEST_MONGODB_URI, passes signals on, and ends MongoDB after the
// command. Its exit code is the command's. If PLAZA_TEST_MONGODB_URI is already set, it keeps that
// value and starts nothing.
//
// On Linux, if there is enough memory, the command's temporary files (TMPDIR) are in memory,
// because SQLite waits for the disk on each write.
//
// If no MongoDB is available, it prints a warning and runs the command without one, so that the
// tests that need it are skipped. With CI=true that is an error, and the command is not run.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"plaza/storage/mongodb/mongotest"
)

const (
	// exitUsage is the exit code of a wrong call, and of a command that could not be started.
	exitUsage = 2

	// exitSignal is what a shell adds to a signal's number to form the exit code of a command that
	// the signal ended.
	exitSignal = 128

	// findLimit limits the time for finding, fetching and starting MongoDB.
	findLimit = 5 * time.Minute
)

func init() { //nolint:gochecknoinits // only an init function runs on the main thread for certain
	// The kernel signals the command when the thread that started it ends (see die_linux.go).
	// Locking the thread here, in an init function, makes main run on the main thread, which lives
	// as long as the process.
	runtime.LockOSThread()
}

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withmongo:", err)
	}

	os.Exit(code)
}

// run does everything, and returns the exit code.
func run(args []string) (int, error) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}

	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return exitUsage, errors.New("usage: withmongo [--] COMMAND [ARGUMENT …]")
	}

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)

	// A killed parent cannot pass a signal on: "go run" does not when it is terminated.
	go awaitParent(signals)

	uri, temporary := os.Getenv(mongotest.EnvURI), false

	if uri == "" {
		server, err := start(signals)

		switch {
		case err == nil:
			defer stop(server)

			uri, temporary = server.URI(), true
		case errors.Is(err, mongotest.ErrUnavailable) && os.Getenv("CI") != "true":
			uri = mongotest.None

			defer warn(err) // repeat it after the command, whose output may be long
			warn(err)
		default:
			return 1, err
		}
	}

	env, remove, err := environment(uri, temporary)
	if err != nil {
		return 1, err
	}

	defer remove()

	return command(args, env, signals)
}

// environment returns the environment of the command, and what removes its temporary files.
func environment(uri string, temporary bool) (env []string, remove func(), err error) {
	env = append(os.Environ(), mongotest.EnvURI+"="+uri)
	if temporary {
		env = append(env, mongotest.EnvTemporary+"=true")
	}

	memory := mongotest.MemoryFolder()
	if memory == "" {
		return env, func() {}, nil
	}

	folder, err := os.MkdirTemp(memory, "plaza-")
	if err != nil {
		return nil, nil, fmt.Errorf("folder for temporary files: %w", err)
	}

	return append(env, "TMPDIR="+folder), func() { _ = os.RemoveAll(folder) }, nil
}

// start starts the server, unless a signal comes before it is ready.
func start(signals <-chan os.Signal) (*mongotest.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), findLimit)
	defer cancel()

	type result struct {
		server *mongotest.Server
		err    error
	}

	done := make(chan result, 1)

	go func() {
		server, err := mongotest.Start(ctx)
		done <- result{server, err}
	}()

	select {
	case r := <-done:
		return r.server, r.err
	case sig := <-signals:
		cancel()

		if r := <-done; r.err == nil {
			stop(r.server)
		}

		return nil, fmt.Errorf("%s while MongoDB was starting", sig)
	}
}

func stop(server *mongotest.Server) {
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "withmongo:", err)
	}
}

// command runs the command in an environment, and passes signals on to it and to the processes that
// it has started.
func command(args, env []string, signals <-chan os.Signal) (int, error) {
	// No context: signals end it.
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec,noctx // it runs the command in its arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = env
	dieWithParent(cmd)

	if err := cmd.Start(); err != nil {
		return exitUsage, fmt.Errorf("%s: %w", args[0], err)
	}

	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()

	for {
		select {
		case sig := <-signals:
			passOn(cmd, sig)
		case err := <-done:
			return exitCode(cmd, err)
		}
	}
}

// exitCode returns the command's own exit code, or the one that a shell returns for a command that
// a signal ended.
func exitCode(cmd *exec.Cmd, err error) (int, error) {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal()), nil
	}

	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 1, fmt.Errorf("%s: %w", cmd.Path, err)
	}

	return cmd.ProcessState.ExitCode(), nil
}

// warn prints a conspicuous warning that there is no MongoDB.
func warn(err error) {
	line := strings.Repeat("*", 80)

	fmt.Fprintf(os.Stderr, "%s\n*** THERE IS NO MONGODB: the tests that need it are SKIPPED.\n"+
		"*** Install mongod, or point %s to a replica set.\n*** %v\n%s\n", line, mongotest.EnvURI, err, line)
}
