package batch

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
