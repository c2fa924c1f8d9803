package cluster

import (
	"sync/atomic"
	"time"
)

// Clock shows the database's time, which all servers share. The clock of a server's machine may be
// wrong, but servers compare times that other servers have stored, such as the ends of leases,
// sessions and polls. Before the first heartbeat it shows the machine's time.
type Clock struct {
	machine func() time.Time
	ahead   atomic.Int64 // how far the database is ahead of the machine, in nanoseconds
}

// NewClock returns a clock for a machine whose own clock is given.
func NewClock(machine func() time.Time) *Clock { return &Clock{machine: machine} }

// Now returns the database's time, as heartbeats have found it.
func (c *Clock) Now() time.Time { return c.machine().Add(c.Ahead()) }

// Ahead returns how far the database is ahead of the machine; below zero: behind it. It is zero as
// long as heartbeats show no difference.
func (c *Clock) Ahead() time.Duration { return time.Duration(c.ahead.Load()) }

// learn takes the database's time, in whole milliseconds, of a moment between two times of the
// machine. It changes the difference only as far as these require: a slow answer tells little, and
// must not spoil what a fast one has shown.
func (c *Clock) learn(database, began, ended time.Time) {
	least, most := database.Sub(ended.Round(0)), database.Add(time.Millisecond).Sub(began.Round(0))
	c.ahead.Store(int64(min(max(c.Ahead(), least), most)))
}
