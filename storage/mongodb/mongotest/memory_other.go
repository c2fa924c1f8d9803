//go:build !linux

package mongotest

// MemoryFolder is always "" here: data is kept in the folder for temporary files.
func MemoryFolder() string { return "" }
