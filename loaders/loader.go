// Package loaders batches the look-ups of one operation, or of one event of a subscription: whatever its fields ask for
// one by one is read together, once, through the domain's rules.
package loaders

import (
	"context"
	"time"

	"github.com/graph-gophers/dataloader/v7"
)

const (
	// wait is how long a look-up waits for others to join it.
	wait = time.Millisecond
	// capacity is how many look-ups are read at once.
	capacity = 1_000
)

// Loader batches look-ups by key, and remembers what it found.
type Loader[K comparable, V any] struct{ batched *dataloader.Loader[K, V] }

// newLoader makes a loader of a batch read that answers with a map: results cannot be misaligned, and a missing key is
// the zero value.
func newLoader[K comparable, V any](read func(context.Context, []K) (map[K]V, error)) Loader[K, V] {
	batch := func(ctx context.Context, keys []K) []*dataloader.Result[V] {
		found, err := read(ctx, keys)
		results := make([]*dataloader.Result[V], len(keys))
		for i, key := range keys {
			results[i] = &dataloader.Result[V]{Data: found[key], Error: err}
		}
		return results
	}
	return Loader[K, V]{dataloader.NewBatchedLoader(batch,
		dataloader.WithWait[K, V](wait),
		dataloader.WithBatchCapacity[K, V](capacity),
	)}
}

// Load looks one key up: the zero value where there is nothing that the viewer may see.
func (l Loader[K, V]) Load(ctx context.Context, key K) (V, error) { return l.batched.Load(ctx, key)() }

// LoadAll looks keys up in one batch, in their order.
func (l Loader[K, V]) LoadAll(ctx context.Context, keys []K) ([]V, error) {
	values, errs := l.batched.LoadMany(ctx, keys)()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Prime remembers a value that was read elsewhere.
func (l Loader[K, V]) Prime(ctx context.Context, key K, value V) { l.batched.Prime(ctx, key, value) }
