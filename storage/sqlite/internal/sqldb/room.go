package sqldb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"plaza/social"
)

const (
	// lookForRoomEvery is how often a full disk is checked for room.
	lookForRoomEvery = time.Second
	// enoughRoom is how many bytes are written before a full disk counts as usable again: enough
	// for many small writes. Their removal writes as many zeros (secure_delete).
	enoughRoom = 1 << 19
	dropRoom   = `DROP TABLE IF EXISTS room`
)

// room remembers whether the disk is full.
type room struct {
	path   string
	writer *pool
	logger *slog.Logger

	full atomic.Bool // whether the last write or check found the disk full
	mu   sync.Mutex  // held by room.tryFile
}

// check returns social.ErrNoRoom while the disk counts as full.
func (r *room) check() error {
	if r.full.Load() {
		return social.ErrNoRoom
	}
	return nil
}

// note turns the error of a write into ErrNoRoom if the disk is full, and logs that once. SQLite
// usually reports an I/O error without its cause, so note checks the disk.
func (r *room) note(ctx context.Context, err error) error {
	if errors.Is(err, sqlite3.IOERR) && !errors.Is(err, social.ErrNoRoom) && (r.full.Load() || isNoRoom(r.tryFile())) {
		err = fmt.Errorf("%w: %w", social.ErrNoRoom, err)
	}
	if errors.Is(err, social.ErrNoRoom) && !r.full.Swap(true) {
		r.logger.ErrorContext(ctx, "the disk is full: nothing can be stored until there is room, reads go on", "database", r.path, "error", err)
	}
	return err
}

// watch checks until ctx ends whether a full disk has room again. It first removes what a server
// that was killed during such a check may have left.
func (r *room) watch(ctx context.Context) {
	_ = r.note(ctx, r.write(ctx, dropRoom)) // the next check removes it too
	look := time.NewTicker(lookForRoomEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			r.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// look ends the state of a full disk if the database can grow again.
func (r *room) look(ctx context.Context) {
	if r.full.Load() && r.grow(ctx) == nil {
		r.full.Store(false)
		r.logger.InfoContext(ctx, "the disk has room again", "database", r.path)
	}
}

// grow commits enoughRoom bytes to the database, and then removes them. A file next to the database
// would prove less: a quota, or a limit on the size of one file or on the number of pages, can stop
// the database while the disk has space.
func (r *room) grow(ctx context.Context) error {
	return errors.Join(
		r.write(ctx, dropRoom, fmt.Sprintf(`CREATE TABLE room AS SELECT zeroblob(%d) AS bytes`, enoughRoom)),
		r.write(ctx, dropRoom),
	)
}

// write runs statements in one transaction, without note, which grow's errors must not reach: the
// disk already counts as full.
func (r *room) write(ctx context.Context, statements ...string) error {
	return r.writer.run(ctx, func(tx *Tx) error {
		for _, statement := range statements {
			if _, err := tx.tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *room) tryFile() error {
	r.mu.Lock() // a caller must not remove another caller's file
	defer r.mu.Unlock()
	return tryFile(r.path)
}

// tryFile writes enoughRoom bytes to a file next to the database, and removes the file. Its error
// says why SQLite could not write. The bytes are random, so that the file system cannot compress
// them.
func tryFile(database string) error {
	path := database + ".room"
	content := make([]byte, enoughRoom)
	_, _ = rand.Read(content) // this never fails
	err := os.WriteFile(path, content, 0o600)
	return errors.Join(err, os.Remove(path))
}
