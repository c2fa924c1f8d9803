package mongotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/internal/testtime"
)

const (
	host       = "127.0.0.1"
	replicaSet = "plaza"

	// pollEvery is the interval between checks whether a starting server is ready.
	pollEvery = 25 * time.Millisecond

	// startAttempts is how many ports are tried. Another process may take a free port before mongod
	// does.
	startAttempts = 5
)

// errPortTaken says that another process took a port that was free a moment ago.
var errPortTaken = errors.New("the port was taken by another process")

// Server is a mongod that this process started, for tests and benchmarks: its data is in a
// temporary folder that is removed with it.
type Server struct {
	uri     string
	address string
	folder  string

	program string
	args    []string
	process *os.Process
	callOff func() // stops the watcher
	exited  chan struct{}
	exitErr error // how mongod ended; valid once exited is closed

	stop sync.Once
}

// Option changes how [Start] starts a server.
type Option func(*config)

type config struct {
	standalone bool
	member     bool // of a set, which is initiated when all members run
	args       []string
}

// WithParameter sets a parameter of the server, for example "ttlMonitorSleepSecs=1".
func WithParameter(setting string) Option {
	return func(c *config) { c.args = append(c.args, "--setParameter", setting) }
}

// WithFailPoints lets tests set fail points: see [FailCommand].
func WithFailPoints() Option { return WithParameter("enableTestCommands=1") }

// Standalone starts the server outside of any replica set: neither transactions nor change streams
// work.
func Standalone() Option {
	return func(c *config) { c.standalone = true }
}

// Start finds a mongod (see [Find]), starts it on a free port of 127.0.0.1, and returns when it
// takes writes: as the primary of a replica set of one, unless [Standalone] is given. ctx bounds
// the start ([testtime.Patience] at most), not the life of the server: that ends with
// [Server.Stop], or with this process, however it ends. The error wraps [ErrUnavailable] where
// there is no mongod.
//
// Majority writes do not wait for the disk: what they promise holds as long as the machine and the
// process live. For tests of a crash, put {"writeConcernMajorityJournalDefault": true} into the
// replica set's configuration, or write with j: true.
func Start(ctx context.Context, opts ...Option) (*Server, error) {
	var cfg config
	for _, opt := range opts {
		opt(&cfg)
	}

	program, err := Find(ctx)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, testtime.Patience())
	defer cancel()

	for range startAttempts {
		var server *Server

		server, err = start(ctx, program, cfg)
		if err == nil {
			return server, nil
		}

		if !errors.Is(err, errPortTaken) {
			break
		}
	}

	return nil, fmt.Errorf("start %s: %w", program, err)
}

// start tries it once, on one port.
func start(ctx context.Context, program string, cfg config) (*Server, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}

	folder, err := os.MkdirTemp(MemoryFolder(), "plaza-mongod-")
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}

	server := &Server{folder: folder, program: program, args: arguments(port, folder, cfg)}
	server.address = net.JoinHostPort(host, strconv.Itoa(port))
	server.uri = "mongodb://" + server.address + "/?directConnection=true"

	if err := server.launch(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}

	if err := server.prepare(ctx, cfg); err != nil {
		err = fmt.Errorf("%w%s", err, server.lastWords())

		return nil, errors.Join(err, server.Stop())
	}

	if !cfg.standalone && !cfg.member {
		server.uri = setURI(server.address)
	}

	return server, nil
}

// arguments make mongod small and fast: a small cache, and no files or threads that tests do not
// use. They change what it costs, not what it answers.
func arguments(port int, folder string, cfg config) []string {
	args := []string{
		"--dbpath", folder,
		"--port", strconv.Itoa(port),
		"--bind_ip", host,
		"--nounixsocket",
		"--logpath", logPath(folder),
		"--wiredTigerCacheSizeGB", "1.5",
		"--setParameter", "diagnosticDataCollectionEnabled=false",
		// Files of dropped databases stay open until a checkpoint after this window (seconds):
		// hundreds of tests would run out of files. Snapshot reads need some of it.
		"--setParameter", "minSnapshotHistoryWindowInSeconds=15",
		// Tests have clocks of their own. What is old by the server's clock must not vanish while
		// they run.
		"--setParameter", "ttlMonitorEnabled=false",
		"--setParameter", "wiredTigerSkipTableLoggingChecksOnStartup=true",
		"--syncdelay", "15",
		"--journalCommitInterval", "500",
		// All the data fits into the cache, and hundreds of small tables are open: background threads
		// that look at each of them cost a tenth of the server's time.
		"--wiredTigerEngineConfigString", "eviction=(threads_min=1,threads_max=1),file_manager=(close_scan_interval=60)",
		"--slowms", "10000",
	}

	if !cfg.standalone {
		// Change streams resume from the oplog: this is more than enough for a run of tests.
		args = append(args, "--replSet", replicaSet, "--oplogSize", "1024")
	}

	return slices.Concat(args, cfg.args)
}

// launch starts the process, and the watcher that ends it when this process ends.
func (s *Server) launch() error {
	// No context: the server outlives the context of its start.
	cmd := exec.Command(s.program, s.args...) //nolint:noctx
	ownGroup(cmd)

	s.exited = make(chan struct{})

	if err := cmd.Start(); err != nil {
		return fmt.Errorf("mongod: %w", err)
	}

	s.process = cmd.Process

	go s.wait(cmd)

	callOff, err := watch(cmd.Process.Pid, s.folder)
	if err != nil {
		s.kill()

		return err
	}

	s.callOff = callOff

	return nil
}

// wait is the goroutine that lives as long as mongod does.
func (s *Server) wait(cmd *exec.Cmd) {
	s.exitErr = cmd.Wait()
	close(s.exited)
}

// prepare waits until mongod answers, makes it a replica set of one if it should be one, and waits
// until it accepts writes.
func (s *Server) prepare(ctx context.Context, cfg config) error {
	client, err := mongo.Connect(options.Client().ApplyURI(s.uri).
		SetServerSelectionTimeout(testtime.Scale(time.Second)).SetConnectTimeout(testtime.Scale(time.Second)))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // the connection only served to check

	admin := client.Database("admin")

	if err := s.awaitOwn(ctx, admin); err != nil || cfg.member {
		return err
	}

	if !cfg.standalone {
		if err := initiate(ctx, admin, s.address); err != nil {
			return err
		}
	}

	return s.awaitWritable(ctx, admin)
}

// awaitWritable waits until the server accepts writes.
func (s *Server) awaitWritable(ctx context.Context, admin *mongo.Database) error {
	return s.await(ctx, func(ctx context.Context) (bool, error) {
		var hello struct {
			Writable bool `bson:"isWritablePrimary"`
		}

		err := admin.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)

		return hello.Writable, err
	})
}

// awaitOwn waits until the server answers, and checks that the answer is from our own mongod, not
// from another server on the same port.
func (s *Server) awaitOwn(ctx context.Context, admin *mongo.Database) error {
	return s.await(ctx, func(ctx context.Context) (bool, error) {
		var line struct {
			Parsed struct {
				Storage struct {
					DBPath string `bson:"dbPath"`
				} `bson:"storage"`
			} `bson:"parsed"`
		}

		err := admin.RunCommand(ctx, bson.D{{Key: "getCmdLineOpts", Value: 1}}).Decode(&line)
		if err == nil && line.Parsed.Storage.DBPath != s.folder {
			return false, errPortTaken
		}

		return err == nil, err
	})
}

// await repeats the check until it succeeds, mongod has ended, or ctx has.
func (s *Server) await(ctx context.Context, ready func(context.Context) (bool, error)) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()

	for {
		yes, err := ready(ctx)
		if yes || errors.Is(err, errPortTaken) {
			return err
		}

		select {
		case <-s.exited:
			const addressInUse = 48 // mongod's exit code if the port is in use

			var exit *exec.ExitError
			if errors.As(s.exitErr, &exit) && exit.ExitCode() == addressInUse {
				return errPortTaken
			}

			return fmt.Errorf("mongod ended: %w", s.exitErr)
		case <-ctx.Done():
			return fmt.Errorf("not ready in time: %w", errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}

// URI is the server's connection string, without a database.
func (s *Server) URI() string { return s.uri }

// Folder is the server's data folder. Its log is in there, as mongod.log.
func (s *Server) Folder() string { return s.folder }

// Exited is closed when mongod has ended, for whatever reason.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Stop ends the server and removes its folder. It may be called more than once.
func (s *Server) Stop() error {
	var err error

	s.stop.Do(func() {
		s.kill()
		s.callOff()

		err = os.RemoveAll(s.folder)
	})

	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}

	return nil
}

// Restart kills a mongod that is no member of a set, and starts it again with its data. It returns
// when the server accepts writes. What was written in the half second before, and not with j: true,
// may be lost. It must not be called concurrently with other methods.
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, testtime.Patience())
	defer cancel()

	s.kill()
	s.callOff()

	if err := s.launch(); err != nil {
		return err
	}

	client, err := mongo.Connect(options.Client().ApplyURI(s.uri).SetServerSelectionTimeout(testtime.Scale(time.Second)))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // the connection only served to check

	return s.awaitWritable(ctx, client.Database("admin"))
}

// kill kills mongod and waits for its end. An orderly shutdown is unnecessary, because its data is
// not needed any more.
func (s *Server) kill() {
	_ = s.process.Kill()

	<-s.exited
}

// lastWords returns the last lines of mongod's log, to append to an error.
func (s *Server) lastWords() string {
	const lines = 5

	log, err := os.ReadFile(logPath(s.folder))
	if err != nil || len(log) == 0 {
		return ""
	}

	all := bytes.Split(bytes.TrimSpace(log), []byte("\n"))

	return "\nmongod's log ended with:\n" + string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

func logPath(folder string) string { return filepath.Join(folder, "mongod.log") }

// freePort returns a port of 127.0.0.1 that is free at the moment.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig

	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	defer listener.Close()

	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("free port: %s is no TCP address", listener.Addr())
	}

	return address.Port, nil
}
