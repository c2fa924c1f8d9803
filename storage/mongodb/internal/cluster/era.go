package cluster

import (
	"context"
	"maps"
	"sync"
)

// Era is a period in which neither a setting nor the written versions of documents change. Each
// call belongs to the era in which it began. A change proceeds to its next step only when the calls
// of older eras have ended on all servers.
type Era[L any] struct {
	member      *Member[L]
	Generations map[string]int    // of the settings, by their names
	Layouts     map[string]string // the layouts that are read, by the names of the settings
	written     Versions          // calls write documents of these versions; those of later eras may write newer ones
	InUse       L                 // what the settings mean to calls
	calls       sync.WaitGroup
	ended       bool // its calls have outlived the server's lease, and must not write; member.mu guards it
}

// NewEra returns the era of these settings and written versions.
func (m *Member[L]) NewEra(settings map[string]*Setting, written Versions) (e *Era[L], err error) {
	e = &Era[L]{member: m, Generations: map[string]int{}, Layouts: map[string]string{}, written: written}
	for name, d := range settings {
		e.Generations[name], e.Layouts[name] = d.Generation, d.Value
	}
	e.InUse, err = m.use(settings)
	return e, err
}

// differs reports whether calls of the two eras work differently.
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

// Context returns a context whose calls belong to the era.
func (e *Era[L]) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, eraKey{}, e)
}

// Era returns the era that a call belongs to, or outside of calls the current one.
func (m *Member[L]) Era(ctx context.Context) *Era[L] {
	if e, ok := ctx.Value(eraKey{}).(*Era[L]); ok {
		return e
	}
	return m.Now()
}
