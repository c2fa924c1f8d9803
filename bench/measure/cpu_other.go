//go:build !unix

package measure

import (
	"errors"
	"time"
)

func ownCPU() (time.Duration, error) {
	return 0, errors.New("plaza bench measures CPU time only on Unix systems")
}
