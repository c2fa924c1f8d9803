//go:build race

package importer_test

// raced says whether the race detector is on, which makes SQLite some twenty times slower.
const raced = true
