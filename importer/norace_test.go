//go:build !race

package importer_test

// raced reports whether the race detector is on, which makes SQLite about twenty times slower.
const raced = false
