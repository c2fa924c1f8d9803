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
	// lookForRoomEvery is how often a full disk is looked at.
	lookForRoomEvery = time.Second
	// enoughRoom is how many bytes must be free for a full disk to count as mended: many small writes.
	enoughRoom = 1 << 20
)

// isNoRoom says whether a write failed because there was no space, or no more was allowed.
func isNoRoom(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// note makes ErrNoRoom of the error of a write where the disk is full, and logs that once. SQLite mostly calls it an I/O error and keeps
// the cause for itself, so the disk is looked at.
func (s *Store) note(ctx context.Context, err error) error {
	if errors.Is(err, sqlite3.IOERR) && !errors.Is(err, social.ErrNoRoom) && (s.full.Load() || isNoRoom(s.tryRoom())) {
		err = fmt.Errorf("%w: %w", social.ErrNoRoom, err)
	}
	if errors.Is(err, social.ErrNoRoom) && !s.full.Swap(true) {
		s.logger.ErrorContext(ctx, "the disk is full: nothing can be stored until there is room, reads go on", "database", s.path, "error", err)
	}
	return err
}

// watchRoom finds out when a full disk has room again, until ctx ends.
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

// tryRoom writes enoughRoom bytes to a file next to the database, and removes it. The bytes are random: a file system cannot compress them.
func (s *Store) tryRoom() error {
	s.roomMu.Lock() // one caller must not remove the other's file
	defer s.roomMu.Unlock()
	path := s.path + ".room"
	content := make([]byte, enoughRoom)
	_, _ = rand.Read(content) // it never fails
	err := os.WriteFile(path, content, 0o600)
	return errors.Join(err, os.Remove(path))
}
