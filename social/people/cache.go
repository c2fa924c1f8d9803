package people

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"plaza/social"
	"plaza/social/cache"
)

// Store is what a Cache needs from a storage engine.
type Store interface {
	Source
	social.ChangeLog
}

// Cache is a Reader that keeps people in memory. What it returns is not older than what the store
// would return, and must not be changed. People and Users never return from memory a user who is
// hidden from the viewer or absent: both take the same read. It is safe for concurrent use.
type Cache struct {
	store  Store
	memory *cache.Cache[cacheKey, entry]

	users, relations, sessions lookups
}

// entry is a user, a relation, a session or an identity; the others are nil.
type entry struct {
	user     *social.User
	relation *social.Relation
	session  *social.Session
	identity *social.Identity
}

// cacheKey is a user (a), a viewer and another user (a, b), or the hash of a session's token or the
// key of an identity (a and b).
type cacheKey struct {
	of   byte
	a, b [16]byte
}

func userKey(user social.UserID) cacheKey { return cacheKey{of: 'u', a: user.ID} }

func pairKey(p social.Pair) cacheKey { return cacheKey{of: 'r', a: p.Viewer.ID, b: p.Other.ID} }

func sessionKey(hash [32]byte) cacheKey {
	return cacheKey{of: 's', a: [16]byte(hash[:16]), b: [16]byte(hash[16:])}
}

func identityKey(key [32]byte) cacheKey {
	k := sessionKey(key)
	k.of = 'i'
	return k
}

// weigh returns what the texts and circles of an entry take, in bytes.
func weigh(e entry) (size int) {
	if e.user != nil {
		size += len(e.user.Handle) + len(e.user.Name) + len(e.user.Bio) + len(e.user.AvatarURL)
	}
	if e.relation != nil {
		size += 16 * len(e.relation.Circles)
	}
	return size
}

// named returns the keys of what a change names.
func named(change *social.Change) (keys []cacheKey) {
	for _, user := range change.Users {
		keys = append(keys, userKey(user))
	}
	for _, p := range change.Pairs {
		keys = append(keys, pairKey(p), pairKey(social.Pair{Viewer: p.Other, Other: p.Viewer}))
	}
	for _, hash := range change.Sessions {
		keys = append(keys, sessionKey(hash), identityKey(hash))
	}
	return keys
}

func isAround(change *social.Change, key cacheKey) bool {
	return key.of == 'r' && slices.ContainsFunc(change.Around, func(user social.UserID) bool {
		return key.a == user.ID || key.b == user.ID
	})
}

// New makes an empty cache of at most size bytes.
func New(store Store, size int64) *Cache {
	return &Cache{store: store, memory: cache.New(cache.Config[cacheKey, entry]{
		Log: store, Size: size, Weigh: weigh, Named: named, IsAround: isAround,
	})}
}

// lookups count what was found in memory, and what was not.
type lookups struct{ hits, misses atomic.Uint64 }

func (l *lookups) count(isHit bool) {
	if isHit {
		l.hits.Add(1)
	} else {
		l.misses.Add(1)
	}
}

// Stats say how often a cache was asked for users, relations and sessions (or identities) since the
// start, and approximately how many bytes it uses now.
type Stats struct {
	Users, Relations, Sessions LookupStats
	Bytes                      uint64
}

// LookupStats count look-ups that memory answered, and those that the store did.
type LookupStats struct{ Hits, Misses uint64 }

func (l *lookups) stats() LookupStats { return LookupStats{l.hits.Load(), l.misses.Load()} }

// Stats returns the current counts.
func (c *Cache) Stats() Stats {
	return Stats{Users: c.users.stats(), Relations: c.relations.stats(), Sessions: c.sessions.stats(), Bytes: c.memory.Bytes()}
}

// Users implements Reader.
func (c *Cache) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	if err := c.memory.CatchUp(ctx); err != nil {
		return nil, err
	}
	users, unknown := cache.Split(ids, c.user)
	if len(unknown) == 0 {
		return users, nil
	}
	fill := c.memory.Begin()
	defer fill.End()
	read, err := c.store.Users(ctx, unknown)
	for user, u := range read {
		users[user] = u
		fill.Add(userKey(user), entry{user: u})
	}
	return users, err
}

// recall returns what is in memory under a key.
func (c *Cache) recall(key cacheKey, count *lookups) (entry, bool) {
	e, ok := c.memory.Get(key)
	count.count(ok)
	return e, ok
}

// user returns a user from memory, unless they are away: that takes a read, as for one who does not
// exist.
func (c *Cache) user(user social.UserID) (*social.User, bool) {
	if e, ok := c.recall(userKey(user), &c.users); ok && !social.IsAway(e.user.Standing) {
		return e.user, true
	}
	return nil, false
}

// Relations implements Reader.
func (c *Cache) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	if err := c.memory.CatchUp(ctx); err != nil {
		return nil, err
	}
	relations, unknown := cache.Split(pairs, c.relation)
	if len(unknown) == 0 {
		return relations, nil
	}
	fill := c.memory.Begin()
	defer fill.End()
	read, err := c.store.Relations(ctx, unknown)
	if err != nil {
		return relations, err
	}
	for _, p := range unknown {
		relations[p] = read[p]
		addRelation(fill, p, read[p])
	}
	return relations, nil
}

// Known implements Reader.
func (c *Cache) Known(ctx context.Context, viewer social.UserID, others []social.UserID) (map[social.UserID]social.Person, error) {
	if err := c.memory.CatchUp(ctx); err != nil {
		return nil, err
	}
	known := make(map[social.UserID]social.Person, len(others))
	for _, other := range others {
		if relation, ok := c.relation(social.Pair{Viewer: viewer, Other: other}); ok {
			user, _ := c.user(other)
			known[other] = social.Person{User: user, Relation: relation}
		}
	}
	return known, nil
}

func (c *Cache) relation(p social.Pair) (social.Relation, bool) {
	e, ok := c.recall(pairKey(p), &c.relations)
	if !ok {
		return social.Relation{}, false
	}
	return *e.relation, true
}

// addRelation adds a relation to what will be in memory, unless the other is no user.
func addRelation(fill *cache.Fill[cacheKey, entry], p social.Pair, r social.Relation) {
	if p.Other != social.MissingUser {
		fill.Add(pairKey(p), entry{relation: &r})
	}
}

// People implements Reader.
func (c *Cache) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	if err := c.memory.CatchUp(ctx); err != nil {
		return nil, err
	}
	people, unknown := cache.Split(ids, func(other social.UserID) (social.Person, bool) {
		user, isKnown := c.user(other)
		relation, isRelated := c.relation(social.Pair{Viewer: viewer, Other: other})
		return social.Person{User: user, Relation: relation}, isKnown && isRelated && social.CanSeeUser(relation)
	})
	if len(unknown) == 0 {
		return people, nil
	}
	fill := c.memory.Begin()
	defer fill.End()
	read, err := c.store.People(ctx, viewer, unknown)
	for other, person := range read {
		people[other] = person
		if person.User != nil {
			fill.Add(userKey(other), entry{user: person.User})
			addRelation(fill, social.Pair{Viewer: viewer, Other: other}, person.Relation)
		}
	}
	return people, err
}

// Session implements Reader.
func (c *Cache) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	if err := c.memory.CatchUp(ctx); err != nil {
		return social.Session{}, err
	}
	if e, ok := c.recall(sessionKey(tokenHash), &c.sessions); ok && e.session.ExpiresAt.After(now) {
		return *e.session, nil
	}
	fill := c.memory.Begin()
	defer fill.End()
	session, err := c.store.Session(ctx, tokenHash, now)
	if err == nil {
		fill.Add(sessionKey(tokenHash), entry{session: &session})
	}
	return session, err
}

// Identities implements Reader.
func (c *Cache) Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]social.Identity, error) {
	if err := c.memory.CatchUp(ctx); err != nil {
		return nil, err
	}
	identities, unknown := cache.Split(keys, func(key [32]byte) (social.Identity, bool) {
		e, ok := c.recall(identityKey(key), &c.sessions)
		if !ok {
			return social.Identity{}, false
		}
		return *e.identity, true
	})
	if len(unknown) == 0 {
		return identities, nil
	}
	fill := c.memory.Begin()
	defer fill.End()
	read, err := c.store.Identities(ctx, unknown)
	for key, identity := range read {
		identities[key] = identity
		fill.Add(identityKey(key), entry{identity: &identity})
	}
	return identities, err
}
