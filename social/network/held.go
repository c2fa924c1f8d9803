package network

import (
	"iter"
	"maps"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// maxHeld is about how many bytes of posts and comments one request may hold, shown or not. An
// answer has at most 16 MiB. How many entries a request has does not bound their texts.
const maxHeld = 64 << 20

// hold counts entries that the request keeps. Error: QUERY_TOO_COMPLEX.
func hold[T any](v *Viewer, entries iter.Seq[T]) error {
	held := 0
	for e := range entries {
		held += sizeOf(e)
	}
	if v.held.Add(int64(held)) > maxHeld {
		return fault.Errorf(fault.CodeTooComplex, "", "These posts and comments are too large together: request fewer in one operation.")
	}
	return nil
}

// sizeOf returns about how many bytes a post, a comment or a version takes, and 0 for all others,
// which are small.
func sizeOf(entry any) int {
	const fields = 1 << 10 // of each of them, besides its texts
	switch e := entry.(type) {
	case *social.Post:
		return fields*(1+len(e.Latest)) + e.TextLen()
	case *social.Comment:
		return fields + e.TextLen()
	case social.Version:
		return fields + e.Content.TextLen()
	}
	return 0
}

// inParts reads by key, a number of keys at a time.
func inParts[K comparable, T any](keys []K, together int, read func([]K) (map[K]T, error)) (map[K]T, error) {
	if len(keys) <= together {
		return read(keys)
	}
	all := make(map[K]T, len(keys))
	for part := range slices.Chunk(keys, together) {
		found, err := read(part)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}
