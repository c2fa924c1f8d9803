package sqldb

import (
	"context"
	"database/sql"
	"fmt"

	"plaza/social"
)

// Reader is the interface of a transaction for functions that only read.
type Reader interface {
	// Each calls do for each row, until do returns false or an error.
	Each(st *Statement, do func(Scan) (bool, error), args ...any) error
	// Row reads the first row into dest, and reports whether there is one.
	Row(st *Statement, dest []any, args ...any) (found bool, err error)
	// Exists reports whether a statement has a row.
	Exists(st *Statement, args ...any) (bool, error)
}

// Scan reads a row's columns into dest.
type Scan func(dest ...any) error

// Tx is one transaction. It ends before the call that began it returns.
type Tx struct {
	ctx  context.Context //nolint:containedctx // the context of the call that began it
	tx   *sql.Tx
	pool *pool
	used map[*Statement]*sql.Stmt
}

var _ Reader = (*Tx)(nil)

// Context returns the context of the call that began the transaction.
func (tx *Tx) Context() context.Context { return tx.ctx }

func (tx *Tx) prepared(st *Statement) *sql.Stmt {
	prepared, ok := tx.used[st]
	if !ok {
		prepared = tx.tx.StmtContext(tx.ctx, tx.pool.prepared[st])
		tx.used[st] = prepared
	}
	return prepared
}

// Exec runs a statement and returns how many rows it changed.
func (tx *Tx) Exec(st *Statement, args ...any) (int64, error) {
	result, err := tx.prepared(st).ExecContext(tx.ctx, args...) //nolint:sqlclosecheck // closed with the transaction
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Each implements Reader.
func (tx *Tx) Each(st *Statement, do func(Scan) (bool, error), args ...any) error {
	rows, err := tx.prepared(st).QueryContext(tx.ctx, args...) //nolint:sqlclosecheck // closed with the transaction
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if on, err := do(rows.Scan); err != nil || !on {
			return err
		}
	}
	return rows.Err()
}

// Row implements Reader.
func (tx *Tx) Row(st *Statement, dest []any, args ...any) (found bool, err error) {
	err = tx.Each(st, func(scan Scan) (bool, error) {
		found = true
		return false, scan(dest...)
	}, args...)
	return found, err
}

// Exists implements Reader.
func (tx *Tx) Exists(st *Statement, args ...any) (bool, error) {
	var one int
	return tx.Row(st, []any{&one}, args...)
}

// All reads all rows.
func All[T any](tx Reader, st *Statement, each func(Scan) (T, error), args ...any) ([]T, error) {
	var items []T
	err := tx.Each(st, func(scan Scan) (bool, error) {
		item, err := each(scan)
		items = append(items, item)
		return true, err
	}, args...)
	return items, err
}

// One reads the first row. Error: social.ErrNotFound: there is none.
func One[T any](tx Reader, st *Statement, each func(Scan) (T, error), args ...any) (T, error) {
	var none T
	found, err := All(tx, st, each, args...)
	if err != nil {
		return none, err
	}
	if len(found) == 0 {
		return none, social.ErrNotFound
	}
	return found[0], nil
}

// ByKey reads all rows into a map.
func ByKey[K comparable, T any](tx Reader, st *Statement, each func(Scan) (K, T, error), args ...any) (map[K]T, error) {
	items := map[K]T{}
	err := tx.Each(st, func(scan Scan) (bool, error) {
		key, item, err := each(scan)
		items[key] = item
		return true, err
	}, args...)
	return items, err
}

// pool is a set of connections on which every statement is prepared. Preparing one later, within a
// transaction, could deadlock while it waits for a connection.
type pool struct {
	db       *sql.DB
	readOnly bool
	prepared map[*Statement]*sql.Stmt
}

func (p *pool) prepare(ctx context.Context) error {
	p.prepared = make(map[*Statement]*sql.Stmt, len(statements))
	for _, st := range statements {
		if p.readOnly && !st.reads() {
			continue
		}
		prepared, err := p.db.PrepareContext(ctx, st.text) //nolint:sqlclosecheck // closed with the pool
		if err != nil {
			return fmt.Errorf("%w in %s", err, st.text)
		}
		p.prepared[st] = prepared
	}
	return nil
}

func (p *pool) run(ctx context.Context, do func(*Tx) error) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	if err := do(&Tx{ctx: ctx, tx: tx, pool: p, used: map[*Statement]*sql.Stmt{}}); err != nil {
		return translate(ctx, err)
	}
	return translate(ctx, tx.Commit())
}
