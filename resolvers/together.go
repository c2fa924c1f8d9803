package resolvers

import "golang.org/x/sync/errgroup"

// together looks several things up at the same time, so that loaders batch them; results stand in the keys' order.
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
