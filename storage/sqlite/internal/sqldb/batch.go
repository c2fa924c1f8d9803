package sqldb

import "context"

// Batch is how many rows one transaction removes in the background. Other writers wait for it, so
// it is small.
const Batch = 200

// DeleteSome runs deletions that take an id and the maximum number of rows to remove, and reports
// whether there may be more.
func DeleteSome(tx *Tx, of ID, deletions ...*Statement) (left bool, err error) {
	for _, st := range deletions {
		rows, err := tx.Exec(st, of.Bytes(), Batch)
		if err != nil {
			return false, err
		}
		left = left || rows == Batch
	}
	return left, nil
}

// DeleteAll runs a deletion that takes a bound and the maximum number of rows to remove, until
// there are no more rows before the bound.
func (db *DB) DeleteAll(ctx context.Context, st *Statement, before any) error {
	for {
		var removed int64
		err := db.Update(ctx, func(tx *Tx) (err error) {
			removed, err = tx.Exec(st, before, Batch)
			return err
		})
		if err != nil || removed < Batch {
			return err
		}
	}
}
