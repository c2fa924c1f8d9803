package people

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"plaza/batch"
	"plaza/social"
)

// Store is what a Cache needs from a storage engine.
type Store interface {
	Source
	social.ChangeLog
}

// Cache is a Reader that keeps people in memory. Each read first asks the store what has changed
// (ChangeLog), so it returns nothing older than the store would; reads that ask at the same time
// share the answer (as in the ReadIndex protocol of Raft: Ongaro, "Consensus: Bridging Theory and
// Practice", section 6.4). People and Users never return from memory a user who is hidden from the
// viewer or absent: both take the same read. It is safe for concurrent use, and what it returns
// must not be changed.
type Cache struct {
	store   Store
	entries *otter.Cache[cacheKey, entry]
	changes *batch.Reader[struct{}, struct{}]

	mu       sync.Mutex
	position social.ChangePosition
	fills    map[*fill]struct{}

	users, relations, sessions lookups
}

// entry is a user, a relation, a session or an identity; the others are nil.
type entry struct {
	user     *social.User
	relation *social.Relation
	session  *social.Session
	identity *social.Identity
	readAt   time.Time
}

// maxAge is how long an entry is used. Plaza's own changes need no such limit: it is for changes
// that other programs make in the database.
const maxAge = time.Minute

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

// entryOverhead is approximately what an entry takes besides its texts and circles, in bytes: the
// key, the value, and what the cache itself needs.
const entryOverhead = 320

func weight(_ cacheKey, e entry) uint32 {
	size := entryOverhead
	if e.user != nil {
		size += len(e.user.Handle) + len(e.user.Name) + len(e.user.Bio) + len(e.user.AvatarURL)
	}
	if e.relation != nil {
		size += 16 * len(e.relation.Circles)
	}
	return uint32(size)
}

// New makes an empty cache of at most size bytes.
func New(store Store, size int64) *Cache {
	c := &Cache{
		store: store, fills: map[*fill]struct{}{},
		entries: otter.Must(&otter.Options[cacheKey, entry]{MaximumWeight: uint64(max(1, size)), Weigher: weight}),
	}
	c.changes = batch.NewReader(1, 0, c.readChanges)
	return c
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
	return Stats{
		Users: c.users.stats(), Relations: c.relations.stats(), Sessions: c.sessions.stats(), Bytes: c.entries.WeightedSize(),
	}
}

// catchUp removes entries that have changed before it was called.
func (c *Cache) catchUp(ctx context.Context) error {
	_, _, err := c.changes.Read(ctx, struct{}{})
	return err
}

// readChanges asks the store for all who wait, and removes what has changed.
func (c *Cache) readChanges(ctx context.Context, _ []struct{}) (map[struct{}]struct{}, error) {
	c.mu.Lock()
	since := c.position
	c.mu.Unlock()
	changes, position, err := c.store.Changes(ctx, since)
	c.forget(changes, position, err)
	return nil, err
}

// forget applies the answer of the store. Without one, all entries may be out of date.
func (c *Cache) forget(changes []social.Change, position social.ChangePosition, err error) {
	if err == nil && len(changes) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.position == nil {
		return // nothing is remembered
	}
	if err != nil {
		changes, position = []social.Change{{All: true}}, nil
	}
	for i := range changes {
		c.forgetOne(&changes[i])
		for f := range c.fills {
			f.changes = append(f.changes, &changes[i])
		}
	}
	c.position = position // last: after a panic, the same changes are read again
}

func (c *Cache) forgetOne(change *social.Change) {
	if change.All {
		c.entries.InvalidateAll()
		return
	}
	for _, user := range change.Users {
		c.entries.Invalidate(userKey(user))
	}
	for _, p := range change.Pairs {
		c.entries.Invalidate(pairKey(p))
		c.entries.Invalidate(pairKey(social.Pair{Viewer: p.Other, Other: p.Viewer}))
	}
	for _, hash := range change.Sessions {
		c.entries.Invalidate(sessionKey(hash))
		c.entries.Invalidate(identityKey(hash))
	}
	if len(change.Around) > 0 { // rare: a circle or an account was deleted
		for key := range c.entries.Keys() {
			if isAround(change, key) {
				c.entries.Invalidate(key)
			}
		}
	}
}

func isAround(c *social.Change, key cacheKey) bool {
	return key.of == 'r' && slices.ContainsFunc(c.Around, func(user social.UserID) bool {
		return key.a == user.ID || key.b == user.ID
	})
}

// names reports whether a change affects what a key represents.
func names(c *social.Change, key cacheKey) bool {
	return c.All || isAround(c, key) ||
		slices.ContainsFunc(c.Users, func(user social.UserID) bool { return key == userKey(user) }) ||
		slices.ContainsFunc(c.Pairs, func(p social.Pair) bool {
			return key == pairKey(p) || key == pairKey(social.Pair{Viewer: p.Other, Other: p.Viewer})
		}) ||
		slices.ContainsFunc(c.Sessions, func(hash [32]byte) bool { return key == sessionKey(hash) || key == identityKey(hash) })
}

// fill is a read of the store whose result will be remembered, except for what changes meanwhile.
type fill struct {
	cache   *Cache
	began   time.Time
	changes []*social.Change
	found   map[cacheKey]entry
}

func (c *Cache) beginFill() *fill {
	f := &fill{cache: c, began: time.Now(), found: map[cacheKey]entry{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fills[f] = struct{}{}
	return f
}

// end remembers what was found.
func (f *fill) end() {
	c := f.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fills, f)
	for key, e := range f.found {
		if !slices.ContainsFunc(f.changes, func(change *social.Change) bool { return names(change, key) }) {
			e.readAt = f.began
			c.entries.Set(key, e)
		}
	}
}

// usable reports whether the cache may be used, after it has caught up: what it returns is then at
// least as new as everything that was read before. If some changes are not known, it may not, and
// only the store is read.
func (c *Cache) usable(ctx context.Context) (bool, error) {
	err := c.catchUp(ctx)
	if errors.Is(err, social.ErrNoChanges) {
		return false, nil
	}
	return err == nil, err
}

// Users implements Reader.
func (c *Cache) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	if usable, err := c.usable(ctx); !usable {
		return orRead(err, func() (map[social.UserID]*social.User, error) { return c.store.Users(ctx, ids) })
	}
	users := make(map[social.UserID]*social.User, len(ids))
	var unknown []social.UserID
	for _, user := range ids {
		known := c.user(user)
		if known == nil {
			unknown = append(unknown, user)
			continue
		}
		users[user] = known
	}
	if len(unknown) == 0 {
		return users, nil
	}
	f := c.beginFill()
	defer f.end()
	read, err := c.store.Users(ctx, unknown)
	for user, u := range read {
		users[user], f.found[userKey(user)] = u, entry{user: u}
	}
	return users, err
}

// recall returns what is in memory under a key.
func (c *Cache) recall(key cacheKey, count *lookups) (entry, bool) {
	e, ok := c.entries.GetIfPresent(key)
	ok = ok && time.Since(e.readAt) < maxAge
	count.count(ok)
	return e, ok
}

// user returns a user from memory, unless they are away: that takes a read, as for one who does not
// exist.
func (c *Cache) user(user social.UserID) *social.User {
	if e, ok := c.recall(userKey(user), &c.users); ok && !social.IsAway(e.user.Standing) {
		return e.user
	}
	return nil
}

// Relations implements Reader.
func (c *Cache) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	if usable, err := c.usable(ctx); !usable {
		return orRead(err, func() (map[social.Pair]social.Relation, error) { return c.store.Relations(ctx, pairs) })
	}
	relations, unknown := c.known(pairs)
	if len(unknown) == 0 {
		return relations, nil
	}
	f := c.beginFill()
	defer f.end()
	read, err := c.store.Relations(ctx, unknown)
	if err != nil {
		return relations, err
	}
	for _, p := range unknown {
		relations[p] = read[p]
		f.addRelation(p, read[p])
	}
	return relations, nil
}

// Known implements Reader.
func (c *Cache) Known(ctx context.Context, viewer social.UserID, others []social.UserID) (map[social.UserID]social.Person, error) {
	usable, err := c.usable(ctx)
	if !usable {
		return nil, err
	}
	known := make(map[social.UserID]social.Person, len(others))
	for _, other := range others {
		if relation, ok := c.relation(social.Pair{Viewer: viewer, Other: other}); ok {
			known[other] = social.Person{User: c.user(other), Relation: relation}
		}
	}
	return known, nil
}

func (c *Cache) known(pairs []social.Pair) (relations map[social.Pair]social.Relation, unknown []social.Pair) {
	relations = make(map[social.Pair]social.Relation, len(pairs))
	for _, p := range pairs {
		if relation, ok := c.relation(p); ok {
			relations[p] = relation
		} else {
			unknown = append(unknown, p)
		}
	}
	return relations, unknown
}

func (c *Cache) relation(p social.Pair) (social.Relation, bool) {
	e, ok := c.recall(pairKey(p), &c.relations)
	if !ok {
		return social.Relation{}, false
	}
	return *e.relation, true
}

// addRelation adds a relation to what will be remembered, unless the other is no user.
func (f *fill) addRelation(p social.Pair, r social.Relation) {
	if p.Other != social.MissingUser {
		f.found[pairKey(p)] = entry{relation: &r}
	}
}

// People implements Reader.
func (c *Cache) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	if usable, err := c.usable(ctx); !usable {
		return orRead(err, func() (map[social.UserID]social.Person, error) { return c.store.People(ctx, viewer, ids) })
	}
	people := make(map[social.UserID]social.Person, len(ids))
	var unknown []social.UserID
	for _, other := range ids {
		user := c.user(other)
		relation, related := c.relation(social.Pair{Viewer: viewer, Other: other})
		if user == nil || !related || !social.CanSeeUser(relation) {
			unknown = append(unknown, other)
			continue
		}
		people[other] = social.Person{User: user, Relation: relation}
	}
	if len(unknown) == 0 {
		return people, nil
	}
	f := c.beginFill()
	defer f.end()
	read, err := c.store.People(ctx, viewer, unknown)
	for other, person := range read {
		people[other] = person
		if person.User != nil {
			f.found[userKey(other)] = entry{user: person.User}
			f.addRelation(social.Pair{Viewer: viewer, Other: other}, person.Relation)
		}
	}
	return people, err
}

// Session implements Reader.
func (c *Cache) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	if usable, err := c.usable(ctx); !usable {
		return orRead(err, func() (social.Session, error) { return c.store.Session(ctx, tokenHash, now) })
	}
	if e, ok := c.recall(sessionKey(tokenHash), &c.sessions); ok && e.session.ExpiresAt.After(now) {
		return *e.session, nil
	}
	f := c.beginFill()
	defer f.end()
	session, err := c.store.Session(ctx, tokenHash, now)
	if err == nil {
		f.found[sessionKey(tokenHash)] = entry{session: &session}
	}
	return session, err
}

// Identities implements Reader.
func (c *Cache) Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]social.Identity, error) {
	if usable, err := c.usable(ctx); !usable {
		return orRead(err, func() (map[[32]byte]social.Identity, error) { return c.store.Identities(ctx, keys) })
	}
	identities := make(map[[32]byte]social.Identity, len(keys))
	var unknown [][32]byte
	for _, key := range keys {
		if e, ok := c.recall(identityKey(key), &c.sessions); ok {
			identities[key] = *e.identity
		} else {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return identities, nil
	}
	f := c.beginFill()
	defer f.end()
	read, err := c.store.Identities(ctx, unknown)
	for key, identity := range read {
		identities[key], f.found[identityKey(key)] = identity, entry{identity: &identity}
	}
	return identities, err
}

// orRead returns the error, or else what the store returns.
func orRead[T any](err error, read func() (T, error)) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return read()
}
