package evolution

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// Server is this server's membership in the cluster: a cluster.Member.
type Server interface {
	TakeTurn(ctx context.Context, name string, waiting func(process string)) (holder *cluster.Server, err error)
	EndTurn(ctx context.Context, name string) error
	Servers(ctx context.Context) ([]cluster.Server, error)
	ServersBefore(ctx context.Context, v cluster.Versions, of func(*cluster.Server) cluster.Versions) (older []string, err error)
	Written() cluster.Versions
}

// Config is what the evolution of documents needs from the rest of the engine.
type Config struct {
	Database *mongo.Database
	DB       *mdb.DB
	Settings *mongo.Collection
	Self     string // the id of this server
	Server   Server
	Upgrades map[string]mdb.Upgrade // for all collections that have had several versions
	// Upgraded is called with the versions that all documents have reached.
	Upgraded func(context.Context, cluster.Versions) error
	// Every is the interval at which the background upgrade looks for something to do.
	Every  time.Duration
	Logger *slog.Logger
}

// Documents upgrades the documents of a database.
type Documents struct{ c Config }

// New returns the upgrader of a database's documents.
func New(c Config) *Documents { return &Documents{c} }

// order returns the collections, beginning with users, because a search by name misses older ones.
func (d *Documents) order() []string {
	return append([]string{"users"}, slices.DeleteFunc(d.names(), func(name string) bool { return name == "users" })...)
}

// names returns the collections that have had several versions.
func (d *Documents) names() []string { return slices.Sorted(maps.Keys(d.c.Upgrades)) }
