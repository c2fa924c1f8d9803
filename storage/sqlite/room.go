package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"

	"plaza/social"
)

const (
	// lookForRoomEvery is how often Work checks whether a full disk has room again.
	lookForRoomEvery = time.Second
	// enoughRoom is how many bytes must be free before a full disk counts as usable again: enough
	// for many small writes.
	enoughRoom = 1 << 20
)

// isNoRoom says whether a write failed because the disk was full, or the file may not grow.
func isNoRoom(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// note turns the error of a write into ErrNoRoom if the disk is full, and logs that once. SQLite
// usually reports an I/O error without its cause, so note checks the disk.
func (s *Store) note(ctx context.Context, err error) error {
	if errors.Is(err, sqlite3.IOERR) && !errors.Is(err, social.ErrNoRoom) && (s.full.Load() || isNoRoom(s.tryRoom())) {
		err = fmt.Errorf("%w: %w", social.ErrNoRoom, err)
	}
	if errors.Is(err, social.ErrNoRoom) && !s.full.Swap(true) {
		s.logger.ErrorContext(ctx, "the disk is full: nothing can be stored until there is room, reads go on", "database", s.path, "error", err)
	}
	return err
}

// watchRoom waits until a full disk has room again, or ctx ends.
func (s *Store) watchRoom(ctx context.Context) {
	look := time.NewTicker(lookForRoomEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		if s.full.Load() && s.tryRoom() == nil {
			s.full.Store(false)
			s.logger.InfoContext(ctx, "the disk has room again", "database", s.path)
		}
	}
}

// tryRoom writes enoughRoom bytes to a file next to the database, and removes the file. The bytes
// are random, so that the file system cannot compress them.
func (s *Store) tryRoom() error {
	s.roomMu.Lock() // a caller must not remove another caller's file
	defer s.roomMu.Unlock()
	path := s.path + ".room"
	content := make([]byte, enoughRoom)
	_, _ = rand.Read(content) // this never fails
	err := os.WriteFile(path, content, 0o600)
	return errors.Join(err, os.Remove(path))
}
