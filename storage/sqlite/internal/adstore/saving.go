package adstore

import (
	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

// insert stores a row unless its key exists. A foreign key that points to nothing is
// ads.ErrNotFound.
func insert(tx *sqldb.Tx, st *sqldb.Statement, args ...any) (added bool, err error) {
	rows, err := tx.Exec(st, args...)
	if sqldb.IsDangling(err) {
		err = ads.ErrNotFound
	}
	return rows == 1, err
}

// replace changes a row if it has the given revision.
func replace(tx *sqldb.Tx, st *sqldb.Statement, args ...any) (bool, error) {
	rows, err := tx.Exec(st, args...)
	return rows == 1, sqldb.Changed(rows, err, ads.ErrConflict)
}
