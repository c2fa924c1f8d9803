package cluster

import (
	"context"
	"time"

	"plaza/storage/mongodb/internal/wait"
)

// A server that is killed in the middle of a transaction leaves it open, and MongoDB keeps it open
// for a minute: until then nobody else can change what it has changed. So every server watches the
// others, and ends the transactions of one that is silent. A server that was only slow loses
// nothing by that: it runs its transactions again.

// watch is what a server knows of another one.
type watch struct {
	at    time.Time     // the other's last heartbeat
	quiet time.Duration // since then, as far as this server's own heartbeats came
	ended bool          // since then its transactions were ended
	told  bool          // since then the log has said why they could not be
}

// watches are those of one server, by the id of the other. All times are the database's.
type watches struct {
	own    time.Time // this server's last heartbeat
	others map[string]*watch
}

// look takes note of all heartbeats. Between two looks a server counts as silent for as long as
// this one's heartbeats went on, and at most for most: when the database stalls for every server,
// none of them counts as silent.
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

// guard ends the transactions of servers that fall silent, until ctx ends.
func (m *Member[L]) guard(ctx context.Context) {
	var w watches
	for ctx.Err() == nil {
		wait.For(ctx, m.lookEvery(), nil)
		m.endSilent(ctx, &w)
	}
}

// lookEvery is the pause between two looks at the others: short next to half a lease, and no
// shorter than a heartbeat.
func (m *Member[L]) lookEvery() time.Duration { return max(m.Heartbeat, m.lease/16) }

// endSilent ends the transactions of those that have been silent for half a lease, each once. What
// fails is tried again at the next look.
func (m *Member[L]) endSilent(ctx context.Context, w *watches) {
	ctx, cancel := context.WithTimeout(ctx, m.lease/2)
	defer cancel()
	all, err := m.Servers(ctx)
	if err != nil {
		return // the heartbeat says why
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
			logger.WarnContext(ctx, "a server has fallen silent, and its transactions cannot be ended: "+
				"what they have changed is locked until MongoDB gives them up", "error", err)
		case n > 0:
			logger.WarnContext(ctx, "a server has fallen silent, and its transactions were ended", "transactions", n)
		}
	}
}
