package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version returns the version of the release or the commit that this program was built from, and
// "unknown" if Go recorded neither.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}

// build returns the output of `plaza --version`: the version, the commit it was built from, and the
// version of Go.
func build() string {
	commit, changed := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = cmp.Or(s.Value, commit)
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ", with changes"
			}
		}
	}
	return fmt.Sprintf("plaza %s (commit %s%s, %s)", version(), commit, changed, runtime.Version())
}
