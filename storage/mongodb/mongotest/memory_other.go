//go:build !linux

package mongotest

// memoryFolder is always "" here: data is kept in the folder for temporary files.
func memoryFolder() string { return "" }
