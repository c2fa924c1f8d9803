package measure

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Meter reads the CPU time that this process and mongod have used so far.
type Meter struct {
	admin    *mongo.Database // nil: no mongod is measured
	overhead Reading         // of one reading
}

// Reading is the resource usage of both since they were started.
type Reading struct {
	Server, Mongod time.Duration
	Read           int64 // bytes that mongod has read into its cache
}

// NewMeter creates a meter for the mongod that a client is connected to, local or remote. Its
// errors are those of Read. Without a client it measures only this process.
func NewMeter(ctx context.Context, client *mongo.Client) (*Meter, error) {
	m := &Meter{}
	if client != nil {
		m.admin = client.Database("admin")
	}
	err := m.calibrate(ctx)
	return m, err
}

// calibrate measures the cost of a reading, which is part of every sample.
func (m *Meter) calibrate(ctx context.Context) error {
	const times = 50
	first, err := m.Read(ctx)
	last := first
	for range times {
		if err == nil {
			last, err = m.Read(ctx)
		}
	}
	m.overhead = Reading{Server: (last.Server - first.Server) / times, Mongod: (last.Mongod - first.Mongod) / times}
	return err
}

// between returns the usage between two readings.
func (m *Meter) between(before, after Reading) Reading {
	return Reading{
		Server: max(0, after.Server-before.Server-m.overhead.Server), Mongod: max(0, after.Mongod-before.Mongod-m.overhead.Mongod),
		Read: after.Read - before.Read,
	}
}

// flush makes mongod write its memory to its files, so that later calls do not pay for earlier
// work. It needs the right to fsync.
func (m *Meter) flush(ctx context.Context) error {
	if m.admin == nil {
		return nil
	}
	return m.admin.RunCommand(ctx, bson.D{{Key: "fsync", Value: 1}}).Err()
}

// serverStatus is mongod's status. mongod takes its CPU time from getrusage, in microseconds,
// because /proc only counts ticks of 10 ms.
type serverStatus struct {
	Version string `bson:"version"`
	Extra   struct {
		User   int64 `bson:"user_time_us"`
		System int64 `bson:"system_time_us"`
	} `bson:"extra_info"`
	WiredTiger struct {
		Cache struct {
			Read    int64 `bson:"bytes read into cache"`
			Maximum int64 `bson:"maximum bytes configured"`
		} `bson:"cache"`
	} `bson:"wiredTiger"`
}

var askStatus = bson.D{
	{Key: "serverStatus", Value: 1},
	{Key: "repl", Value: 0},
	{Key: "metrics", Value: 0},
	{Key: "locks", Value: 0},
	{Key: "transactions", Value: 0},
	{Key: "opLatencies", Value: 0},
	{Key: "connections", Value: 0},
	{Key: "network", Value: 0},
	{Key: "sharding", Value: 0},
	{Key: "logicalSessionRecordCache", Value: 0},
	{Key: "twoPhaseCommitCoordinator", Value: 0},
	{Key: "tcmalloc", Value: 0},
}

func (m *Meter) status(ctx context.Context) (s serverStatus, err error) {
	err = m.admin.RunCommand(ctx, askStatus).Decode(&s)
	return s, err
}

// Version returns mongod's version; "" if mongod does not answer.
func (m *Meter) Version(ctx context.Context) string {
	s, _ := m.status(ctx)
	return s.Version
}

// CacheSize returns the maximum size of mongod's cache in bytes.
func (m *Meter) CacheSize(ctx context.Context) (int64, error) {
	s, err := m.status(ctx)
	return s.WiredTiger.Cache.Maximum, err
}

// Read reads the usage of both. It fails if one of them is not available: mongod reports its CPU
// time only on Linux.
func (m *Meter) Read(ctx context.Context) (Reading, error) {
	if m.admin == nil {
		own, err := ownCPU()
		return Reading{Server: own}, err
	}
	s, err := m.status(ctx)
	if err != nil {
		return Reading{}, err
	}
	if s.Extra.User+s.Extra.System == 0 {
		return Reading{}, errors.New("this mongod does not report how much CPU time it has used: only mongod on Linux does")
	}
	own, err := ownCPU()
	return Reading{
		Server: own, Mongod: time.Duration(s.Extra.User+s.Extra.System) * time.Microsecond, Read: s.WiredTiger.Cache.Read,
	}, err
}
