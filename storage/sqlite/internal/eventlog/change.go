package eventlog

import (
	"sync"

	"plaza/social"
)

// changesKept is how many changes are remembered. A reader that has missed more forgets everything
// that it has cached.
const changesKept = 1024

// changes remembers the newest changes. Only one process at a time has the file open, so they are
// all that its readers can have missed.
type changes struct {
	mu     sync.Mutex
	count  int64 // of all changes so far
	latest []social.Change
}

// add remembers a change. It is called before the call that made it returns.
func (l *changes) add(c social.Change) {
	if c.IsEmpty() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	if l.latest = append(l.latest, c.Bounded()); len(l.latest) >= 2*changesKept {
		l.latest = append([]social.Change(nil), l.latest[changesKept:]...)
	}
}

// since returns the changes after a position, and the position now.
func (l *changes) since(position social.ChangePosition) ([]social.Change, social.ChangePosition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := social.ChangePosition{l.count}
	if len(position) != 1 || l.count-position[0] > int64(len(l.latest)) {
		return []social.Change{{All: true}}, now
	}
	return l.latest[int64(len(l.latest))-(l.count-position[0]):], now
}
