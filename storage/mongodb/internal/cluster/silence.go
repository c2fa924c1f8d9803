package cluster

import (
	"context"
	"time"

	"plaza/storage/mongodb/internal/wait"
)

// A server that is killed during a transaction leaves it open, and MongoDB keeps it open for a
// minute. Until then no other server can change the same documents. So every server watches the
// others' heartbeats, and ends the transactions of a server whose heartbeats are missing. A server
// that was only slow loses nothing: it retries its transactions.

// watch is what a server has observed of another one.
type watch struct {
	at    time.Time     // the other's last heartbeat
	quiet time.Duration // the time since then in which this server's own heartbeats arrived
	ended bool          // its transactions were ended since then
	told  bool          // a failure to end them was logged since then
}

// watches holds what one server has observed of the others, by id. All times are the database's.
type watches struct {
	own    time.Time // this server's last heartbeat
	others map[string]*watch
}

// look records all heartbeats. Between two looks, a server counts as silent only for the time that
// this server's own heartbeats covered, and at most for most. So no server counts as silent when
// the database stalls for all of them.
func (w *watches) look(all []Server, self string, most time.Duration) {
	var passed time.Duration
	for _, d := range all {
		if d.ID == self {
			passed, w.own = min(d.At.Sub(w.own), most), d.At
		}
	}
	before := w.others
	w.others = make(map[string]*watch, len(all))
	for _, d := range all {
		known := before[d.ID]
		if known == nil || !known.at.Equal(d.At) {
			known = &watch{at: d.At, quiet: -passed}
		}
		known.quiet += passed
		w.others[d.ID] = known
	}
}

// guard ends the transactions of servers whose heartbeats are missing, until ctx ends.
func (m *Member[L]) guard(ctx context.Context) {
	var w watches
	for ctx.Err() == nil {
		wait.For(ctx, m.lookEvery(), nil)
		m.endSilent(ctx, &w)
	}
}

// lookEvery is the pause between two looks at the others: short compared with half a lease, but not
// shorter than a heartbeat.
func (m *Member[L]) lookEvery() time.Duration { return max(m.Heartbeat, m.lease/16) }

// endSilent ends, once, the transactions of each server that has been silent for half a lease. If
// that fails, it tries again at the next look.
func (m *Member[L]) endSilent(ctx context.Context, w *watches) {
	ctx, cancel := context.WithTimeout(ctx, m.lease/2)
	defer cancel()
	all, err := m.Servers(ctx)
	if err != nil {
		return // the heartbeat logs the reason
	}
	w.look(all, m.ID, 2*m.lookEvery())
	for i := range all {
		known := w.others[all[i].ID]
		if known.ended || known.quiet < m.lease/2 || all[i].ID == m.ID {
			continue
		}
		n, err := m.EndTransactions(ctx, &all[i])
		known.ended = err == nil
		logger := m.logger.With("server", all[i].Process)
		switch {
		case err != nil && !known.told && ctx.Err() == nil:
			known.told = true
			logger.WarnContext(ctx, "a server sends no heartbeats, and its transactions cannot be ended: "+
				"what they have changed is locked until MongoDB gives them up", "error", err)
		case n > 0:
			logger.WarnContext(ctx, "a server sends no heartbeats, so its transactions were ended", "transactions", n)
		}
	}
}
