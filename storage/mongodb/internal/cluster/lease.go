package cluster

import (
	"context"
	"time"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

const (
	// ElectionTime is how long a call waits for a primary or for the next heartbeat. Including the
	// time to abort its transaction, a call fails within 5 s if there is no primary.
	ElectionTime = 4 * time.Second
	// leaveTimeout bounds the wait for calls to end.
	leaveTimeout = 5 * time.Second
	// lostTimeout bounds the sign-off from a database that does not answer.
	lostTimeout = 500 * time.Millisecond
)

// AwaitWrites waits until the server may write, so a short stall of the database delays calls
// instead of failing them. It returns mdb.ErrLeaseOver if the lease is not renewed within
// ElectionTime or the store is closed, and social.ErrNoRoom if the last heartbeat found the
// database's disk full.
func (m *Member[L]) AwaitWrites(ctx context.Context) error {
	if m.full.Load() {
		return social.ErrNoRoom
	}
	return m.await(ctx, &m.writesUntil)
}

// AwaitReads waits until the server may read. It returns mdb.ErrLeaseOver like AwaitWrites.
func (m *Member[L]) AwaitReads(ctx context.Context) error { return m.await(ctx, &m.readsUntil) }

func (m *Member[L]) await(ctx context.Context, until *time.Time) error {
	ready, renewed := m.isReady(until)
	if ready {
		return nil
	}
	m.Hurry()
	ctx, cancel := context.WithTimeout(ctx, ElectionTime)
	defer cancel()
	for !ready && renewed != nil {
		select {
		case <-renewed:
			ready, renewed = m.isReady(until)
		case <-ctx.Done():
			renewed = nil
		}
	}
	if !ready {
		return mdb.ErrLeaseOver
	}
	return nil
}

// isReady reports whether a lease is valid, and returns a channel that the next successful
// heartbeat closes. The channel is nil if the store is closed.
func (m *Member[L]) isReady(until *time.Time) (ready bool, renewed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left {
		return false, nil
	}
	return !isOver(*until), m.renewed
}

// MayWrite returns mdb.ErrLeaseOver if calls of the era must not write any more.
func (m *Member[L]) MayWrite(e *Era[L]) error { return m.may(e, &m.writesUntil) }

// mayRead returns mdb.ErrLeaseOver if what a call of the era has read may be out of date. A server
// that can look for changed settings may read, even if it can't write a heartbeat.
func (m *Member[L]) mayRead(e *Era[L]) error { return m.may(e, &m.readsUntil) }

func (m *Member[L]) may(e *Era[L], until *time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.ended || isOver(*until) {
		return mdb.ErrLeaseOver
	}
	return nil
}

// isOver reports whether a time has passed, by the monotonic clock or the wall clock. It needs both
// because the monotonic clock stops while a machine is suspended, and the other servers miss its
// heartbeats during that time.
func isOver(until time.Time) bool {
	now := time.Now()
	return now.After(until) || now.Round(0).After(until.Round(0))
}
