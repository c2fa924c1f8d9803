package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// commonFlags are the flags of all commands: which database, and what to log.
type commonFlags struct {
	Data       string           `help:"Folder of the embedded database; created if missing." env:"PLAZA_DATA" default:"plaza-data" type:"path" placeholder:"DIR"`
	MongodbURI uriFlag          `help:"Store in MongoDB (a replica set) instead of the embedded database: mongodb://host/database." env:"PLAZA_MONGODB_URI" name:"mongodb-uri" placeholder:"URI"`
	Comments   string           `help:"How MongoDB stores comment threads: documents, embedded, pages or adaptive. The first server records it in the database. Default: the recorded layout; documents for a new database." env:"PLAZA_COMMENTS" placeholder:"LAYOUT"`
	Feeds      string           `help:"How MongoDB stores news feeds and walls: read, cache, hybrid, bucket or month. The first server records it in the database. Default: the recorded layout; read for a new database." env:"PLAZA_FEEDS" placeholder:"LAYOUT"`
	Graph      string           `help:"How MongoDB stores followers: reverse or two (for sharded clusters). The first server records it in the database. Default: the recorded layout; reverse for a new database." env:"PLAZA_GRAPH" placeholder:"LAYOUT"`
	MergeAbove countFlag        `help:"With --feeds=hybrid: the number of followers above which an author's posts are merged into feeds on read." env:"PLAZA_FEEDS_MERGE_ABOVE" name:"feeds-merge-above" default:"10000" placeholder:"N"`
	Version    kong.VersionFlag `help:"Print the version, the commit and the Go version, and exit."`
	LogLevel   string           `help:"Minimum log level: debug, info, warn or error." env:"PLAZA_LOG_LEVEL" default:"info" enum:"debug,info,warn,error"`
	AuditLog   string           `help:"Whether to log sign-ins, and changes of accounts, passwords, sessions, tokens and rights: on, off, or auto (servers do, commands that open the database themselves do not)." env:"PLAZA_AUDIT_LOG" name:"audit-log" default:"auto" enum:"auto,on,off"`

	Heartbeat       time.Duration `help:"How often a server on MongoDB sends a heartbeat." env:"PLAZA_HEARTBEAT" hidden:""`
	Lease           time.Duration `help:"How long a server on MongoDB keeps its lease without a heartbeat." env:"PLAZA_LEASE" hidden:""`
	TransactionLife time.Duration `help:"MongoDB's transactionLifetimeLimitSeconds." env:"PLAZA_TRANSACTION_LIFE" hidden:""`

	console  console     `kong:"-"`
	Outdated func(error) `kong:"-"` // called when the database was upgraded beyond this Plaza; see mongodb.Options
}

// uriFlag names a MongoDB database. An empty value is rejected: otherwise a deployment that has
// lost its secret would start an empty community on SQLite.
type uriFlag string

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *uriFlag) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("must not be empty: name a MongoDB database, or remove the setting to use the embedded database")
	}
	*u = uriFlag(text)
	return nil
}

// countFlag is a number from 1.
type countFlag int

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *countFlag) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("must be a number from 1 to %d: %q is not", math.MaxInt32, text)
	}
	*f = countFlag(n)
	return nil
}

// warnings returns the logger of commands other than serve: it only logs warnings and errors.
func (c *commonFlags) warnings() *slog.Logger {
	if c.LogLevel == "error" {
		return newLogger("error")
	}
	return newLogger("warn")
}

func newLogger(level string) *slog.Logger {
	var minimum slog.Level
	_ = minimum.UnmarshalText([]byte(level)) // kong has checked it against the enum
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{Level: minimum, TimeFormat: time.TimeOnly}))
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: minimum}))
}
