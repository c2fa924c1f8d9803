package cluster

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// Config describes a server, and what it works with.
type Config[L any] struct {
	Client   *mongo.Client
	Primary  *mdb.Primary // of the client's deployment
	Database string
	Self     string // the server's id
	Routed   bool   // the client is connected to a mongos
	Clock    *Clock // which the heartbeats set
	Jobs     mdb.Jobs
	Edition  Edition
	Settings []string // the names of what servers have to agree on
	// Use converts settings to what calls work with. It returns an error for settings that this
	// server does not know.
	Use func(settings map[string]*Setting) (L, error)

	Timeout         time.Duration // of a call
	Heartbeat       time.Duration
	Lease           time.Duration // how long the server works without a heartbeat
	TransactionLife time.Duration // the database's transactionLifetimeLimitSeconds
	Logger          *slog.Logger  // optional
	Outdated        func(error)   // called when the server is too old for the database; optional
}

// New returns a server that has not joined the others yet. It sends nothing.
func New[L any](c Config[L]) *Member[L] {
	host, _ := os.Hostname() // only shown to operators
	db := c.Client.Database(c.Database)
	m := &Member[L]{
		roster: &roster{
			client: c.Client, collection: db.Collection("servers"), settings: db.Collection("settings"), names: c.Settings, Edition: c.Edition,
			ID: c.Self, process: fmt.Sprintf("%s, process %d", host, os.Getpid()),
			Heartbeat: c.Heartbeat, lease: c.Lease, timeout: c.Timeout, transactionLife: c.TransactionLife, Routed: c.Routed,
			changed: make(chan struct{}, 1),
		},
		clock: c.Clock, use: c.Use, renewed: make(chan struct{}), logger: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)), outdated: c.Outdated,
	}
	m.DB = mdb.NewDB(m.settings, c.Timeout, m, c.Jobs, c.Primary)
	return m
}
