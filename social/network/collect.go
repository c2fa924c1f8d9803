package network

import (
	"context"
	"strings"

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
	return paging.Fill(ctx, lists, read, key, see, paging.Limit{PassOver: v.passOver(maxPassedOver)})
}

// collectPosts is collect for lists of posts. Anyone can hide as many posts in them as they like, so
// a page ends before it is full if there are very many.
func collectPosts(
	ctx context.Context,
	v *Viewer,
	lists []social.List[social.UserID],
	read func(context.Context, []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error),
	see func(context.Context, []*social.Post) (func(social.UserID, *social.Post) bool, error),
) (map[social.List[social.UserID]]social.Slice[*social.Post], error) {
	limit := paging.Limit{PassOver: v.passOver(maxHiddenPosts), Hidden: maxHiddenOnPage, Beside: besidePost}
	return paging.Fill(ctx, lists, read, postKey, see, limit)
}

// Finding a few visible entries among very many hidden ones is work that anyone could request.
const (
	// maxPassedOver is how many hidden entries one request may skip.
	maxPassedOver = 20_000
	// maxHiddenOnPage is how many hidden posts end a page.
	maxHiddenOnPage = 1_000
	// maxHiddenPosts is how many hidden posts one request may skip: those of a hundred such pages. A
	// lower limit would tell how many posts someone hides, by reading them many times at once.
	maxHiddenPosts = 100 * maxHiddenOnPage
)

// besidePost returns a key with only the time of a post. Lists are newest first.
func besidePost(hidden, kept social.Key, last bool) social.Key {
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

// passOver counts hidden entries up to a limit. Error: QUERY_TOO_COMPLEX.
func (v *Viewer) passOver(most int64) func(hidden int) error {
	return func(hidden int) error {
		if v.passedOver.Add(int64(hidden)) > most {
			return fault.Errorf(fault.CodeTooComplex, "", "This takes too long: request fewer lists in one operation.")
		}
		return nil
	}
}
