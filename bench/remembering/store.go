// Package remembering has a store that needs no database once it has read something, so that requests
// can be measured without one.
package remembering

import (
	"context"
	"maps"
	"sync"
	"time"

	"plaza/social"
	"plaza/storage"
)

// New returns a store that reads the data of a page of news once, and then serves it from maps. All
// other calls go to st.
func New(st storage.Store) storage.Store { return &remembering{Store: st} }

type remembering struct {
	storage.Store

	sessions  memo[[32]byte, social.Session]
	news      memo[newsPage, []*social.Post]
	users     memo[social.UserID, *social.User]
	relations memo[social.Pair, social.Relation]
	reactions memo[ownReaction, social.ReactionKind]
}

type newsPage struct {
	viewer social.UserID
	page   social.Page
}

type ownReaction struct {
	viewer social.UserID
	post   social.PostID
}

// memo is a map that loads missing entries.
type memo[K comparable, V any] struct {
	mu    sync.RWMutex
	asked map[K]bool
	known map[K]V
}

// all returns a new map, as a store does. Missing entries stay missing.
func (m *memo[K, V]) all(keys []K, read func([]K) (map[K]V, error)) (map[K]V, error) {
	found, unknown := m.remembered(keys)
	if len(unknown) == 0 {
		return found, nil
	}
	fresh, err := read(unknown)
	if err != nil {
		return nil, err
	}
	maps.Copy(found, fresh)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil {
		m.asked, m.known = map[K]bool{}, map[K]V{}
	}
	maps.Copy(m.known, fresh)
	for _, key := range unknown {
		m.asked[key] = true
	}
	return found, nil
}

func (m *memo[K, V]) remembered(keys []K) (found map[K]V, unknown []K) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	found = make(map[K]V, len(keys))
	for _, key := range keys {
		if value, ok := m.known[key]; ok {
			found[key] = value
		} else if !m.asked[key] {
			unknown = append(unknown, key)
		}
	}
	return found, unknown
}

func (m *memo[K, V]) one(key K, read func() (V, error)) (V, error) {
	found, err := m.all([]K{key}, func([]K) (map[K]V, error) {
		value, err := read()
		return map[K]V{key: value}, err
	})
	return found[key], err
}

// Session implements social.Sessions.
func (r *remembering) Session(ctx context.Context, token [32]byte, now time.Time) (social.Session, error) {
	return r.sessions.one(token, func() (social.Session, error) { return r.Store.Session(ctx, token, now) })
}

// News implements social.Feeds.
func (r *remembering) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return r.news.one(newsPage{viewer, p}, func() ([]*social.Post, error) { return r.Store.News(ctx, viewer, p) })
}

// Users implements social.Users.
func (r *remembering) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	return r.users.all(ids, func(ids []social.UserID) (map[social.UserID]*social.User, error) { return r.Store.Users(ctx, ids) })
}

// Relations implements social.Graph.
func (r *remembering) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	return r.relations.all(pairs, func(pairs []social.Pair) (map[social.Pair]social.Relation, error) {
		return r.Store.Relations(ctx, pairs)
	})
}

// People implements social.Graph.
func (r *remembering) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	users, err := r.Users(ctx, ids)
	if err != nil {
		return nil, err
	}
	pairs := make([]social.Pair, len(ids))
	for i, other := range ids {
		pairs[i] = social.Pair{Viewer: viewer, Other: other}
	}
	relations, err := r.Relations(ctx, pairs)
	people := make(map[social.UserID]social.Person, len(ids))
	for _, pair := range pairs {
		people[pair.Other] = social.Person{User: users[pair.Other], Relation: relations[pair]}
	}
	return people, err
}

// Reactions implements social.Posts.
func (r *remembering) Reactions(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]social.ReactionKind, error) {
	keys := make([]ownReaction, len(posts))
	for i, post := range posts {
		keys[i] = ownReaction{user, post}
	}
	found, err := r.reactions.all(keys, func(unknown []ownReaction) (map[ownReaction]social.ReactionKind, error) {
		some := make([]social.PostID, len(unknown))
		for i, key := range unknown {
			some[i] = key.post
		}
		read, err := r.Store.Reactions(ctx, user, some)
		keyed := make(map[ownReaction]social.ReactionKind, len(read))
		for post, kind := range read {
			keyed[ownReaction{user, post}] = kind
		}
		return keyed, err
	})
	own := make(map[social.PostID]social.ReactionKind, len(found))
	for key, kind := range found {
		own[key.post] = kind
	}
	return own, err
}
