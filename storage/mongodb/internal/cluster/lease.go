package cluster

import (
	"context"
	"time"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

const (
	// ElectionTime is how long a call waits for a primary, or for the next heartbeat. With the time
	// that it takes to give up a transaction that was under way, a call without a primary fails
	// within 5 s.
	ElectionTime = 4 * time.Second
	// leaveTimeout bounds the wait for calls under way.
	leaveTimeout = 5 * time.Second
	// lostTimeout bounds the sign-off from a database that does not answer.
	lostTimeout = 500 * time.Millisecond
)

// AwaitWrites waits until the server may write: a database that has stalled delays a call, and does
// not fail it. mdb.ErrLeaseOver: no heartbeat has succeeded for ElectionTime, or the store is
// closed. social.ErrNoRoom: the heartbeats find the database's disk full.
func (m *Member[L]) AwaitWrites(ctx context.Context) error {
	if m.full.Load() {
		return social.ErrNoRoom
	}
	return m.await(ctx, &m.writesUntil)
}

// AwaitReads does the same for reads.
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

// isReady says whether a lease lasts, or else what is closed when it may: nil once the store is
// closed.
func (m *Member[L]) isReady(until *time.Time) (ready bool, renewed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left {
		return false, nil
	}
	return !isOver(*until), m.renewed
}

// MayWrite is mdb.ErrLeaseOver where a call of the era must not write any more.
func (m *Member[L]) MayWrite(e *Era[L]) error { return m.may(e, &m.writesUntil) }

// mayRead is mdb.ErrLeaseOver where what a call of the era has read may be out of date. A server
// that can still look for changes may read, even when it can't write a heartbeat.
func (m *Member[L]) mayRead(e *Era[L]) error { return m.may(e, &m.readsUntil) }

func (m *Member[L]) may(e *Era[L], until *time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.ended || isOver(*until) {
		return mdb.ErrLeaseOver
	}
	return nil
}

// isOver says whether a moment has passed, by the monotonic clock or by the wall's: the first
// stands still while a machine is suspended, and others see a silent server all that time.
func isOver(until time.Time) bool {
	now := time.Now()
	return now.After(until) || now.Round(0).After(until.Round(0))
}
