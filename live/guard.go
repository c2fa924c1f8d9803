package live

import (
	"fmt"
	"runtime/debug"
)

// guarded calls do, and converts a panic to an error. No caller recovers one in the goroutines of
// this package, so it would end the process, and with it the subscriptions of everyone else.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}
