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
	dropRoom   = `DROP TABLE IF EXISTS room`
)

// isNoRoom says whether a write failed because the disk was full, or the file may not grow.
func isNoRoom(err error) bool {
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// note turns the error of a write into ErrNoRoom if the disk is full, and logs that once. SQLite
// usually reports an I/O error without its cause, so note checks the disk.
func (s *Store) note(ctx context.Context, err error) error {
	if errors.Is(err, sqlite3.IOERR) && !errors.Is(err, social.ErrNoRoom) && (s.full.Load() || isNoRoom(s.writeFile())) {
		err = fmt.Errorf("%w: %w", social.ErrNoRoom, err)
	}
	if errors.Is(err, social.ErrNoRoom) && !s.full.Swap(true) {
		s.logger.ErrorContext(ctx, "the disk is full: nothing can be stored until there is room, reads go on", "database", s.path, "error", err)
	}
	return err
}

// watchRoom checks until ctx ends whether a full disk has room again. It begins by removing what a
// server that was killed during such a check left.
func (s *Store) watchRoom(ctx context.Context) {
	_ = s.note(ctx, s.writeRoom(ctx, dropRoom)) // the next check removes it too
	look := time.NewTicker(lookForRoomEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			s.lookForRoom(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// lookForRoom lets writes count as possible again if the last one found the disk full and the
// database can grow now.
func (s *Store) lookForRoom(ctx context.Context) {
	if s.full.Load() && s.grow(ctx) == nil {
		s.full.Store(false)
		s.logger.InfoContext(ctx, "the disk has room again", "database", s.path)
	}
}

// grow commits enoughRoom bytes to the database, and then removes them. A file next to the database
// would prove less: a quota, or a limit on the size of one file or on the number of pages, can stop
// the database while the disk has space.
func (s *Store) grow(ctx context.Context) error {
	return errors.Join(
		s.writeRoom(ctx, dropRoom, fmt.Sprintf(`CREATE TABLE room AS SELECT zeroblob(%d) AS bytes`, enoughRoom)),
		s.writeRoom(ctx, dropRoom),
	)
}

// writeRoom runs statements in one transaction, without note, which grow's errors must not reach:
// the disk already counts as full.
func (s *Store) writeRoom(ctx context.Context, statements ...string) error {
	_, err := s.writer.run(ctx, func(w *work) error {
		for _, statement := range statements {
			if _, err := w.tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// writeFile writes enoughRoom bytes to a file next to the database, and removes the file. Its error
// says why SQLite could not write. The bytes are random, so that the file system cannot compress
// them.
func (s *Store) writeFile() error {
	s.roomMu.Lock() // a caller must not remove another caller's file
	defer s.roomMu.Unlock()
	path := s.path + ".room"
	content := make([]byte, enoughRoom)
	_, _ = rand.Read(content) // this never fails
	err := os.WriteFile(path, content, 0o600)
	return errors.Join(err, os.Remove(path))
}
