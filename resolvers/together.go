package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/sync/errgroup"

	"plaza/loaders"
)

// lookUp looks a key up. Within a list it batches this with the look-ups of its siblings; otherwise
// it does not wait.
func lookUp[K comparable, V any](ctx context.Context, loader loaders.Loader[K, V], keys []K) ([]V, error) {
	if isWithinList(ctx) {
		return loader.LoadAll(ctx, keys)
	}
	return loader.LoadNow(ctx, keys)
}

func isWithinList(ctx context.Context) bool {
	for field := graphql.GetFieldContext(ctx); field != nil; field = field.Parent {
		if field.Index != nil {
			return true
		}
	}
	return false
}

// together looks several keys up in parallel, so that loaders batch them; results are in the order
// of the keys.
func together[K, V any](keys []K, load func(int, K) (V, error)) ([]V, error) {
	values := make([]V, len(keys))
	var group errgroup.Group
	for i, key := range keys {
		group.Go(func() (err error) {
			values[i], err = load(i, key)
			return err
		})
	}
	return values, group.Wait()
}
