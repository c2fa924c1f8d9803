package importer

import "fmt"

// Fault is a line that was left out, and why.
type Fault struct {
	File   string // its path
	Line   int    // from 1; 0 for the whole file
	Reason string
}

// String returns "file:line: reason", which editors and terminals can turn into a link.
func (f Fault) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Reason)
}
