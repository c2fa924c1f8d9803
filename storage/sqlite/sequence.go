package sqlite

import (
	"plaza/id"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	lastID    = sqldb.Define(`SELECT last FROM sequence WHERE one = 1`)
	setLastID = sqldb.Define(`UPDATE sequence SET last = ? WHERE one = 1`)
)

// nextID returns the id of a new post, comment, circle, follow, block or mute: the given id, if
// there is one; otherwise an id for the current time that sorts after all earlier ones. There is
// only one writer, so the order of ids is the order of commits.
func (s *Store) nextID(tx *eventlog.Tx, given id.ID) (id.ID, error) {
	var last id.ID
	if _, err := tx.Row(lastID, []any{sqldb.Into(&last)}); err != nil {
		return given, err
	}
	next := given
	if next.IsZero() {
		next = id.WithSerial(max(last.Serial()+1, id.SerialAt(s.clock())))
	}
	if next.Compare(last) <= 0 {
		return next, nil
	}
	_, err := tx.Exec(setLastID, next.Bytes())
	return next, err
}
