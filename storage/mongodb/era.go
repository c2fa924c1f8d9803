package mongodb

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// era is how a server works for as long as no setting changes. Each call belongs to the era in which it began, and does as
// that has it to its end; a setting goes on only when the calls of older eras have ended on all servers (member).
type era struct {
	generations map[string]int // of the settings, by their names
	threads     homes
	feeds       feedsInUse
	calls       sync.WaitGroup
	ended       bool // its calls have outlived the server's lease, and must not write; member.mu guards it
}

// homes is where threads lie.
type homes struct {
	read   threads            // what is read; and where a thread lies whose post does not say anything else
	moving map[string]threads // while threads are moved: the two layouts that posts may name
	marks  []string           // what new posts say
}

// newEra reads the settings' documents.
func (s *Store) newEra(settings map[string]*settingDoc) (*era, error) {
	e := &era{generations: map[string]int{}}
	for name, d := range settings {
		e.generations[name] = d.Generation
	}
	comments := settings[commentsSetting().name]
	for _, layout := range comments.layouts() {
		if s.threadLayouts[layout] == nil {
			return nil, fmt.Errorf("this Plaza does not know the layout %q of comments: run a newer one", layout)
		}
	}
	e.threads.read = s.threadLayouts[comments.Value]
	if m := comments.Move; m != nil {
		e.threads.moving = map[string]threads{m.From: s.threadLayouts[m.From], m.To: s.threadLayouts[m.To]}
		if m.keepsBoth() {
			e.threads.marks = []string{m.From, m.To}
		}
	}
	feeds := settings[feedsSetting().name]
	for _, layout := range feeds.layouts() {
		if s.feedLayouts[layout] == nil {
			return nil, fmt.Errorf("this Plaza does not know the layout %q of feeds: run a newer one", layout)
		}
	}
	e.feeds = s.newFeedsInUse(feeds)
	return e, nil
}

func (s *Store) newFeedsInUse(d *settingDoc) feedsInUse {
	read := s.feedLayouts[d.Value]
	all := feedsInUse{read: read, kept: []feeds{read}}
	if m := d.Move; m != nil && m.keepsBoth() {
		for _, layout := range d.layouts() {
			if layout != d.Value {
				all.kept = append(all.kept, s.feedLayouts[layout])
			}
		}
	}
	return all
}

// indexes are those of all layouts that are in use.
func (h homes) indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := h.read.indexes()
	for _, t := range h.moving {
		maps.Copy(all, t.indexes())
	}
	return all
}

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
