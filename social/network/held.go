package network

import (
	"maps"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// maxHeld is about how many bytes of posts and comments one request may hold, shown or not. An
// answer has at most 16 MiB. How many entries a request has does not bound their texts.
const maxHeld = 64 << 20

// readTogether is how many posts or comments are read at once: the largest take 20 MB.
const readTogether = 500

// hold counts entries that the request keeps. Error: QUERY_TOO_COMPLEX.
func hold[T any](v *Viewer, entries []T) error {
	held := 0
	for _, e := range entries {
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
	const fields = 1 << 10
	switch e := entry.(type) {
	case *social.Post:
		size := fields + len(e.Content.Text())
		for _, c := range e.Latest {
			size += sizeOf(c)
		}
		return size
	case *social.Comment:
		return fields + len(e.Text)
	case social.Version:
		return fields + len(e.Content.Text())
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
