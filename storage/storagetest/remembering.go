package storagetest

import (
	"context"
	"time"

	"plaza/social"
	"plaza/social/people"
	"plaza/storage"
)

// Remembering returns a store with a server's cache of users, relations and sessions. It must
// fulfil the whole contract.
func Remembering(store storage.Store) storage.Store {
	return &remembering{Store: store, cache: people.New(store, 1<<20)}
}

type remembering struct {
	storage.Store
	cache *people.Cache
}

func (r *remembering) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	return r.cache.Users(ctx, ids)
}

func (r *remembering) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	return r.cache.Relations(ctx, pairs)
}

func (r *remembering) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	return r.cache.People(ctx, viewer, ids)
}

func (r *remembering) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	return r.cache.Session(ctx, tokenHash, now)
}

func (r *remembering) Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]social.Identity, error) {
	return r.cache.Identities(ctx, keys)
}
