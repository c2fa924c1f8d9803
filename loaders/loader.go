// Package loaders batches the look-ups of one operation, or of one event of a subscription:
// look-ups that its fields request one by one are made together, once, through the domain's rules.
package loaders

import (
	"context"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"
)

const (
	// DefaultWait is how long a look-up waits for others to batch with.
	DefaultWait = time.Millisecond
	// capacity is the maximum number of look-ups in a batch.
	capacity = 1_000
)

// Loader batches look-ups by key, and caches the results.
type Loader[K comparable, V any] struct{ *loader[K, V] }

// loader creates its parts when it is first used, because most operations use few loaders.
type loader[K comparable, V any] struct {
	wait time.Duration
	read func(context.Context, []K) (map[K]V, error)

	made  sync.Once
	known dataloader.Cache[K, V]
	one   *dataloader.Loader[K, V]
	many  *dataloader.Loader[*[]K, []V]
}

// newLoader creates a loader from a batch read that returns a map. So results can't be misaligned,
// and a missing key has the zero value.
func newLoader[K comparable, V any](wait time.Duration, read func(context.Context, []K) (map[K]V, error)) Loader[K, V] {
	return Loader[K, V]{&loader[K, V]{wait: wait, read: read}}
}

// parts returns the loader with its parts.
func (l *loader[K, V]) parts() *loader[K, V] {
	l.made.Do(func() {
		l.known = dataloader.NewCache[K, V]()
		l.one = dataloader.NewBatchedLoader(aligned(l.read),
			dataloader.WithWait[K, V](l.wait), dataloader.WithBatchCapacity[K, V](capacity), dataloader.WithCache[K, V](l.known))
		l.many = dataloader.NewBatchedLoader(l.readAll,
			dataloader.WithWait[*[]K, []V](l.wait), dataloader.WithCache[*[]K, []V](&dataloader.NoCache[*[]K, []V]{}))
	})
	return l
}

func (l *loader[K, V]) readAll(ctx context.Context, groups []*[]K) []*dataloader.Result[[]V] {
	err := readAndCache(ctx, unknown(ctx, groups, l.known), l.read, l.one)
	results := make([]*dataloader.Result[[]V], len(groups))
	for i, keys := range groups {
		results[i] = &dataloader.Result[[]V]{Error: err}
		if err == nil {
			results[i].Data, results[i].Error = collected(ctx, *keys, l.one)
		}
	}
	return results
}

func aligned[K comparable, V any](read func(context.Context, []K) (map[K]V, error)) dataloader.BatchFunc[K, V] {
	return func(ctx context.Context, keys []K) []*dataloader.Result[V] {
		found, err := read(ctx, keys)
		results := make([]*dataloader.Result[V], len(keys))
		for i, key := range keys {
			results[i] = &dataloader.Result[V]{Data: found[key], Error: err}
		}
		return results
	}
}

// unknown lists the keys that are not cached yet, without duplicates.
func unknown[K comparable, V any](ctx context.Context, groups []*[]K, known dataloader.Cache[K, V]) []K {
	seen := map[K]bool{}
	var keys []K
	for _, group := range groups {
		for _, key := range *group {
			if _, found := known.Get(ctx, key); !found && !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// readAndCache reads keys in one batch, and caches them.
func readAndCache[K comparable, V any](ctx context.Context, keys []K, read func(context.Context, []K) (map[K]V, error), one *dataloader.Loader[K, V]) error {
	if len(keys) == 0 {
		return nil
	}
	found, err := read(ctx, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		one.Prime(ctx, key, found[key])
	}
	return nil
}

func collected[K comparable, V any](ctx context.Context, keys []K, one *dataloader.Loader[K, V]) ([]V, error) {
	values := make([]V, len(keys))
	for i, key := range keys {
		value, err := one.Load(ctx, key)()
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

// Load looks up one key. It returns the zero value if there is nothing that the viewer may see.
func (l Loader[K, V]) Load(ctx context.Context, key K) (V, error) {
	return l.parts().one.Load(ctx, key)()
}

// LoadAll looks up keys, and returns the values in the order of the keys. It counts as one look-up,
// whatever the number of keys, so that a list's size does not determine the number of batches;
// concurrent look-ups of lists share a read.
func (l Loader[K, V]) LoadAll(ctx context.Context, keys []K) ([]V, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return l.parts().many.Load(ctx, &keys)()
}

// LoadNow does the same as LoadAll for a list without siblings: it does not wait for other
// look-ups.
func (l Loader[K, V]) LoadNow(ctx context.Context, keys []K) ([]V, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	with := l.parts()
	if err := readAndCache(ctx, unknown(ctx, []*[]K{&keys}, with.known), with.read, with.one); err != nil {
		return nil, err
	}
	return collected(ctx, keys, with.one)
}

// Prime caches a value that was read elsewhere.
func (l Loader[K, V]) Prime(ctx context.Context, key K, value V) {
	l.parts().one.Prime(ctx, key, value)
}
