package network

import (
	"context"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// collect fills pages of lists in which the viewer does not see all entries: see paging.Fill.
func collect[K comparable, T any](
	ctx context.Context,
	v *Viewer,
	lists []social.List[K],
	read func(context.Context, []social.List[K]) (map[social.List[K]][]T, error),
	key func(K, T) social.Key,
	see func(context.Context, []T) (func(K, T) bool, error),
) (map[social.List[K]]social.Slice[T], error) {
	return paging.Fill(ctx, lists, read, key, see, v.passOver)
}

// maxPassedOver is how many hidden entries one request may skip. Finding a few visible entries
// among very many hidden ones is work that anyone could request.
const maxPassedOver = 20_000

// passOver counts hidden entries. Error: QUERY_TOO_COMPLEX.
func (v *Viewer) passOver(hidden int) error {
	if v.passedOver.Add(int64(hidden)) > maxPassedOver {
		return fault.Errorf(fault.CodeTooComplex, "", "This takes too long: request fewer lists in one operation.")
	}
	return nil
}
