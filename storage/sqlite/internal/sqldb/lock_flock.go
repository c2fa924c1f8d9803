//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqldb

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file until it is closed or the process ends in any way. The file itself stays:
// if it were removed, two processes could lock two files of the same name.
func lockFile(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrInUse
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
