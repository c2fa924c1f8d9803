package mongodb

import (
	"context"
	"fmt"
	"sync"
)

// era is how a server works for as long as no setting changes. Each call belongs to the era in which it began, and does as
// that has it to its end; a setting goes on only when the calls of older eras have ended on all servers (member).
type era struct {
	generations map[string]int // of the settings, by their names
	threads     threadsInUse
	feeds       feedsInUse
	calls       sync.WaitGroup
	ended       bool // its calls have outlived the server's lease, and must not write; member.mu guards it
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
	e.threads = s.newThreadsInUse(comments)
	feeds := settings[feedsSetting().name]
	for _, layout := range feeds.layouts() {
		if s.feedLayouts[layout] == nil {
			return nil, fmt.Errorf("this Plaza does not know the layout %q of feeds: run a newer one", layout)
		}
	}
	e.feeds = s.newFeedsInUse(feeds)
	return e, nil
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
