package batch

// Runs splits a list into runs of neighbours with the same key.
func Runs[T any, K comparable](list []T, key func(*T) K) (runs [][]T) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && key(&list[n]) == key(&list[0]) {
			n++
		}
		runs, list = append(runs, list[:n:n]), list[n:]
	}
	return runs
}
