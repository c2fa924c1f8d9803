package cache

// Split returns the values of the keys that get finds, and the other keys.
func Split[K comparable, V any](keys []K, get func(K) (V, bool)) (known map[K]V, unknown []K) {
	known = make(map[K]V, len(keys))
	for _, key := range keys {
		if value, ok := get(key); ok {
			known[key] = value
		} else {
			unknown = append(unknown, key)
		}
	}
	return known, unknown
}
