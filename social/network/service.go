package network

import (
	"context"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/people"
)

// Service is the domain: every write goes through it, and every read through a Viewer that it
// creates. What changes accounts is in package accounts.
type Service struct {
	*accounts.Service
	store    social.Store
	now      func() time.Time
	newID    func() id.ID
	givenID  func() id.ID // for a post, comment, follow, block or mute; zero: the store assigns one
	maxDepth int
	cache    *people.Cache // nil: none
	people   people.Reader // the cache, or else the store
	hidings  hidings
	reviews  Reviews
}

// Options configure a Service; the zero value is ready for use.
type Options struct {
	Now func() time.Time // default: time.Now
	// NewID creates all ids, which contain the creation time; set it to create data in the past.
	// Default: new ids of the time that Now returns; posts, comments, follows, blocks and mutes then
	// get their ids from the store, in commit order.
	NewID    func() id.ID
	MaxDepth int // levels of a thread; default: DefaultMaxDepth

	Reviews Reviews // of what is published; default: none

	// CacheSize is how many bytes of users, relations and sessions are kept in memory; default:
	// none are.
	CacheSize int64

	Accounts accounts.Options // Now and NewID are those above
}

// New creates the domain's service over a store.
func New(store social.Store, o Options) *Service {
	s := &Service{store: store, now: o.Now, newID: o.NewID, givenID: o.NewID, maxDepth: o.MaxDepth, reviews: o.Reviews}
	s.people = people.Uncached(store)
	if o.CacheSize > 0 {
		s.cache = people.New(store, o.CacheSize)
		s.people = s.cache
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.newID == nil {
		s.newID = func() id.ID { return id.At(s.now()) }
		s.givenID = func() id.ID { return id.ID{} }
	}
	if s.maxDepth <= 0 {
		s.maxDepth = social.DefaultMaxDepth
	}
	o.Accounts.Now, o.Accounts.NewID = s.now, s.newID
	s.Service = accounts.New(store, s.people, o.Accounts)
	return s
}

// Relations reads relations between users, from the cache if there is one. It hides none: see
// Viewer.Relations for what one user knows of others.
func (s *Service) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	return s.people.Relations(ctx, pairs)
}

// CacheStats returns the counts of the service's cache; zero if it has none.
func (s *Service) CacheStats() people.Stats {
	if s.cache == nil {
		return people.Stats{}
	}
	return s.cache.Stats()
}

// event creates an event of a kind by an actor; the caller adds the objects.
func (s *Service) event(kind social.EventKind, actor social.UserID) social.Event {
	return social.Event{ID: social.EventID{ID: s.newID()}, Kind: kind, Actor: actor}
}
