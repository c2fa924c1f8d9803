package live

import (
	"sync"
)

// registry holds the subscriptions of a server.
type registry struct {
	mu     sync.Mutex
	closed bool
	all    map[*Subscription]struct{}
	topics map[topic]map[*Subscription]struct{}
}

func newRegistry() *registry {
	return &registry{all: map[*Subscription]struct{}{}, topics: map[topic]map[*Subscription]struct{}{}}
}

// add returns false if the registry is closed.
func (r *registry) add(s *Subscription) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.all[s] = struct{}{}
	for _, about := range s.topics {
		if r.topics[about] == nil {
			r.topics[about] = map[*Subscription]struct{}{}
		}
		r.topics[about][s] = struct{}{}
	}
	return true
}

func (r *registry) remove(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, s)
	for _, about := range s.topics {
		delete(r.topics[about], s)
		if len(r.topics[about]) == 0 {
			delete(r.topics, about)
		}
	}
}

// subscribers returns the subscriptions to a topic.
func (r *registry) subscribers(about topic) []*Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	subscriptions := make([]*Subscription, 0, len(r.topics[about]))
	for s := range r.topics[about] {
		subscriptions = append(subscriptions, s)
	}
	return subscriptions
}

// matching returns the subscriptions to any topic that match.
func (r *registry) matching(match func(*Subscription) bool) []*Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*Subscription
	for s := range r.all {
		if match(s) {
			found = append(found, s)
		}
	}
	return found
}

func everyone(*Subscription) bool { return true }

// close makes the registry reject new subscriptions.
func (r *registry) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
