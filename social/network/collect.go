package network

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// collect fills pages of lists in which the viewer does not see all entries: see paging.Fill. A
// request that meets too many hidden entries fails.
func collect[K comparable, T any](
	ctx context.Context,
	v *Viewer,
	lists []social.List[K],
	read func(context.Context, []social.List[K]) (map[social.List[K]][]T, error),
	key func(K, T) social.Key,
	see func(context.Context, []T) (func(K, T) bool, error),
) (map[social.List[K]]social.Slice[T], error) {
	return paging.Fill(ctx, lists, read, key, see, limitOf[T](v, &v.hidden, maxHidden))
}

// collectByAudience is collect for lists of entries that audiences hide: posts, and comments
// anywhere. Anyone can hide as many of them as they like, so a page ends before it is full if there
// are very many. Keys begin with the time of the entry.
func collectByAudience[T any](
	ctx context.Context,
	v *Viewer,
	lists []social.List[social.UserID],
	read func(context.Context, []social.List[social.UserID]) (map[social.List[social.UserID]][]T, error),
	key func(social.UserID, T) social.Key,
	see func(context.Context, []T) (func(social.UserID, T) bool, error),
) (map[social.List[social.UserID]]social.Slice[T], error) {
	limit := limitOf[T](v, &v.hiddenByAudience, maxHiddenByAudience)
	limit.Hidden, limit.Beside = maxHiddenOnPage, besideTime
	return paging.Fill(ctx, lists, read, key, see, limit)
}

// Finding a few visible entries among very many hidden ones is work that anyone could request.
const (
	// maxHidden is how many hidden entries one request may skip.
	maxHidden = 20_000
	// maxHiddenOnPage is how many entries hidden by audience end a page.
	maxHiddenOnPage = 1_000
	// maxHiddenByAudience is how many of those one request may skip, apart from maxHidden: the entries
	// of a hundred such pages. A lower limit would tell how many posts someone hides, by reading them
	// many times at once.
	maxHiddenByAudience = 100 * maxHiddenOnPage
)

// besideTime returns a key with only the time of an entry. Lists are newest first.
func besideTime(hidden, kept social.Key, last bool) social.Key {
	const ofTime = 6 // bytes
	fill := func(b string) social.Key { return hidden[:ofTime] + social.Key(strings.Repeat(b, len(hidden)-ofTime)) }
	switch {
	case last:
		return max(fill("\x00"), kept)
	case kept == "":
		return fill("\xff")
	default:
		return min(fill("\xff"), kept)
	}
}

// limitOf returns a limit that counts hidden entries up to a number, and holds the others. Error of
// both: QUERY_TOO_COMPLEX.
func limitOf[T any](v *Viewer, hidden *atomic.Int64, most int64) paging.Limit[T] {
	passOver := func(n int) error {
		if hidden.Add(int64(n)) > most {
			return fault.Errorf(fault.CodeTooComplex, "", "This takes too long: request fewer lists in one operation.")
		}
		return nil
	}
	return paging.Limit[T]{PassOver: passOver, Keep: func(kept []T) error { return hold(v, slices.Values(kept)) }}
}
