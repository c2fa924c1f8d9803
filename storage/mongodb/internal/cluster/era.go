package cluster

import (
	"context"
	"maps"
	"sync"
)

// Era is how a server works while neither a setting nor the written versions of documents change.
// Each call belongs to the era in which it began. A change goes on to its next step only when the
// calls of older eras have ended on all servers (member).
type Era[L any] struct {
	member      *Member[L]
	Generations map[string]int    // of the settings, by their names
	Layouts     map[string]string // that are read, by the settings' names
	written     Versions          // calls write documents of these versions, or, of a later era, newer ones
	InUse       L                 // what the settings mean to calls
	calls       sync.WaitGroup
	ended       bool // its calls have outlived the server's lease, and must not write; member.mu guards it
}

// NewEra is the era of these settings and written versions.
func (m *Member[L]) NewEra(settings map[string]*Setting, written Versions) (e *Era[L], err error) {
	e = &Era[L]{member: m, Generations: map[string]int{}, Layouts: map[string]string{}, written: written}
	for name, d := range settings {
		e.Generations[name], e.Layouts[name] = d.Generation, d.Value
	}
	e.InUse, err = m.use(settings)
	return e, err
}

// differs says whether calls of the two eras work differently.
func (e *Era[L]) differs(other *Era[L]) bool {
	return !maps.Equal(e.Generations, other.Generations) || !maps.Equal(e.written, other.written)
}

// MayRead implements mdb.Call.
func (e *Era[L]) MayRead() error { return e.member.mayRead(e) }

// MayWrite implements mdb.Call.
func (e *Era[L]) MayWrite() error { return e.member.MayWrite(e) }

// Leave implements mdb.Call.
func (e *Era[L]) Leave() { e.calls.Done() }

type eraKey struct{}

// Context makes calls under it belong to the era.
func (e *Era[L]) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, eraKey{}, e)
}

// Era is the era that a call belongs to; outside of calls, the current one.
func (m *Member[L]) Era(ctx context.Context) *Era[L] {
	if e, ok := ctx.Value(eraKey{}).(*Era[L]); ok {
		return e
	}
	return m.Now()
}
