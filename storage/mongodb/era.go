package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// era is how a server works while neither a setting nor the written versions of documents change. Each call belongs to the
// era in which it began. A change goes on to its next step only when the calls of older eras have ended on all servers
// (member).
type era struct {
	member      *member
	generations map[string]int    // of the settings, by their names
	layouts     map[string]string // that are read, by the settings' names
	written     versions          // calls write documents of these versions, or, of a later era, newer ones
	threads     threadsInUse
	feeds       feedsInUse
	graph       graphInUse
	calls       sync.WaitGroup
	ended       bool // its calls have outlived the server's lease, and must not write; member.mu guards it
}

// newEra is the era of these settings and written versions.
func (s *Store) newEra(settings map[string]*settingDoc, written versions) (*era, error) {
	e := &era{member: s.member, generations: map[string]int{}, layouts: map[string]string{}, written: written}
	for name, d := range settings {
		e.generations[name], e.layouts[name] = d.Generation, d.Value
	}
	comments, feeds, graph := settings[commentsSetting().name], settings[feedsSetting().name], settings[graphSetting().name]
	err := errors.Join(checkKnown(s.threadLayouts, comments), checkKnown(s.feedLayouts, feeds), checkKnown(s.graphLayouts, graph))
	if err != nil {
		return nil, err
	}
	e.threads, e.feeds, e.graph = s.newThreadsInUse(comments), s.newFeedsInUse(feeds), s.newGraphInUse(graph)
	return e, nil
}

// checkKnown says whether there are all layouts that a setting names.
func checkKnown[L any](known map[string]L, d *settingDoc) error {
	for _, layout := range d.layouts() {
		if _, ok := known[layout]; !ok {
			return fmt.Errorf("this Plaza does not know the layout %q of %s: run a newer one", layout, d.Name)
		}
	}
	return nil
}

// differs says whether calls of the two eras work differently.
func (e *era) differs(other *era) bool {
	return !maps.Equal(e.generations, other.generations) || !maps.Equal(e.written, other.written)
}

// MayRead implements mdb.Call.
func (e *era) MayRead() error { return e.member.mayRead(e) }

// MayWrite implements mdb.Call.
func (e *era) MayWrite() error { return e.member.mayWrite(e) }

// Leave implements mdb.Call.
func (e *era) Leave() { e.calls.Done() }

type eraKey struct{}

// inEra makes calls under ctx belong to an era.
func inEra(ctx context.Context, e *era) context.Context { return context.WithValue(ctx, eraKey{}, e) }

// era is the era that a call belongs to.
func (s *Store) era(ctx context.Context) *era {
	if e, ok := ctx.Value(eraKey{}).(*era); ok {
		return e
	}
	return s.member.now()
}
