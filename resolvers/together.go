package resolvers

import (
	"cmp"
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
// of the keys. Of several errors, it returns that of the first key.
func together[K, V any](keys []K, load func(int, K) (V, error)) ([]V, error) {
	values, errs := make([]V, len(keys)), make([]error, len(keys))
	var group errgroup.Group
	for i, key := range keys {
		group.Go(func() error {
			values[i], errs[i] = load(i, key)
			return errs[i]
		})
	}
	if group.Wait() == nil {
		return values, nil
	}
	return nil, cmp.Or(errs...)
}
