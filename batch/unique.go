package batch

import "slices"

// Unique returns each key once, in the order in which they come first.
func Unique[K comparable](keys []K) []K {
	seen := make(map[K]bool, len(keys))
	kept := make([]K, 0, len(keys))
	for _, key := range keys {
		if !seen[key] {
			seen[key] = true
			kept = append(kept, key)
		}
	}
	return kept
}

// Without returns those keys that are not among others.
func Without[K comparable](keys, others []K) []K {
	left := make(map[K]bool, len(others))
	for _, key := range others {
		left[key] = true
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key K) bool { return left[key] })
}
